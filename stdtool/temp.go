package stdtool

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// A tempFile is a new file on its way to a name. Where the system allows it, it
// has no name before, so that nothing is left of it whatever happens.
type tempFile struct {
	*os.File
	dir  *os.Root
	name string // "" if it has none
}

// errNoLink reports that a file without a name cannot be given one.
var errNoLink = errors.New("the file cannot be given a name")

const tempPrefix = ".toolpost-"

func tempName() string { return tempPrefix + rand.Text() }

// namedTemp makes a file that has a name from the beginning.
func namedTemp(dir *os.Root, mode fs.FileMode) (*tempFile, error) {
	name := tempName()
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	removeStale(dir)
	return &tempFile{f, dir, name}, nil
}

// removeStale removes what processes that were killed have left long ago.
func removeStale(dir *os.Root) {
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, tempPrefix) || len(name) != len(tempName()) {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > time.Hour {
			_ = dir.Remove(name)
		}
	}
}

// create gives the file a name that no other file has.
func (t *tempFile) create(name string) error {
	if t.name == "" {
		return link(t.File, t.dir, name)
	}
	err := t.dir.Link(t.name, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, there := t.dir.Lstat(name); there == nil { // the file system has no links
		return fs.ErrExist
	}
	return t.replace(name)
}

// replace gives the file the name of another one. A process that is killed between
// link and rename leaves a file, which the next replace in this directory removes
// once it is old.
func (t *tempFile) replace(name string) error {
	if t.name == "" {
		removeStale(t.dir)
		temp := tempName()
		if err := link(t.File, t.dir, temp); err != nil {
			return err
		}
		t.name = temp
	}
	if err := t.Close(); err != nil {
		return err
	}
	err := t.dir.Rename(t.name, name)
	if err == nil {
		t.name = ""
	}
	return err
}

// drop ends the use of the file. What has got its own name stays.
func (t *tempFile) drop() {
	_ = t.Close() // it is closed, or is not needed
	if t.name != "" {
		_ = t.dir.Remove(t.name)
	}
}
