package sessions

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolpost/toolpost/claude/internal/ids"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Disk is the Store that the CLI itself writes: files below the folder projects of
// its configuration folder. It never leaves that folder, also not by symbolic links. It is
// safe for concurrent use.
type Disk struct {
	ConfigDir string // CLAUDE_CONFIG_DIR, or .claude in the home folder, if empty
}

const (
	maxLine   = 64 << 20 // longer lines are skipped
	sampled   = 64 << 10 // bytes that are read at either end of a transcript to describe it
	maxRecord = 64 << 10 // bytes of a file beside a transcript
)

// projects opens the folder of all projects.
func (d *Disk) projects() (*os.Root, error) {
	dir, err := d.dir()
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

func (d *Disk) dir() (string, error) {
	config := cmp.Or(d.ConfigDir, os.Getenv("CLAUDE_CONFIG_DIR"))
	if config == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the CLI's configuration folder; set CLAUDE_CONFIG_DIR: %w", err)
		}
		config = filepath.Join(home, ".claude")
	}
	return filepath.Join(config, "projects"), nil
}

// folder is where the files of a session are, besides its transcript.
func (k Key) folder() string { return k.Project + "/" + k.SessionID }

// base is the transcript's file without its extension.
func (k Key) base() string { return strings.TrimSuffix(k.folder()+"/"+k.Agent, "/") }

func (k Key) file() string { return k.base() + ".jsonl" }

// record is the file with the description of a sub-agent.
func (k Key) record() string { return k.base() + ".meta.json" }

// transcript matches a transcript's place, the key being its groups.
var transcript = lazyregexp.New(`(?:^|/projects/)([A-Za-z0-9-]+)/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:/(subagents(?:/[\w@-][\w@.-]*)+))?\.jsonl$`)

// Key returns the key of a transcript of the CLI by the path of its file, wherever it is.
func (*Disk) Key(file string) (Key, error) { return parseKey(file) }

