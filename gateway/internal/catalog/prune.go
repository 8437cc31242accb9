package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// A storedFile is an entry on disk.
type storedFile struct {
	path    string
	size    int64
	written time.Time
}

// prune removes the entries that were written longest ago while there are too
// many, and those that are too old.
func (f *Folder) prune(now time.Time) error {
	all, err := f.entries()
	if err != nil {
		return err
	}
	sort.Slice(all, func(i, j int) bool { return all[i].written.After(all[j].written) })
	size := int64(0)
	var errs []error
	for i, s := range all {
		if size += s.size; size > maxStored || i >= maxFiles || now.Sub(s.written) > oldest {
			errs = append(errs, remove(s.path))
		}
	}
	return errors.Join(errs...)
}

// entries returns the files of the folder.
func (f *Folder) entries() ([]storedFile, error) {
	files, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, fmt.Errorf("list catalog: %w", err)
	}
	var all []storedFile
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			continue // another process has removed it
		}
		if isEntry(file.Name()) {
			all = append(all, storedFile{filepath.Join(f.dir, file.Name()), info.Size(), info.ModTime()})
		}
	}
	return all, nil
}

// Clear removes all entries. It returns how many there were, and their bytes.
func (f *Folder) Clear() (entries int, bytes int64, err error) {
	all, err := f.entries()
	if err != nil {
		return 0, 0, err
	}
	for _, s := range all {
		if err := remove(s.path); err != nil {
			return entries, bytes, err
		}
		entries++
		bytes += s.size
	}
	return entries, bytes, nil
}

// remove removes a file that another process may have removed.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove from catalog: %w", err)
	}
	return nil
}
