package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
)

// manifestName is the file that lists the blobs in segments. All processes that use
// the folder append to it, under its lock.
const manifestName = "segments.manifest"

// An entry of the manifest has a fixed size: key, segment, time of creation, offset,
// length, mark, checksum of the fields before it. A length of 0 marks a removed blob.
const (
	manifestEntrySize = keySize + 8 + 8 + 4 + 4 + 4 + 4
	manifestMark      = 0x314d7054 // "TpM1"
	keySize           = 16
)

// maxLocations bounds the memory for locations. What is beyond it gets files.
const maxLocations = 1 << 17

// A blobKey stands for the name of a blob. Two names never have the same.
type blobKey [keySize]byte

func keyOf(name string) blobKey {
	sum := sha256.Sum256([]byte(name))
	return blobKey(sum[:keySize])
}

// A location is where a blob is: the bytes that a file of it would have, in a segment.
type location struct {
	segment        uint64
	created        int64 // nanoseconds of Unix time
	offset, length uint32
}

func (l location) end() int64 { return int64(l.offset) + int64(l.length) }

// A manifest is what is known of the file. An entry is appended after the bytes of its
// blob, so that it never leads to bytes that are not there.
type manifest struct {
	mu        sync.Mutex
	file      *os.File // nil while there is none
	writable  bool
	is        fs.FileInfo
	read      int64 // bytes of the file
	size      int64 // of the file when it was looked at
	compactAt int64 // the size from which on it is written anew
	blobs     map[blobKey]location
	live      map[uint64]int // blobs of a segment
}

// lookup returns where a blob is, as far as the file says.
func (m *manifest) lookup(root *os.Root, key blobKey) (at location, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.refresh(root)
	at, ok = m.blobs[key]
	return at, ok, err
}

// all returns where the blobs are.
func (m *manifest) all(root *os.Root) (map[blobKey]location, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := m.refresh(root)
	return maps.Clone(m.blobs), err
}

// maxWait is how long a process waits for one that has the lock: that one appends an
// entry, or gives a file its name.
const maxWait = 10 * time.Second

var errWait = errors.New("another process does not give the lock of its manifest back")

// change calls f while no other process changes the manifest, which is up to date then.
func (m *manifest) change(root *os.Root, f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		if err := m.open(root, true); err != nil {
			return err
		}
		file := m.file
		if err := lock(file); err != nil {
			return err
		}
		err := m.refresh(root)
		if err == nil && m.file != file { // it was written anew
			filelock.Release(file)
			continue
		}
		defer filelock.Release(file)
		if err == nil {
			err = m.cut()
		}
		if err == nil {
			err = f()
		}
		if m.read >= m.compactAt {
			m.compact(root)
		}
		return err
	}
}

func lock(file *os.File) error {
	err := filelock.Try(file, true)
	if !errors.Is(err, filelock.ErrHeld) {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), maxWait, errWait)
	defer cancel()
	return filelock.Wait(ctx, file)
}

// open opens the file, unless it is open.
func (m *manifest) open(root *os.Root, write bool) error {
	if m.file != nil && (m.writable || !write) {
		return nil
	}
	m.reset()
	file, err := openManifest(root, os.O_RDWR)
	switch m.writable = true; {
	case err == nil:
	case write:
		file, err = createManifest(root, err)
	default:
		m.writable = false
		file, err = openManifest(root, os.O_RDONLY)
	}
	if err == nil {
		m.file = file
		m.is, err = file.Stat()
	}
	return err
}

// createManifest makes the file, after it could not be opened. If it may not be read, or is
// no file, another user put it there, and it is removed.
func createManifest(root *os.Root, why error) (*os.File, error) {
	if errors.Is(why, fs.ErrPermission) || errors.Is(why, errDamaged) {
		why = root.Remove(manifestName)
	}
	if err := ifThere(why); err != nil {
		return nil, err
	}
	return openManifest(root, os.O_RDWR|os.O_CREATE)
}

