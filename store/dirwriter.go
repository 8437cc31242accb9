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
	"github.com/toolpost/toolpost/internal/filelock"
)

// A dirWriter keeps a blob in memory until it is longer than a buffer, and then
// writes a temporary file. To make, rename and remove files takes longer than to
// write some kilobytes: a blob that fits into the buffer gets a file, of its own
// name, when it is committed.
type dirWriter struct {
	store *dir
	root  *os.Root
	name  string

	mu     sync.Mutex
	file   *os.File
	path   string    // of the file, while it is not that of a committed blob
	made   time.Time // when the file was, by the clock of its system
	buffer []byte
	index  index
	err    error // why nothing more is taken
}

// create makes the file. It stays locked, so that other processes can distinguish
// it from a file that a crashed one left behind.
func (w *dirWriter) create(path func() string) error {
	for try := 1; ; try++ {
		path := path()
		f, err := w.root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if noSpace(err) && try < 10 && w.store.room.relieve(w.root, bufferSize) {
			continue
		}
		if err != nil {
			return err
		}
		// Until it is locked, another process may take it for one left behind.
		if err = filelock.Try(f, true); err == nil {
			var info fs.FileInfo
			if info, err = w.root.Lstat(path); err == nil {
				w.file, w.path, w.made = f, path, info.ModTime()
				return nil
			}
		}
		if err = errors.Join(err, f.Close(), ifThere(w.root.Remove(path))); try == 10 {
			return err
		}
	}
}

func temporary() string { return rand.Text() + tempSuffix }

// bufferSize is a size from which on larger writes are not faster.
const bufferSize = 256 << 10

func (w *dirWriter) Write(p []byte) (int, error) { return take(w, p) }

// WriteString does what Write does, without a copy of s.
func (w *dirWriter) WriteString(s string) (int, error) { return take(w, s) }

func take[T []byte | string](w *dirWriter, p T) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, failure("write", w.name, w.err)
	}
	if int64(len(p)) > w.store.room.limits.Max-w.index.size {
		return 0, failure("write", w.name, w.end(w.store.room.limits.full()))
	}
	for rest := p; len(rest) > 0; {
		n, err := put(w, rest)
		if err != nil {
			return 0, failure("write", w.name, w.end(unwritable(err)))
		}
		w.index.add(w.buffer[len(w.buffer)-n:])
		rest = rest[n:]
	}
	return len(p), nil
}

// put takes some bytes into the buffer, which is written once it is full. It
// returns how many.
func put[T []byte | string](w *dirWriter, p T) (n int, err error) {
	if w.buffer == nil {
		w.buffer = w.store.buffers.Get().(*[bufferSize]byte)[:0]
	}
	if len(w.buffer) == bufferSize {
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
	n = min(len(p), bufferSize-len(w.buffer))
	w.buffer = append(w.buffer, p[:n]...)
	return n, nil
}

func (w *dirWriter) flush() error {
	if w.file == nil {
		if err := w.create(temporary); err != nil {
			return err
		}
	}
	err := w.out(w.buffer)
	w.buffer = w.buffer[:0]
	return err
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
		n, err := put(w, rest)
		if err != nil {
			return Info{}, err
		}
		rest = rest[n:]
	}
	size := info.Size + w.index.trailerSize(w.name)
	if err := w.store.room.place(w.root, size); err != nil {
		return Info{}, err
	}
	if err := w.publish(at, info.Size >= syncedFrom); err != nil {
		w.store.room.release(size)
		return Info{}, err
	}
	w.path = ""
	return info, nil
}

// publish gives the file the name of its blob, unless that is taken.
func (w *dirWriter) publish(at time.Time, synced bool) error {
	err := w.claim()
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return err
	}
	if at.Sub(w.made).Abs() > time.Second { // or the clock of the file system is another
		err = w.root.Chtimes(w.path, at, at)
	}
	if w.path == file(w.name) {
		return ifThere(err) // from its creation on, the blob may be removed
	}
	if err != nil {
		return err
	}
	if synced {
		if err := w.file.Sync(); err != nil {
			return err
		}
	}
	if err := w.link(); err != nil || !synced {
		return err
	}
	if err := syncFolder(w.root); err != nil {
		return errors.Join(err, w.root.Remove(file(w.name)))
	}
	return nil
}

// claim makes the file of a small blob, or checks that the name is not taken.
func (w *dirWriter) claim() error {
	if w.file != nil {
		return w.store.free(w.root, w.name)
	}
	own := func() string { return file(w.name) }
	err := w.create(own)
	if errors.Is(err, fs.ErrExist) && w.store.free(w.root, w.name) == nil { // what had the name has expired
		err = w.create(own)
	}
	return err
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
	if w.err = why; w.buffer != nil {
		w.store.buffers.Put((*[bufferSize]byte)(w.buffer[:bufferSize]))
		w.buffer = nil
	}
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
