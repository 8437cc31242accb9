package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
)

// A blobFile is what is known of the file of a blob, or of a segment, without opening it.
type blobFile struct {
	name string
	size int64
	used time.Time
}

// blobFiles lists the files of the blobs, and the segments, oldest use first.
func blobFiles(root *os.Root) ([]blobFile, error) {
	names, err := names(root)
	if err != nil {
		return nil, err
	}
	var files []blobFile
	for _, name := range names {
		if _, ok := segmentOf(name); !ok && (len(name) != len(file("")) || !strings.HasSuffix(name, blobSuffix)) {
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
	sort.Slice(files, func(i, j int) bool {
		a, b := &files[i], &files[j]
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) < 0
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
		if strings.HasSuffix(name, tempSuffix) {
			drop(root, name, nil)
		}
	}
	if err := d.trim(root, names); err != nil {
		return err
	}
	d.room.mu.Lock()
	defer d.room.mu.Unlock()
	if err := d.room.count(root); err != nil {
		return err
	}
	return d.room.shrink(root, d.room.limits.Max)
}

// A room keeps a folder within its limits.
type room struct {
	limits Options

	mu      sync.Mutex
	size    int64      // of the files, at most
	counted time.Time  // when the folder was looked through
	oldest  []blobFile // of those that were there then, oldest use first
}

// maxOldest bounds the memory for the oldest files.
const maxOldest = 4096

// place makes room for a file.
func (r *room) place(root *os.Root, size int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if size > r.limits.Max {
		return r.limits.full()
	}
	// Blobs that other processes add are seen after a while.
	if time.Since(r.counted) >= time.Minute {
		if err := r.count(root); err != nil {
			return err
		}
	}
	if err := r.shrink(root, r.limits.Max-size); err != nil {
		return err
	}
	if r.size+size > r.limits.Max {
		return r.limits.full()
	}
	r.size += size
	return nil
}

// release gives up the room for a file that is not there.
func (r *room) release(size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.size = max(0, r.size-size)
}

// count looks through the folder.
func (r *room) count(root *os.Root) error {
	files, err := blobFiles(root)
	if err != nil {
		return err
	}
	r.size, r.counted = 0, time.Now()
	for _, f := range files {
		r.size += f.size
	}
	r.oldest = slices.Clone(files[:min(len(files), maxOldest)])
	return nil
}

// shrink removes what has expired, and the least recently used files until the
// others have the size. It looks through the folder only when no file is left
// that it knows: a full folder has many.
func (r *room) shrink(root *os.Root, size int64) error {
	for counted := false; ; counted = true {
		for len(r.oldest) > 0 && (r.size > size || r.limits.isExpired(r.oldest[0].used, time.Now())) {
			f := r.oldest[0]
			r.oldest = r.oldest[1:]
			if drop(root, f.name, &f.used) {
				r.size -= f.size
			}
		}
		if r.size <= size || counted {
			return nil
		}
		if err := r.count(root); err != nil {
			return err
		}
	}
}

// relieve removes the least recently used files until some bytes are free, or
// none is left. It reports whether it removed any.
func (r *room) relieve(root *os.Root, size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, err := blobFiles(root)
	freed := int64(0)
	for _, f := range files {
		if freed >= size {
			break
		}
		if drop(root, f.name, &f.used) {
			freed += f.size
		}
	}
	r.size, r.oldest = max(0, r.size-freed), nil // of which some are gone
	return err == nil && freed > 0
}

// noSpace reports whether the disk, or the part of it that its user may fill, is
// full.
func noSpace(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull)
}

// expire removes a file that was not used for too long, and is not in use.
func (r *room) expire(root *os.Root, f blobFile) bool {
	return r.limits.isExpired(f.used, time.Now()) && drop(root, f.name, &f.used)
}

// drop removes a file that no process writes or reads, and that was not used
// since a time.
func drop(root *os.Root, name string, used *time.Time) bool {
	f, err := root.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0) // some systems lock only what may be written
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if filelock.Try(f, true) != nil {
		return false
	}
	if used != nil {
		info, err := root.Lstat(name)
		if err != nil || !info.ModTime().Equal(*used) {
			return errors.Is(err, fs.ErrNotExist)
		}
	}
	if _, ok := segmentOf(name); ok {
		_ = f.Truncate(0) // processes that appended to it have it open
	}
	return ifThere(root.Remove(name)) == nil
}
