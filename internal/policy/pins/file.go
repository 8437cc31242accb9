package pins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/filelock"
	"github.com/toolpost/toolpost/internal/ownership"
)

// The writing tools of package stdtool refuse names with these endings, so that
// no model can approve a definition.
const (
	ownEnding    = ".toolpost-pins"
	sharedEnding = "toolpost.lock"
)

// longestFile is the size of a lock file that is read.
const longestFile = 64 << 20

// lockTime is how long another process may hold the lock of a file.
const lockTime = 5 * time.Second

// A File is where a [Lock] is kept.
type File struct {
	path   string
	lock   string // the file that processes lock while they change it; "" if there is none
	shared bool
}

// Own returns the lock file of a configuration in the folder of the user's
// state. Key identifies the configuration.
func Own(key string) (*File, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	return At(filepath.Join(dir, hash([]byte(key))+ownEnding), false), nil
}

// Beside returns the lock file beside a configuration file: toolpost.lock for
// toolpost.json, tools.toolpost.lock for tools.json.
func Beside(config string) *File {
	base := strings.TrimSuffix(filepath.Base(config), filepath.Ext(config))
	name := sharedEnding
	if base != "toolpost" {
		name = base + "." + sharedEnding
	}
	return At(filepath.Join(filepath.Dir(config), name), true)
}

// At returns the lock file at a path. A shared one may belong to another user,
// such as a file of a repository.
func At(path string, shared bool) *File {
	f := &File{path: path, lock: path + "-lock", shared: shared}
	if !shared {
		return f
	}
	f.lock = "" // nothing is left in the repository
	if dir, err := folder(); err == nil {
		f.lock = filepath.Join(dir, hash([]byte(path))+ownEnding+"-lock")
	}
	return f
}

func folder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of pinned tools: %w", err)
	}
	return filepath.Join(dir, "toolpost", "pins"), nil
}

// Path returns where the file is.
func (f *File) Path() string { return f.path }

// Prepare creates the folder of the file, so that it can be watched.
func (f *File) Prepare() error {
	if f.shared {
		return nil // beside a configuration file
	}
	dir := filepath.Dir(f.path)
	return errors.Join(os.MkdirAll(dir, 0o700), ownership.CheckFolder(dir))
}

// Read reads the file; one that does not exist has no pins. A file that another
// user can have written is an error, and so is one that is broken: its pins must
// not get lost unnoticed.
func (f *File) Read() (*Lock, error) {
	l, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Lock{Version: version, Servers: map[string]Tools{}}, nil
	case err != nil:
		return nil, fmt.Errorf("read the pinned tools: %w", err)
	}
	return l, nil
}

const remedy = "restore it, or remove it to pin the tools as they are now"

func (f *File) read() (*Lock, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file; remove it", f.path)
	}
	if !f.shared {
		if err := errors.Join(ownership.CheckFolder(filepath.Dir(f.path)), ownership.Check(f.path)); err != nil {
			return nil, err
		}
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, longestFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.path, err)
	case len(data) > longestFile:
		return nil, fmt.Errorf("%s has more than %d bytes; remove it", f.path, longestFile)
	}
	l, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s is broken: %w; %s", f.path, err, remedy)
	}
	return l, nil
}

func decode(data []byte) (*Lock, error) {
	l := &Lock{}
	if err := json.Unmarshal(data, l); err != nil {
		return nil, err
	}
	if l.Version != version {
		return nil, fmt.Errorf("it has the version %d, and this toolpost reads version %d", l.Version, version)
	}
	if l.Servers == nil {
		l.Servers = map[string]Tools{}
	}
	for server, tools := range l.Servers {
		for tool, p := range tools {
			if p == nil || p.Approved == nil && p.Pending == nil {
				return nil, fmt.Errorf("the tool %q of %q has no definition", tool, server)
			}
			for _, d := range []*Definition{p.Approved, p.Pending} {
				if err := d.check(); err != nil {
					return nil, fmt.Errorf("the tool %q of %q: %w", tool, server, err)
				}
			}
		}
	}
	return l, nil
}

