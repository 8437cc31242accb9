// Package trust remembers which configuration files a user has approved.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/ownership"
)

// A Store keeps approvals in a folder, one file each, so that two processes
// never overwrite each other's.
type Store struct{ dir string }

// An Approval records that the user approved one content of one file.
type Approval struct {
	File    string            `json:"file"`   // as [Locate] returns it
	Digest  string            `json:"digest"` // of the content
	Servers map[string]string `json:"servers,omitempty"`
	Time    time.Time         `json:"time"`
}

// Open returns the store of the current user.
func Open() (*Store, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("open the list of approved files: %w", err)
	}
	return NewStore(filepath.Join(dir, "toolpost", "trusted")), nil
}

// NewStore returns a store in a folder, which is created when it is needed.
func NewStore(dir string) *Store { return &Store{dir} }

// Locate returns the absolute path under which a file is remembered. Links to
// its folder are followed. A link to the file itself is not: relative paths of
// the file begin at the folder of the link.
func Locate(file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("locate %s: %w", file, err)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", fmt.Errorf("locate %s: %w", file, err)
	}
	return filepath.Join(dir, filepath.Base(file)), nil
}

// The writing tools of package stdtool refuse names with this ending, so that no
// model can approve a file.
const ending = ".toolpost-trust"

// Path returns where the approval of a file is kept. It changes with it.
func (s *Store) Path(file string) string {
	sum := sha256.Sum256([]byte(file))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+ending)
}

// Lookup returns the approval of a file, nil if there is none. An approval that
// someone else can have written does not count.
func (s *Store) Lookup(file string) (*Approval, error) {
	if err := ownership.CheckFolder(s.dir); err != nil {
		return nil, fmt.Errorf("read the approval of %s: %w", file, err)
	}
	a, err := read(s.Path(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the approval of %s: %w", file, err)
	case a.File != file:
		return nil, nil
	}
	return a, nil
}

// Approved reports whether this content of the file is approved.
func (s *Store) Approved(file, digest string) bool {
	a, err := s.Lookup(file)
	return err == nil && a != nil && digest != "" && a.Digest == digest
}

const maxApproval = 16 << 20

func read(path string) (*Approval, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not wait for its writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file; remove it", path)
	}
	if err == nil {
		err = ownership.CheckInfo(path, info)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxApproval))
	if err != nil {
		return nil, err
	}
	a := &Approval{}
	if err := json.Unmarshal(data, a); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it", path, err)
	}
	return a, nil
}

// Approve remembers an approval in place of an earlier one of the same file.
func (s *Store) Approve(a *Approval) error {
	if err := s.write(a); err != nil {
		return fmt.Errorf("remember the approval of %s: %w", a.File, err)
	}
	return nil
}

func (s *Store) write(a *Approval) error {
	if err := errors.Join(s.Prepare(), ownership.CheckFolder(s.dir)); err != nil {
		return err
	}
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.Path(a.File), append(data, '\n'), nil)
}

// Prepare creates the folder of the store, so that it can be watched.
func (s *Store) Prepare() error { return os.MkdirAll(s.dir, 0o700) }

// Revoke forgets the approval of a file. Found reports whether there was one.
func (s *Store) Revoke(file string) (found bool, err error) {
	err = atomicfile.Retry(func() error { return os.Remove(s.Path(file)) })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("revoke the approval of %s: %w", file, err)
	}
	return true, nil
}

// List returns all approvals, by path. Unreadable ones are left out.
func (s *Store) List() ([]*Approval, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the approved files: %w", err)
	}
	var all []*Approval
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		if a, err := read(path); err == nil && s.Path(a.File) == path {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *Approval) int { return strings.Compare(a.File, b.File) })
	return all, nil
}
