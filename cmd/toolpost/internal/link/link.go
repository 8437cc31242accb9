// Package link writes the gateway into the configuration files of the MCP clients that
// package config knows, and takes it out again. For each file it keeps a record and a copy
// of the file as it was, so that an undo restores a file that has not changed since byte
// for byte, and otherwise removes only the gateway's entry.
package link

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/internal/ownership"
)

// maxFile is the longest file that is changed, in bytes; Claude Code keeps much
// more than servers in its own.
const maxFile = 64 << 20

// A Change is an edit of one file of a client, which [Store.Apply] makes.
type Change struct {
	File   clients.File
	Before []byte // nil if the file does not exist
	After  []byte // nil if the file is to be removed

	record  *record // after the change; nil if the file is not linked any more
	backup  []byte  // the content that an undo restores; nil for no file
	folders []string
}

// Empty reports whether the change changes nothing in the file.
func (c *Change) Empty() bool { return configfile.Equal(c.Before, c.After) }

// Link returns the change that adds the gateway to a client's file under a name,
// or updates its entry. Servers that were taken out stay out.
func (s *Store) Link(f clients.File, name string, e *clients.Endpoint) (*Change, error) {
	path := f.ServerPath(name)
	if path == nil {
		return nil, fmt.Errorf("toolpost cannot write servers into %s", filepath.Base(f.Path))
	}
	c, err := s.begin(f, name)
	if err != nil {
		return nil, err
	}
	d, err := configfile.Open(f.Path, c.backup)
	if err != nil {
		return nil, err
	}
	if err := configedit.Set(d, f.Entry(e), path...); err != nil {
		return nil, err
	}
	c.After = d.Bytes()
	missing := c.record.Moved
	c.record.Moved = nil
	return c, c.TakeOut(missing...)
}

// Keep returns a change that leaves the gateway's entry as it is, for [Change.TakeOut],
// nil if the file is not linked. Accept reports whether the entry may stay.
func (s *Store) Keep(f clients.File, accept func(entry json.RawMessage) bool) (*Change, error) {
	name, _ := s.Linked(f)
	if name == "" {
		return nil, nil
	}
	c, err := s.begin(f, name)
	if err != nil {
		return nil, err
	}
	d, err := configfile.Open(f.Path, c.Before)
	if err != nil {
		return nil, err
	}
	if entry, err := d.Get(f.ServerPath(name)...); err != nil || !accept(entry) {
		return nil, err
	}
	c.After = c.Before
	return c, c.TakeOut()
}

// begin returns a change of a client's file without its new content. Its record has the
// entries that an earlier link took out and that are not there again.
func (s *Store) begin(f clients.File, name string) (*Change, error) {
	before, err := readFile(f.Path)
	if err != nil {
		return nil, err
	}
	known, err := s.lookup(f.Path)
	if err != nil {
		return nil, err
	}
	r := &record{Client: f.Client, File: f.Path, Name: name}
	base := before
	if known != nil { // the entry of the earlier link goes
		r.Folders, r.Previous = known.Folders, known.names()
		if base, err = s.undo(f, known, before); err != nil {
			return nil, err
		}
		if r.Moved, err = missingEntries(f, before, known.Moved); err != nil {
			return nil, err
		}
	}
	r.Missing = base == nil
	return &Change{File: f, Before: before, record: r, backup: base}, nil
}

// TakeOut removes the entries with these paths from the content that the change writes. An
// undo brings them back.
func (c *Change) TakeOut(paths ...[]string) error {
	d, err := configfile.Open(c.File.Path, c.After)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := d.Remove(path...); err != nil {
			return fmt.Errorf("take out %q: %w", path[len(path)-1], err)
		}
	}
	c.After = d.Bytes()
	c.record.Moved, c.record.After = append(c.record.Moved, paths...), digest(c.After)
	return nil
}

// missingEntries returns the paths at which the content of a file has no entry. What the
// user has added again is the user's.
func missingEntries(f clients.File, data []byte, paths [][]string) (missing [][]string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	d, err := configfile.Open(f.Path, data)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if entry, _ := d.Get(path...); entry == nil {
			missing = append(missing, path)
		}
	}
	return missing, nil
}

// Undo returns the change that takes the gateway out of a client's file, nil if
// it was not linked.
func (s *Store) Undo(f clients.File) (*Change, error) {
	known, err := s.lookup(f.Path)
	if known == nil || err != nil {
		return nil, err
	}
	before, err := readFile(f.Path)
	if err != nil {
		return nil, err
	}
	after, err := s.undo(f, known, before)
	if err != nil {
		return nil, err
	}
	return &Change{File: f, Before: before, After: after, folders: known.Folders}, nil
}