// check restores the canonical form of a definition that was read, and compares
// it with its hash.
func (d *Definition) check() error {
	if d == nil || d.JSON == nil {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, d.JSON); err != nil {
		return err
	}
	d.JSON = b.Bytes()
	if hash(d.JSON) != d.Hash {
		return errors.New("its sha256 is not that of its definition")
	}
	return nil
}

// Update changes the file while no other process does. Change returns whether
// there is something to write. The result is the content after the change.
func (f *File) Update(ctx context.Context, change func(*Lock) bool) (*Lock, error) {
	release, err := f.hold(ctx)
	if err != nil {
		return nil, fmt.Errorf("change the pinned tools: %w", err)
	}
	defer release()
	l, err := f.Read()
	if err != nil {
		return nil, err
	}
	if !change(l) {
		return l, nil
	}
	if err := f.write(l); err != nil {
		return nil, fmt.Errorf("store the pinned tools: %w", err)
	}
	return l, nil
}

// hold keeps other processes from changing the file until release.
func (f *File) hold(ctx context.Context) (release func(), err error) {
	if f.lock == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(filepath.Dir(f.lock), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockTime, fmt.Errorf("another process holds %s", f.lock))
	defer cancel()
	if err := filelock.Wait(ctx, file); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		filelock.Release(file)
		_ = file.Close()
	}, nil
}

func (f *File) write(l *Lock) error {
	if err := f.Prepare(); err != nil {
		return err
	}
	data, err := l.encode(longestFile)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return atomicfile.Write(f.path, data, &atomicfile.Options{KeepMode: f.shared, Locked: f.lock != ""})
}

// encode returns the content of a file of at most so many bytes. If the texts of all
// definitions are too long for it, the servers with the longest ones keep only the
// hashes, so that one server cannot keep the pins of the others from being stored.
func (l *Lock) encode(most int) ([]byte, error) {
	for {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // the definitions keep their bytes
		e.SetIndent("", "  ")
		if err := e.Encode(l); err != nil {
			return nil, err
		}
		if b.Len() <= most {
			return b.Bytes(), nil
		}
		longest, size := "", 0
		for server, tools := range l.Servers {
			if n := tools.size(); n > size {
				longest, size = server, n
			}
		}
		if size == 0 {
			return nil, fmt.Errorf("it would have more than %d bytes", most)
		}
		l.Servers[longest] = l.Servers[longest].withoutTexts()
	}
}

// size returns how many bytes the texts of the definitions have.
func (t Tools) size() (n int) {
	for _, p := range t {
		n += p.Approved.size() + p.Pending.size()
	}
	return n
}

// withoutTexts returns the pins with the hashes of the definitions only.
func (t Tools) withoutTexts() Tools {
	short := make(Tools, len(t))
	for name, p := range t {
		short[name] = &Pin{Approved: p.Approved.withoutText(), Pending: p.Pending.withoutText()}
	}
	return short
}

func (d *Definition) withoutText() *Definition {
	if d == nil {
		return nil
	}
	return &Definition{Hash: d.Hash, Seen: d.Seen}
}

// Merge adds the pins of other that l does not have. It is for pins that could
// not be stored when they were made.
func (l *Lock) Merge(other *Lock) {
	for server, tools := range other.Servers {
		if l.Servers[server] == nil {
			l.Servers[server] = Tools{}
		}
		for name, p := range tools {
			if l.Servers[server][name] == nil {
				l.Servers[server][name] = p
			}
		}
	}
}

// Put replaces the pins of one server; l itself may be in use elsewhere.
func (l *Lock) Put(server string, tools Tools) *Lock {
	c := *l
	c.Servers = maps.Clone(l.Servers)
	c.Servers[server] = tools
	return &c
}
