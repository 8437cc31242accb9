package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// keyOfFile returns the key of the blob that has a file.
func keyOfFile(name string) (key blobKey) {
	_, _ = hex.Decode(key[:], []byte(name[:2*keySize])) // a file that is not a blob's has no key
	return key
}

// find returns where a small blob is, unless it has expired.
func (d *dir) find(root *os.Root, name string) (location, error) {
	where, ok, err := d.manifest.lookup(root, keyOf(name))
	if err == nil && (!ok || !d.isThere(root, where)) {
		err = fs.ErrNotExist
	}
	return where, err
}

// isThere reports whether a blob that the manifest has is still there.
func (d *dir) isThere(root *os.Root, where location) bool {
	if d.room.limits.isExpired(time.Unix(0, where.created), time.Now()) {
		return false
	}
	info, err := root.Lstat(segmentName(where.segment))
	return err == nil && info.Size() >= where.end()
}

// freeIn checks within a change of the manifest that a name is not taken.
func (d *dir) freeIn(root *os.Root, name string) error {
	if where, ok := d.manifest.blobs[keyOf(name)]; ok && d.isThere(root, where) {
		return fs.ErrExist
	}
	_, err := d.look(root, name)
	if err == nil {
		return fs.ErrExist
	}
	return ifThere(err)
}

// openSmall opens a small blob. So that others see that it is being used, it gets a file
// of its own; moved reports whether it has one. If it cannot, it is read into memory.
func (d *dir) openSmall(root *os.Root, name string) (b *dirBlob, moved bool, err error) {
	where, err := d.find(root, name)
	var data []byte
	if err == nil {
		b, data, err = readSmall(root, where, true)
	}
	if err == nil && b.info.Name != name {
		err = errDamaged
	}
	if err != nil {
		if _, err := d.look(root, name); err == nil {
			return nil, true, nil // another has moved it meanwhile
		}
	}
	if errors.Is(err, errDamaged) {
		_ = d.removeSmall(root, name) // else it expires
		return nil, false, fmt.Errorf("%w, and removed: %w", err, fs.ErrNotExist)
	}
	if err != nil {
		return nil, false, err
	}
	if err := d.move(root, b.info, where, data); err == nil || errors.Is(err, fs.ErrExist) {
		return nil, true, nil
	}
	return b, false, nil
}

// move gives a small blob a file of its own. Its bytes are in one place only then.
func (d *dir) move(root *os.Root, info Info, where location, data []byte) error {
	size := int64(len(data))
	if err := d.room.place(root, size); err != nil {
		return err
	}
	w := &dirWriter{store: d, root: root, name: info.Name}
	defer w.Close()
	err := w.create()
	if err == nil {
		err = w.out(data)
	}
	last := false
	if err == nil {
		err = d.manifest.change(root, func() (err error) {
			key := keyOf(info.Name)
			if now, ok := d.manifest.blobs[key]; !ok || now != where {
				return fs.ErrExist // another has moved it, or removed it
			}
			if err = w.link(); err == nil {
				w.path = ""
				last, err = d.manifest.remove(key)
			}
			return err
		})
	}
	if err != nil {
		d.room.release(size)
		return err
	}
	_ = d.erase(root, where, last) // else they stay until the segment is removed
	return nil
}

// removeSmall removes a small blob.
func (d *dir) removeSmall(root *os.Root, name string) error {
	where, ok, err := d.manifest.lookup(root, keyOf(name))
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	last := false
	err = d.manifest.change(root, func() (err error) {
		var ok bool
		if where, ok = d.manifest.blobs[keyOf(name)]; !ok || !d.isThere(root, where) {
			return fs.ErrNotExist
		}
		if last, err = d.manifest.remove(keyOf(name)); err == nil {
			err = d.manifest.file.Sync()
		}
		return err
	})
	if err != nil {
		return err
	}
	return d.erase(root, where, last)
}

// erase overwrites the bytes of a blob that is not in its segment any more, or removes the
// segment with the last one.
func (d *dir) erase(root *os.Root, where location, last bool) error {
	if last && d.dropSegment(root, where.segment) {
		return nil
	}
	f, err := openSegment(root, where.segment, os.O_WRONLY)
	if err != nil {
		return ifThere(err)
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(make([]byte, where.length), int64(where.offset))
	}
	if err == nil {
		_ = root.Chtimes(segmentName(where.segment), info.ModTime(), info.ModTime()) // this was no use of it
	}
	return errors.Join(err, f.Close())
}

// openSegment opens a segment that may be anything.
func openSegment(root *os.Root, id uint64, how int) (*os.File, error) {
	f, err := root.OpenFile(segmentName(id), how|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errDamaged
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSmall reads what there is of a small blob: all of it, which is compared with its
// checksum, or only the trailer.
func readSmall(root *os.Root, where location, whole bool) (*dirBlob, []byte, error) {
	f, err := openSegment(root, where.segment, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // it is read
	var r io.ReaderAt = io.NewSectionReader(f, int64(where.offset), int64(where.length))
	var data []byte
	if whole {
		data = make([]byte, where.length)
		if err := readAll(r, data, 0); err != nil {
			return nil, nil, err
		}
		r = bytes.NewReader(data)
	}
	x, info, err := parse(r, int64(where.length))
	if err == nil && whole {
		err = x.verify(r)
	}
	if err != nil {
		return nil, nil, err
	}
	info.Used = info.Created
	return &dirBlob{file: &inMemory{data: data}, index: x, info: info}, data, nil
}

// inMemory is what stands for the file of a blob that was read into memory.
type inMemory struct {
	data   []byte
	closed atomic.Bool
}

func (m *inMemory) ReadAt(p []byte, at int64) (int, error) {
	if m.closed.Load() {
		return 0, fs.ErrClosed
	}
	return bytes.NewReader(m.data).ReadAt(p, at)
}

func (m *inMemory) Close() error {
	m.closed.Store(true)
	return nil
}
