package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

// A dirWriter keeps a small blob in memory, until it is appended to a segment, and writes
// a longer one to a temporary file.
type dirWriter struct {
	store *dir
	root  *os.Root
	name  string

	mu    sync.Mutex
	file  *os.File
	path  string    // of the file, while it is not that of a committed blob
	made  time.Time // when the file was, by the clock of its system
	pages [][]byte  // what is not in the file: each has room for bufferSize bytes
	index index
	err   error // why nothing more is taken
}

// create makes the temporary file.
func (w *dirWriter) create() error {
	for try := 1; ; try++ {
		path := temporary()
		f, info, err := createLocked(w.root, func() string { return path })
		if noSpace(err) && try < 10 && w.store.room.relieve(w.root, bufferSize) {
			continue
		}
		if err == nil {
			w.file, w.path, w.made = f, path, info.ModTime()
		}
		return err
	}
}

func temporary() string { return rand.Text() + tempSuffix }

// bufferSize is a size from which on larger writes are not faster.
const bufferSize = 128 << 10

func (w *dirWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, failure("write", w.name, w.err)
	}
	if int64(len(p)) > w.store.room.limits.Max-w.index.size {
		return 0, failure("write", w.name, w.end(w.store.room.limits.full()))
	}
	for rest := p; len(rest) > 0; {
		n, err := w.put(rest)
		if err != nil {
			return 0, failure("write", w.name, w.end(unwritable(err)))
		}
		last := w.pages[len(w.pages)-1]
		w.index.add(last[len(last)-n:])
		rest = rest[n:]
	}
	return len(p), nil
}

// AvailableBuffer returns room for what is written next: what is appended to it is written
// without a copy.
func (w *dirWriter) AvailableBuffer() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil
	}
	page, err := w.page(bufferSize / 16)
	if err != nil {
		w.end(unwritable(err))
		return nil
	}
	return page[len(page):]
}

// page returns the last page, with room for so many bytes.
func (w *dirWriter) page(room int) ([]byte, error) {
	last := len(w.pages) - 1
	if last >= 0 && bufferSize-len(w.pages[last]) >= room {
		return w.pages[last], nil
	}
	if w.file != nil || int64(len(w.pages))*bufferSize == maxSmall {
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	page := w.store.buffers.Get().(*[bufferSize]byte)[:0]
	w.pages = append(w.pages, page)
	return page, nil
}

// put takes some bytes into the last page. It returns how many.
func (w *dirWriter) put(p []byte) (n int, err error) {
	page, err := w.page(1)
	if err != nil {
		return 0, err
	}
	n = min(len(p), bufferSize-len(page))
	if to := page[:len(page)+n]; &to[len(page)] != &p[0] { // else it is there, see AvailableBuffer
		copy(to[len(page):], p)
	}
	w.pages[len(w.pages)-1] = page[:len(page)+n]
	return n, nil
}

// flush moves the pages to the file.
func (w *dirWriter) flush() error {
	if w.file == nil {
		if err := w.create(); err != nil {
			return err
		}
	}
	for _, p := range w.pages {
		if err := w.out(p); err != nil {
			return err
		}
	}
	w.releasePages()
	return nil
}

func (w *dirWriter) releasePages() {
	for _, p := range w.pages {
		w.store.buffers.Put((*[bufferSize]byte)(p[:bufferSize]))
	}
	w.pages = nil
}

// out writes to the file. If the disk is full, the least recently used blobs go.
func (w *dirWriter) out(p []byte) error {
	for {
		n, err := w.file.Write(p)
		p = p[n:]
		if err == nil || !noSpace(err) || !w.store.room.relieve(w.root, int64(len(p))+bufferSize) {
			return err
		}
	}
}

func (w *dirWriter) Commit() (Info, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return Info{}, failure("commit", w.name, w.err)
	}
	info, err := w.commit()
	if err != nil {
		return Info{}, failure("commit", w.name, w.end(unwritable(err)))
	}
	w.end(fs.ErrClosed)
	return info, nil
}

func (w *dirWriter) commit() (Info, error) {
	at := now()
	info := Info{Name: w.name, Size: w.index.size, Lines: w.index.total(), Created: at, Used: at}
	for rest := w.index.trailer(w.name, at); len(rest) > 0; {
		n, err := w.put(rest)
		if err != nil {
			return Info{}, err
		}
		rest = rest[n:]
	}
	size := info.Size + w.index.trailerSize(w.name)
	if err := w.store.room.place(w.root, size); err != nil {
		return Info{}, err
	}
	var err error
	if w.file == nil && !w.store.manifest.full() {
		err = w.store.appendBlob(w.root, w.name, w.pages, at)
	} else {
		err = w.publish(at, info.Size >= syncedFrom)
	}
	if err != nil {
		w.store.room.release(size)
		return Info{}, err
	}
	w.path = ""
	return info, nil
}

// publish gives the file the name of its blob, unless that is taken.
func (w *dirWriter) publish(at time.Time, synced bool) error {
	err := w.store.free(w.root, w.name)
	if err == nil {
		err = w.flush()
	}
	if err == nil && at.Sub(w.made).Abs() > time.Second { // or the clock of the file system is another
		err = w.root.Chtimes(w.path, at, at)
	}
	if err == nil && synced {
		err = w.file.Sync()
	}
	if err == nil {
		err = w.store.manifest.change(w.root, func() error {
			if err := w.store.freeIn(w.root, w.name); err != nil {
				return err
			}
			return w.link()
		})
	}
	if err != nil || !synced {
		return err
	}
	if err := syncFolder(w.root); err != nil {
		return errors.Join(err, w.root.Remove(file(w.name)))
	}
	return nil
}

// link gives a temporary file the name of its blob.
func (w *dirWriter) link() error {
	err := w.root.Link(w.path, file(w.name))
	if err == nil {
		return w.root.Remove(w.path)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The file system has no links: of several processes that do this at once,
	// the last one keeps its blob.
	return atomicfile.Retry(func() error { return w.root.Rename(w.path, file(w.name)) })
}

func (w *dirWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.end(fs.ErrClosed)
	}
	return nil
}

// end ends the writing for a reason, which it returns.
func (w *dirWriter) end(why error) error {
	w.err = why
	w.releasePages()
	if w.path != "" {
		_ = w.root.Remove(w.path) // what stays is removed at the next opening
	}
	if w.file != nil {
		_ = w.file.Close()
	}
	return why
}

// unwritable adds to an error of the system what writing takes.
func unwritable(err error) error {
	if why := cause(err); why != err && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; the folder of the store must be writable and have room", why)
	}
	return err
}