// openManifest opens a file that may be anything.
func openManifest(root *os.Root, how int) (*os.File, error) {
	file, err := root.OpenFile(manifestName, how|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errDamaged
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// reset forgets the file.
func (m *manifest) reset() {
	if m.file != nil {
		_ = m.file.Close() // it was read, or written as a whole
	}
	m.file, m.is, m.read, m.size, m.compactAt = nil, nil, 0, 0, minCompact
	m.blobs, m.live = map[blobKey]location{}, map[uint64]int{}
}

// refresh reads what was appended since.
func (m *manifest) refresh(root *os.Root) error {
	info, err := root.Lstat(manifestName)
	if m.file != nil && (err != nil || !os.SameFile(info, m.is) || info.Size() < m.read) { // it was removed, or written anew
		m.reset()
	}
	if err == nil && m.file == nil {
		if err = m.open(root, false); err == nil {
			info = m.is // the file may have been written anew since
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, errDamaged): // there is nothing to read
		return nil
	case err != nil:
		return err
	}
	if m.size = info.Size(); m.size == m.read {
		return nil
	}
	anew := m.read == 0
	err = m.readEntries(m.file, m.size)
	if anew {
		m.compactAt = m.compactSize()
	}
	return err
}

// readEntries reads the file on to a size. What does not have the form of an entry is left
// out; at the end, it may be an entry that is being written.
func (m *manifest) readEntries(r io.ReaderAt, size int64) error {
	whole := m.read + (size-m.read)/manifestEntrySize*manifestEntrySize
	page := make([]byte, min(whole-m.read, 1024*manifestEntrySize))
	for at := m.read; at < whole; at += int64(len(page)) {
		page = page[:min(int64(len(page)), whole-at)]
		if err := readAll(r, page, at); err != nil {
			return err
		}
		for i := 0; i < len(page); i += manifestEntrySize {
			if key, where, ok := parseLocation(page[i:]); ok {
				m.take(key, where)
				m.read = at + int64(i) + manifestEntrySize
			}
		}
	}
	return nil
}

// cut removes what a process that crashed, or a full disk, left at the end of the file. No
// other one is writing.
func (m *manifest) cut() error {
	if m.size <= m.read {
		return nil
	}
	return m.file.Truncate(m.read)
}

// take notes where a blob is.
func (m *manifest) take(key blobKey, where location) {
	if old, ok := m.blobs[key]; ok {
		if m.live[old.segment]--; m.live[old.segment] == 0 {
			delete(m.live, old.segment)
		}
	}
	if where.length == 0 {
		delete(m.blobs, key)
		return
	}
	m.blobs[key] = where
	m.live[where.segment]++
}

// add appends an entry, within [manifest.change].
func (m *manifest) add(key blobKey, where location) error {
	var b [manifestEntrySize]byte
	if _, err := m.file.WriteAt(appendLocation(b[:0], key, where), m.read); err != nil {
		return errors.Join(err, m.file.Truncate(m.read))
	}
	m.read += manifestEntrySize
	m.take(key, where)
	return nil
}

// remove appends that a blob is not in its segment any more. It reports whether the
// segment has no other.
func (m *manifest) remove(key blobKey) (last bool, err error) {
	where := m.blobs[key]
	if err := m.add(key, location{segment: where.segment}); err != nil {
		return false, err
	}
	return m.live[where.segment] == 0, nil
}

func appendLocation(b []byte, key blobKey, at location) []byte {
	from := len(b)
	b = append(b, key[:]...)
	b = binary.LittleEndian.AppendUint64(b, at.segment)
	b = binary.LittleEndian.AppendUint64(b, uint64(at.created))
	b = binary.LittleEndian.AppendUint32(b, at.offset)
	b = binary.LittleEndian.AppendUint32(b, at.length)
	b = binary.LittleEndian.AppendUint32(b, manifestMark)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

func parseLocation(b []byte) (key blobKey, at location, ok bool) {
	b = b[:manifestEntrySize]
	key = blobKey(b[:keySize])
	at = location{
		segment: binary.LittleEndian.Uint64(b[keySize:]), created: int64(binary.LittleEndian.Uint64(b[keySize+8:])),
		offset: binary.LittleEndian.Uint32(b[keySize+16:]), length: binary.LittleEndian.Uint32(b[keySize+20:]),
	}
	end := len(b) - 8
	ok = binary.LittleEndian.Uint32(b[end:]) == manifestMark && binary.LittleEndian.Uint32(b[end+4:]) == crc32.ChecksumIEEE(b[:end+4])
	return key, at, ok && at.length <= maxSmall
}

// minCompact is the size from which on it is worthwhile to write the manifest anew.
const minCompact = 1 << 20

// compactSize is the size of the manifest from which on half of it may be gone.
func (m *manifest) compactSize() int64 {
	return max(minCompact, 2*int64(len(m.blobs))*manifestEntrySize)
}

// compact writes the manifest anew, within [manifest.change], without what is gone. If that
// fails, it is tried again later.
func (m *manifest) compact(root *os.Root) {
	m.compactAt = 2 * m.read
	names, err := names(root)
	if err != nil {
		return
	}
	m.forget(names)
	b := make([]byte, 0, len(m.blobs)*manifestEntrySize)
	for key, where := range m.blobs {
		b = appendLocation(b, key, where)
	}
	temp := temporary()
	f, _, err := createLocked(root, func() string { return temp })
	if err != nil {
		return
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync() // or a crash of the system may leave a name without content
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, manifestName)
	}
	if err != nil {
		_ = root.Remove(temp) // what stays is removed at the next opening
		return
	}
	m.reset()
}

// forget forgets the blobs of segments that are not among the files.
func (m *manifest) forget(files []string) {
	there := map[uint64]bool{}
	for _, name := range files {
		if id, ok := segmentOf(name); ok {
			there[id] = true
		}
	}
	for key, where := range m.blobs {
		if !there[where.segment] {
			m.take(key, location{})
		}
	}
	m.compactAt = m.compactSize()
}

// isEmpty reports whether a segment has no blobs.
func (m *manifest) isEmpty(root *os.Root, segment uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refresh(root) == nil && m.live[segment] == 0
}

// ends returns how much of each segment belongs to blobs. With forget, it forgets those
// without a segment.
func (m *manifest) ends(root *os.Root, forget bool) (map[uint64]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refresh(root); err != nil {
		return nil, err
	}
	if forget {
		files, err := names(root) // after the manifest was read: other processes make new ones
		if err != nil {
			return nil, err
		}
		m.forget(files)
	}
	ends := make(map[uint64]int64, len(m.live))
	for _, where := range m.blobs {
		ends[where.segment] = max(ends[where.segment], where.end())
	}
	return ends, nil
}

// full reports whether no more blobs may be in segments.
func (m *manifest) full() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.blobs) >= maxLocations
}