func parseKey(file string) (Key, error) {
	m := transcript.FindStringSubmatch(strings.ReplaceAll(file, `\`, "/"))
	if m == nil {
		return Key{}, fmt.Errorf("%q is not the file of a transcript", file)
	}
	return Key{m[1], m[2], m[3]}, nil
}

// check rejects a key that is not that of a transcript of the CLI: ids come from
// users, and keys from databases.
func (k Key) check() error {
	if found, err := parseKey(k.file()); err != nil || found != k {
		return fmt.Errorf("%+v is not the key of a transcript; it needs a project from sessions.Project and a UUID", k)
	}
	return nil
}

// checkList rejects a key that names neither a project nor a session of one, nor all.
func (k Key) checkList() error {
	probe := Key{Project: cmp.Or(k.Project, "-"), SessionID: cmp.Or(k.SessionID, "00000000-0000-0000-0000-000000000000")}
	if probe.check() != nil || k.Project == "" && k.SessionID != "" {
		return fmt.Errorf("%+v is not the key of a project or a session", k)
	}
	return nil
}

// open opens a regular file; anything else could block, or never end.
func open(root *os.Root, name string, flag int) (*os.File, int64, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", name)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Append adds lines to a transcript.
func (d *Disk) Append(_ context.Context, key Key, lines []json.RawMessage) error {
	var text, record []byte
	var bad error
	for _, line := range lines {
		if !wire.IsObject(line) || len(line) > maxLine { // it could not be loaded again
			bad = fmt.Errorf("a line is not a JSON object of at most %d bytes; the others were added", maxLine)
			continue
		}
		if key.Agent != "" && wire.Unquote(wire.Get(line, "type")) == agentRecord {
			record = wire.Delete(line, "type")
			continue
		}
		text = append(text, wire.Line(bytes.Clone(line))...)
	}
	dir, err := d.dir()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	err = d.withFolder(key, func(root *os.Root) error {
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(key.file())), 0o700); err != nil {
			return err
		}
		if record != nil {
			if err := replace(root, key.record(), record); err != nil {
				return err
			}
		}
		return appendText(root, key.file(), text)
	})
	return cmp.Or(err, bad)
}

// withFolder opens the folder of all projects for f, which needs the files of a
// transcript.
func (d *Disk) withFolder(key Key, f func(root *os.Root) error) error {
	if err := key.check(); err != nil {
		return err
	}
	root, err := d.projects()
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}

// agentRecord is the type of the line by which a Store keeps the description of a
// sub-agent, which on disk is a file of its own.
const agentRecord = "agent_metadata"

func appendText(root *os.Root, name string, text []byte) error {
	if text == nil {
		return nil
	}
	f, size, err := open(root, name, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if size > 0 {
		_, err = f.ReadAt(last, size-1)
	}
	if last[0] != '\n' { // a process died while it wrote
		text = append([]byte{'\n'}, text...)
	}
	if err == nil {
		_, err = f.Write(text)
	}
	return cmp.Or(err, f.Close())
}

// replace writes a file in place of the one that has the name, which may be a link
// to somewhere else.
func replace(root *os.Root, name string, text []byte) error {
	name = filepath.FromSlash(name)
	draft := name + "." + ids.NewUUID()
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = atomicfile.Retry(func() error { return root.Rename(draft, name) })
	}
	if err != nil {
		_ = root.Remove(draft)
	}
	return err
}

// Load yields the lines of a transcript that are JSON objects.
func (d *Disk) Load(ctx context.Context, key Key) iter.Seq2[json.RawMessage, error] {
	return d.read(key, func(root *os.Root, f *os.File, _ int64, yield func(json.RawMessage, error) bool) {
		record := readRecord(root, key.record(), agentRecord)
		if key.Agent == "" || record == nil || yield(record, nil) {
			lines(ctx, f, yield)
		}
	})
}

// sample yields the first and last lines of a transcript, and then the record that
// the session is archived.
func (d *Disk) sample(ctx context.Context, key Key) iter.Seq2[json.RawMessage, error] {
	return d.read(key, func(root *os.Root, f *os.File, size int64, yield func(json.RawMessage, error) bool) {
		var read int64
		goesOn := true
		lines(ctx, f, func(line json.RawMessage, err error) bool { // a first prompt may be long
			read += int64(len(line)) + 1
			goesOn = yield(line, err)
			return goesOn && read < sampled
		})
		if !goesOn {
			return
		}
		if end := max(read, size-sampled); end < size { // the half of a line where it is cut is not JSON
			if !lines(ctx, io.NewSectionReader(f, end, size-end), yield) {
				return
			}
		}
		if record := readRecord(root, key.folder()+archiveRecord, typeArchived); record != nil {
			yield(record, nil)
		}
	})
}

// read opens a transcript for as long as its lines are read.
func (d *Disk) read(key Key, f func(*os.Root, *os.File, int64, func(json.RawMessage, error) bool)) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		err := d.withFolder(key, func(root *os.Root) error {
			file, size, err := open(root, key.file(), os.O_RDONLY)
			if err != nil {
				return err
			}
			defer file.Close()
			f(root, file, size, yield)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(nil, err)
		}
	}
}

// lines yields the lines that are JSON objects. It reports whether the reader goes on.
func lines(ctx context.Context, from io.Reader, yield func(json.RawMessage, error) bool) bool {
	r := bufio.NewReaderSize(from, sampled)
	for {
		line, err := wire.ReadLine(r, maxLine)
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		switch {
		case err == io.EOF:
			return true
		case err == bufio.ErrTooLong:
			continue
		case err != nil:
			yield(nil, err)
			return false
		}
		if line = bytes.TrimSpace(line); wire.IsObject(line) && wire.Valid(line) && !yield(line, nil) {
			return false
		}
	}
}

// readRecord returns a small file as a line with a type, nil if it cannot.
func readRecord(root *os.Root, name, kind string) json.RawMessage {
	f, size, err := open(root, name, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil || size > maxRecord || !wire.IsObject(text) || !wire.Valid(text) {
		return nil
	}
	return wire.Set(text, "type", wire.Quote(kind))
}

// List returns sessions, or the sub-agents of one.
func (d *Disk) List(_ context.Context, key Key) (all []Transcript, err error) {
	if err := key.checkList(); err != nil {
		return nil, err
	}
	root, err := d.projects()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	patterns := []string{cmp.Or(key.Project, "*") + "/*.jsonl"}
	if key.SessionID != "" {
		below := key.folder() + "/" + agents + "/"
		patterns = []string{below + agentPrefix + "*.jsonl", below + "*/*/" + agentPrefix + "*.jsonl"} // the second are those of workflows
	}
	for _, pattern := range patterns {
		names, err := fs.Glob(root.FS(), pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, transcripts(root, names)...)
	}
	return all, nil
}

// transcripts are those among files.
func transcripts(root *os.Root, names []string) (all []Transcript) {
	for _, name := range names {
		key, bad := parseKey(name)
		info, err := root.Lstat(filepath.FromSlash(name))
		if bad == nil && err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			all = append(all, Transcript{key, info.ModTime(), info.Size()})
		}
	}
	return all
}

// Delete removes a transcript.
func (d *Disk) Delete(_ context.Context, key Key) error {
	return d.withFolder(key, func(root *os.Root) error {
		err := root.Remove(filepath.FromSlash(key.file()))
		if key.Agent == "" {
			return errors.Join(err, root.RemoveAll(filepath.FromSlash(key.folder())))
		}
		_ = root.Remove(filepath.FromSlash(key.record())) // there may be none
		return err
	})
}

// archiveRecord is the file of a session in which the CLI looks whether it is archived.
const archiveRecord = "/archived.json"

func (d *Disk) archive(key Key, record []byte) error {
	return d.withFolder(key, func(root *os.Root) error {
		if err := root.MkdirAll(filepath.FromSlash(key.folder()), 0o700); err != nil {
			return err
		}
		return replace(root, key.folder()+archiveRecord, record)
	})
}
