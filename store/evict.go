package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// A blobFile is what is known of a blob's file without opening it.
type blobFile struct {
	name string
	size int64
	used time.Time
}

// blobFiles lists the files of the blobs, oldest use first.
func blobFiles(root *os.Root) ([]blobFile, error) {
	names, err := names(root)
	if err != nil {
		return nil, err
	}
	var files []blobFile
	for _, name := range names {
		if !isBlob(name) {
			continue
		}
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, blobFile{name, info.Size(), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b blobFile) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name))
	})
	return files, nil
}

func names(root *os.Root) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// clean removes what writers that crashed left behind, and what is too old or
// too much. A folder may be there to read only: what cannot be removed stays.
func (d *dir) clean(root *os.Root) error {
	names, err := names(root)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) {
			drop(root, name, nil)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shrink(root, d.limits.Max)
}

// place makes room for a file and calls put, which puts it there.
func (d *dir) place(root *os.Root, size int64, put func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if size > d.limits.Max {
		return d.limits.full()
	}
	// What other processes add is seen after a while.
	if d.size+size > d.limits.Max || time.Since(d.counted) >= time.Minute {
		if err := d.shrink(root, d.limits.Max-size); err != nil {
			return err
		}
	}
	if d.size+size > d.limits.Max {
		return d.limits.full()
	}
	if err := put(); err != nil {
		return err
	}
	d.size += size
	return nil
}

// shrink removes what has expired, and the least recently used files until the
// others have the size.
func (d *dir) shrink(root *os.Root, size int64) error {
	files, err := blobFiles(root)
	if err != nil {
		return err
	}
	d.size, d.counted = 0, time.Now()
	for _, f := range files {
		d.size += f.size
	}
	for _, f := range files {
		if d.size <= size && !d.limits.expired(f.used, d.counted) {
			break
		}
		if drop(root, f.name, &f.used) {
			d.size -= f.size
		}
	}
	return nil
}

// drop removes a file which nobody writes or reads, and which was not used since
// a time.
func drop(root *os.Root, name string, used *time.Time) bool {
	f, err := root.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if lock(f, true) != nil {
		return false
	}
	if used != nil {
		info, err := root.Lstat(name)
		if err != nil || !info.ModTime().Equal(*used) {
			return errors.Is(err, fs.ErrNotExist)
		}
	}
	return ifThere(root.Remove(name)) == nil
}