// undo returns the content of a file without the link.
func (s *Store) undo(f clients.File, known *record, now []byte) ([]byte, error) {
	backup, err := s.backup(known)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, nil // the user removed the file
	}
	if digest(now) == known.After {
		return backup, nil
	}
	return removeEntries(f, known, backup, now)
}

// removeEntries returns the content of a file that has changed since it was linked,
// without the gateway's entries: with the entry that the backup has in the place of
// each, if there is one. Entries that were taken out come back.
func removeEntries(f clients.File, known *record, backup, now []byte) ([]byte, error) {
	old, err := configfile.Open(f.Path, backup)
	if err != nil {
		return nil, err
	}
	d, err := configfile.Open(f.Path, now)
	if err != nil {
		return nil, err
	}
	missing, err := missingEntries(f, now, known.Moved)
	if err != nil {
		return nil, err
	}
	for _, name := range known.names() {
		path := f.ServerPath(name)
		if path == nil {
			return nil, errors.New("the name of the file stands for another client now")
		}
		if err := removeEntry(d, old, path); err != nil {
			return nil, err
		}
	}
	for _, path := range missing {
		if had, _ := old.Get(path...); had == nil {
			continue
		}
		if err := d.Restore(old, path...); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

// removeEntry makes an entry what it was in the old content, and removes the lists that
// only the link needed.
func removeEntry(d, old configedit.Document, path []string) (err error) {
	if previous, _ := old.Get(path...); previous != nil {
		err = d.Restore(old, path...)
	} else {
		err = d.Remove(path...)
	}
	for n := len(path) - 1; n > 0 && err == nil; n-- {
		if had, _ := old.Get(path[:n]...); had == nil && configedit.IsBlank(d, path[:n]...) {
			err = d.Remove(path[:n]...)
		}
	}
	return err
}

// readFile returns the content of a client's file, nil if there is none. It
// refuses files that should not be replaced.
func readFile(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, _ := os.Readlink(path)
		return nil, fmt.Errorf("it is a link to %s, which may belong to a program that manages your files", target)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case !ownership.Owned(info):
		return nil, errors.New("it belongs to another user")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	data, err := os.ReadFile(path)
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// Apply writes the file of a change, and remembers how to undo it. It refuses a
// file that has changed since the change was computed.
func (s *Store) Apply(ctx context.Context, c *Change) error {
	return configfile.WithLock(ctx, c.File.Path, func() error { return s.apply(c) })
}

func (s *Store) apply(c *Change) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("write %s: %w", c.File.Path, err)
	}
	if c.record != nil { // first, so that the copy is there whatever happens to the file
		c.record.Folders = append(missingFolders(c.File.Path), c.record.Folders...)
		if err := s.save(c.record, c.backup); err != nil {
			return err
		}
	}
	if err := c.write(); err != nil {
		return fmt.Errorf("write %s: %w", c.File.Path, err)
	}
	if c.record != nil {
		c.record.Previous = nil // their entries are gone now
		return s.describe(c.record)
	}
	if c.After == nil {
		for _, folder := range c.folders {
			_ = os.Remove(folder) // one that is not empty stays
		}
	}
	return s.forget(c.File.Path)
}

// check refuses a file that has changed since the change was computed.
func (c *Change) check() error {
	now, err := readFile(c.File.Path)
	if err == nil && !configfile.Equal(now, c.Before) {
		err = errors.New("it changed while you were answering; run the command again")
	}
	return err
}

// write writes the file, if it has not changed until then.
func (c *Change) write() error {
	if c.Empty() {
		return nil
	}
	if c.After == nil {
		if err := c.check(); err != nil {
			return err
		}
		return os.Remove(c.File.Path)
	}
	if err := os.MkdirAll(filepath.Dir(c.File.Path), 0o700); err != nil {
		return err
	}
	return configfile.SaveIf(c.File.Path, c.After, c.check)
}

// missingFolders lists the folders of a path that do not exist, the innermost first.
func missingFolders(path string) (missing []string) {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	return missing
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Linked returns the name under which a client's file has the gateway, empty if
// it is not linked. Changed reports whether the file has changed since.
func (s *Store) Linked(f clients.File) (name string, changed bool) {
	known, err := s.lookup(f.Path)
	if known == nil || err != nil {
		return "", false
	}
	data, err := readFile(f.Path)
	if err != nil || data == nil {
		return "", true
	}
	d, err := configfile.Open(f.Path, data)
	if err != nil {
		return "", true
	}
	entry, err := d.Get(f.ServerPath(known.Name)...)
	if entry == nil || err != nil {
		return "", true
	}
	return known.Name, digest(data) != known.After
}

// Knows reports whether a client's file was linked and not undone.
func (s *Store) Knows(f clients.File) bool {
	_, err := os.Lstat(s.path(f.Path))
	return err == nil
}
