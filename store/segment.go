package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
)

// A segment is a file of small blobs, one after another, each with the bytes that a file
// of its own would have: to make a file takes longer than to write some kilobytes. The
// manifest says what is where. While a process appends to a segment, it has it locked.
type segment struct {
	id     uint64
	file   *os.File
	is     fs.FileInfo
	begun  time.Time
	end    int64
	skewed bool // its file system has another clock
}

const (
	segmentSuffix = ".segment"
	maxSegment    = 16 << 20 // bytes from which on nothing more is appended
	maxSmall      = 2 << 20  // bytes of a blob in a segment
	maxIdle       = 4        // segments that are kept open
)

func segmentName(id uint64) string { return fmt.Sprintf("%016x%s", id, segmentSuffix) }

// segmentOf returns the segment of a file, and whether it is one.
func segmentOf(file string) (id uint64, ok bool) {
	digits, ok := strings.CutSuffix(file, segmentSuffix)
	id, err := strconv.ParseUint(digits, 16, 64)
	return id, ok && err == nil && segmentName(id) == file
}

// segments are those that this process may append to, while it does not.
type segments struct {
	mu   sync.Mutex
	idle []*segment
}

func (s *segments) pop() *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return nil
	}
	seg := s.idle[last]
	s.idle = s.idle[:last]
	return seg
}

// put takes a segment back. It is not locked any more: it may be removed.
func (s *segments) put(seg *segment, limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg.end >= limit || len(s.idle) == maxIdle {
		_ = seg.file.Close() // all of it was written
		return
	}
	filelock.Release(seg.file)
	s.idle = append(s.idle, seg)
}

// take returns a segment that is locked: one that is idle, as this process left it, and
// not too old, or a new one.
func (s *segments) take(root *os.Root, age time.Duration) (*segment, error) {
	for seg := s.pop(); seg != nil; seg = s.pop() {
		if now().Sub(seg.begun).Abs() <= age && filelock.Try(seg.file, true) == nil {
			info, err := root.Lstat(segmentName(seg.id))
			if err == nil && os.SameFile(info, seg.is) && info.Size() == seg.end {
				return seg, nil
			}
		}
		_ = seg.file.Close()
	}
	var id uint64
	file, info, err := createLocked(root, func() string {
		var b [8]byte
		_, _ = rand.Read(b[:]) // it never fails
		id = binary.LittleEndian.Uint64(b[:])
		return segmentName(id)
	})
	if err != nil {
		return nil, err
	}
	begun := now()
	return &segment{id: id, file: file, is: info, begun: begun, skewed: begun.Sub(info.ModTime()).Abs() > time.Second}, nil
}

// createLocked makes a file. It is locked, so that other processes can distinguish it from
// one that a process which crashed left behind.
func createLocked(root *os.Root, path func() string) (*os.File, fs.FileInfo, error) {
	for try := 1; ; try++ {
		path := path()
		f, err := root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return nil, nil, err
		}
		// Until it is locked, another process may take it for one left behind.
		if err = filelock.Try(f, true); err == nil {
			var info fs.FileInfo
			if info, err = root.Lstat(path); err == nil {
				return f, info, nil
			}
		}
		if err = errors.Join(err, f.Close(), ifThere(root.Remove(path))); try == 10 {
			return nil, nil, err
		}
	}
}

// segmentLimit is the size from which on nothing more is appended to a segment: what is
// removed together is a small part of all.
func (d *dir) segmentLimit() int64 { return min(maxSegment, d.room.limits.Max/64) }

// segmentAge is the age from which on nothing more is appended to a segment: all of it
// expires with the newest of its blobs.
func (d *dir) segmentAge() time.Duration {
	if d.room.limits.TTL <= 0 {
		return math.MaxInt64
	}
	return d.room.limits.TTL / 8
}

// appendBlob keeps a blob of pages in a segment. If the disk is full, the least recently
// used blobs go.
func (d *dir) appendBlob(root *os.Root, name string, pages [][]byte, created time.Time) error {
	size := int64(0)
	for _, p := range pages {
		size += int64(len(p))
	}
	for try := 1; ; try++ {
		seg, err := d.segments.take(root, d.segmentAge())
		if err == nil {
			err = d.appendTo(root, seg, name, pages, created)
			d.segments.put(seg, d.segmentLimit())
		}
		if !noSpace(err) || try == 10 || !d.room.relieve(root, size+bufferSize) {
			return err
		}
	}
}

func (d *dir) appendTo(root *os.Root, seg *segment, name string, pages [][]byte, created time.Time) error {
	end, err := writePages(seg.file, pages, seg.end)
	if err == nil {
		err = d.manifest.change(root, func() error {
			if err := d.freeIn(root, name); err != nil {
				return err
			}
			return d.manifest.add(keyOf(name), location{seg.id, created.UnixNano(), uint32(seg.end), uint32(end - seg.end)})
		})
	}
	if err != nil {
		return errors.Join(err, seg.file.Truncate(seg.end))
	}
	if seg.end = end; seg.skewed {
		return root.Chtimes(segmentName(seg.id), created, created)
	}
	return nil
}

// writePages writes pages from an offset on. It returns where they end.
func writePages(f *os.File, pages [][]byte, at int64) (end int64, err error) {
	written := int64(0)
	if len(pages) > 1 {
		written = writeTogether(f, pages, at)
	}
	for _, p := range pages {
		done := min(written, int64(len(p)))
		written -= done
		if at += done; done < int64(len(p)) {
			n, err := f.WriteAt(p[done:], at)
			if at += int64(n); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

// dropSegment removes a segment without blobs, unless a process appends to it.
func (d *dir) dropSegment(root *os.Root, id uint64) bool {
	f, err := openSegment(root, id, os.O_RDWR)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	if filelock.Try(f, true) != nil {
		return false
	}
	info, err := f.Stat()
	if err != nil || !d.manifest.isEmpty(root, id) {
		return false
	}
	_ = f.Truncate(0) // processes that appended to it have it open
	if root.Remove(segmentName(id)) != nil {
		return false
	}
	d.room.release(info.Size())
	return true
}

// trim removes from the segments what processes that crashed, or blobs that are removed,
// left at their ends.
func (d *dir) trim(root *os.Root, names []string) error {
	ends, err := d.manifest.ends(root, true)
	if err != nil {
		return err
	}
	for _, name := range names {
		id, ok := segmentOf(name)
		if !ok {
			continue
		}
		if info, err := root.Lstat(name); err == nil && info.Size() > ends[id] {
			d.trimOne(root, id)
		}
	}
	return nil
}

// trimOne trims a segment, unless it is locked or may not be written.
func (d *dir) trimOne(root *os.Root, id uint64) {
	f, err := root.OpenFile(segmentName(id), os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || filelock.Try(f, true) != nil {
		return
	}
	ends, err := d.manifest.ends(root, false)
	switch {
	case err != nil:
	case ends[id] == 0:
		_ = root.Remove(segmentName(id)) // else it expires
	case f.Truncate(ends[id]) == nil:
		_ = root.Chtimes(segmentName(id), info.ModTime(), info.ModTime()) // when it was used last
	}
}
