package stdtool

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/atomicfile"
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

// newNamedTemp makes a file that has a name from the beginning.
func newNamedTemp(dir *os.Root, mode fs.FileMode) (*tempFile, error) {
	name := atomicfile.TempName()
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &tempFile{f, dir, name}, nil
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
// link and rename leaves a file, which a later edit in this directory removes once it is old.
func (t *tempFile) replace(name string) error {
	if t.name == "" {
		temp := atomicfile.TempName()
		if err := link(t.File, t.dir, temp); err != nil {
			return err
		}
		t.name = temp
	}
	if err := t.Close(); err != nil {
		return err
	}
	err := atomicfile.Retry(func() error { return t.dir.Rename(t.name, name) })
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

// sweeps removes the temporary files that killed processes have left in directories. To
// find them, all names of a directory are read: in a large one that takes longer than
// the edit, so it is done once in a while.
type sweeps struct {
	mu sync.Mutex
	at map[string]time.Time // when a directory was swept
}

const (
	sweepAgain = time.Hour
	maxSwept   = 1000 // directories that are remembered
)

func (s *sweeps) removeStale(dir *os.Root, name string) {
	if s.isDue(name, time.Now()) {
		atomicfile.RemoveStale(dir)
	}
}

// isDue reports whether a directory has to be swept, and remembers that it is.
func (s *sweeps) isDue(name string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.at[name]; ok && now.Sub(last) < sweepAgain {
		return false
	}
	if s.at == nil || len(s.at) >= maxSwept {
		s.at = map[string]time.Time{}
	}
	s.at[name] = now
	return true
}
