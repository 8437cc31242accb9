package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/internal/ownership"
)

// A Store keeps the records of linked files in a folder, which only the user may
// read, because the copies of the files may contain secrets.
type Store struct{ dir string }

// A record describes one linked file.
type record struct {
	Client  string   `json:"client"`
	File    string   `json:"file"`
	Name    string   `json:"name"`              // of the entry
	Missing bool     `json:"missing,omitempty"` // there was no file before
	After   string   `json:"after"`             // digest of the content that was written
	Folders []string `json:"folders,omitempty"` // that were made for the file, the innermost first

	// Moved are the paths of the entries that were taken out of the file.
	Moved [][]string `json:"moved,omitempty"`

	// Previous are names of entries that the file has if the process was killed
	// before it wrote the file.
	Previous []string `json:"previous,omitempty"`
}

// names returns all names that an entry of the gateway may have.
func (r *record) names() []string {
	names := []string{r.Name}
	for _, name := range r.Previous {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Open returns the store of the current user.
func Open() (*Store, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("open the list of linked clients: %w", err)
	}
	return &Store{filepath.Join(dir, "toolpost", "linked")}, nil
}

func (s *Store) path(file string) string { return filepath.Join(s.dir, digest([]byte(file))+".json") }

// Backup returns where the copy of a client's file is kept.
func (s *Store) Backup(file string) string {
	return filepath.Join(s.dir, digest([]byte(file))+".backup")
}

// originalPath returns the path where the copy of a client's file before its first link is kept,
// after the file was linked again.
func (s *Store) originalPath(file string) string {
	return filepath.Join(s.dir, digest([]byte(file))+".original")
}

// lookup returns the record of a file, nil if it is not linked.
func (s *Store) lookup(file string) (*record, error) {
	path := s.path(file)
	data, err := ownFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := &record{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil || r.File != file {
		return nil, fmt.Errorf("%s cannot be read; remove it, and the entry from %s by hand", path, file)
	}
	return r, nil
}

// Records returns the files that are linked, also those of projects. A record that cannot be
// used is an error beside them.
func (s *Store) Records(home string) (files []clients.File, err error) {
	paths, _ := filepath.Glob(filepath.Join(s.dir, "*.json")) // the pattern is correct
	for _, path := range paths {
		r := &record{}
		data, failed := ownFile(path)
		if failed == nil {
			failed = json.Unmarshal(data, r)
		}
		f, found := clientFile(r.File, home)
		if failed == nil && !found {
			failed = fmt.Errorf("%s: there is no client with this file", r.File)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("read %s: %w", path, failed))
			continue
		}
		files = append(files, f)
	}
	return files, err
}

// clientFile returns what a file is to its client, in the user's home or in a project.
func clientFile(path, home string) (clients.File, bool) {
	for folder := filepath.Dir(path); filepath.IsAbs(path); folder = filepath.Dir(folder) {
		for _, f := range clients.Files(home, folder, runtime.GOOS, os.LookupEnv) {
			if f.Path == path {
				return f, true
			}
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	return clients.File{}, false
}

// backup returns the content that a file had before it was linked, nil if there
// was no file.
func (s *Store) backup(r *record) ([]byte, error) {
	if r.Missing {
		return nil, nil
	}
	data, err := ownFile(s.Backup(r.File))
	if err != nil {
		return nil, fmt.Errorf("read the copy of %s: %w; remove the entry %q by hand", r.File, err, r.Name)
	}
	return data, nil
}

// ownFile reads a file that no one else can have written.
func ownFile(path string) ([]byte, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, err
	}
	if err := ownership.Check(path); err != nil {
		return nil, err
	}
	return readFile(path)
}

func (s *Store) save(r *record, backup []byte) error {
	err := os.MkdirAll(s.dir, 0o700)
	if first, missing := ownFile(s.Backup(r.File)); err == nil && missing == nil && !exists(s.originalPath(r.File)) {
		err = configfile.Save(s.originalPath(r.File), first) // the first copy stays
	}
	if err == nil && !r.Missing {
		err = configfile.Save(s.Backup(r.File), backup)
	}
	if err != nil {
		return fmt.Errorf("keep a copy of %s: %w", r.File, err)
	}
	return s.describe(r)
}

// describe writes the record of a file.
func (s *Store) describe(r *record) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = configfile.Save(s.path(r.File), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("remember how to undo the change of %s: %w", r.File, err)
	}
	return nil
}

// forget removes the record of a file.
func (s *Store) forget(file string) error {
	_ = os.Remove(s.Backup(file)) // there is none if there was no file
	_ = os.Remove(s.originalPath(file))
	if err := os.Remove(s.path(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
