package trail

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A segment is a file of the log that this process writes. Its lock is held until
// it is closed, so that no other process continues or removes it.
type segment struct {
	file *os.File
	size int64     // bytes; what follows them in the file is torn
	born time.Time // from its name
	place
}

// A place is the end of a chain.
type place struct {
	chain string // a random name, the same in all its files
	seq   uint64 // of the last record
	last  string // the digest of the last line
}

// nameForm is the form of a segment's name: the time when it was created, and the
// process that created it. Names sort by time.
var nameForm = lazyregexp.New(`^audit-(\d{8}T\d{6}\.\d{6}Z)-\d+\.jsonl$`)

const stamp = "20060102T150405.000000Z"

// segments returns the names of the segments of a folder, the oldest first.
func segments(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && nameForm.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// bornAt returns when the segment of that name was created.
func bornAt(name string) time.Time {
	if m := nameForm.FindStringSubmatch(name); m != nil {
		if t, err := time.Parse(stamp, m[1]); err == nil {
			return t
		}
	}
	return time.Time{}
}

// createSegment creates a segment that continues a chain.
func createSegment(dir string, now time.Time, after place) (*segment, error) {
	const attempts = 100 // names that are taken, and new files that another process looks at
	for range attempts {
		path := filepath.Join(dir, fmt.Sprintf("audit-%s-%d.jsonl", now.UTC().Format(stamp), os.Getpid()))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if err == nil {
			s := &segment{file: f, born: now.UTC(), place: after}
			if err := filelock.Try(f, true); (err == nil || errors.Is(err, errors.ErrUnsupported)) && s.isAt(path) {
				return s, nil
			}
			_ = f.Close()
		}
		now = now.Add(time.Microsecond)
	}
	return nil, errors.New("no new file could be locked")
}

// continueSegment opens a segment that no process writes any more, and removes a
// last line that is torn. It returns nil if the segment is in use, damaged, or full: then
// another process has filled it since it was found, and continues its chain elsewhere.
func continueSegment(path string, full int64) *segment {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	s := &segment{file: f, born: bornAt(filepath.Base(path))}
	if filelock.Try(f, true) != nil || !s.isAt(path) || s.repair() != nil || s.size >= full {
		s.close()
		return nil
	}
	return s
}

// isAt reports whether the file is still the one at path: another process may have
// removed it before it was locked.
func (s *segment) isAt(path string) bool {
	there, err := os.Lstat(path)
	if err != nil || !there.Mode().IsRegular() {
		return false
	}
	here, err := s.file.Stat()
	return err == nil && os.SameFile(there, here)
}

// repair finds the last record and cuts off what follows it.
func (s *segment) repair() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	line, end, err := lastLine(s.file, info.Size())
	if err != nil {
		return err
	}
	if len(line) > 0 {
		r, err := decode(line)
		if err != nil {
			return err
		}
		s.place = place{r.Chain, r.Seq, digest(line)}
	}
	if s.size = end; end < info.Size() {
		return s.file.Truncate(end)
	}
	return nil
}

// lastLine returns the last complete line of a file of that size, and where it ends.
func lastLine(f io.ReaderAt, size int64) (line []byte, end int64, err error) {
	const most = 2*maxLine + 2 // a line, and one that is torn
	start := max(0, size-most)
	data := make([]byte, size-start)
	if _, err := f.ReadAt(data, start); err != nil && err != io.EOF {
		return nil, 0, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	if len(data) == 0 && start > 0 {
		return nil, 0, errors.New("the last line is too long")
	}
	begin := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
	return data[begin:], start + int64(len(data)), nil
}

// write appends lines. If it fails, the next write replaces what remains of them.
func (s *segment) write(lines []byte) error {
	if _, err := s.file.WriteAt(lines, s.size); err != nil {
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(len(lines))
	return nil
}

func (s *segment) close() error {
	filelock.Release(s.file)
	return s.file.Close()
}

// prune removes the oldest segments that no process writes, until the bounds are
// kept. Own is the one that this process is about to write. It returns what could not
// be removed.
func prune(dir, own string, now time.Time, o *Limits) error {
	names, err := segments(dir)
	if err != nil {
		return err
	}
	var total int64
	sizes := map[string]int64{}
	for _, name := range names {
		sizes[name] = sizeOf(filepath.Join(dir, name))
		total += sizes[name]
	}
	var failed []error
	count := len(names)
	before := lastWritten(dir, names, own, now)
	for _, name := range names {
		old := o.Keep > 0 && before.Sub(modTime(dir, name)) > o.Keep
		if !old && total <= o.MaxSize && count <= o.MaxSegments {
			continue
		}
		removed, err := removeUnused(filepath.Join(dir, name))
		if failed = append(failed, err); removed {
			total -= sizes[name]
			count--
		}
	}
	return errors.Join(failed...)
}

// lastWritten returns when a segment other than own was written last. The age of
// segments is counted from then: a clock that jumps ahead must not make all of them old
// at once.
func lastWritten(dir string, names []string, own string, now time.Time) (last time.Time) {
	for _, name := range names {
		if at := modTime(dir, name); name != own && at.After(last) && !at.After(now) {
			last = at
		}
	}
	return last
}

// modTime returns when a segment was written last.
func modTime(dir, name string) time.Time {
	info, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return bornAt(name)
	}
	return info.ModTime()
}

// sizeOf returns the size of a file, 0 if it does not exist.
func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// removeUnused removes a segment unless a process writes it.
func removeUnused(path string) (removed bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, os.ErrNotExist), ignoreMissing(err)
	}
	defer f.Close()
	switch err := filelock.Try(f, true); {
	case errors.Is(err, filelock.ErrHeld):
		return false, nil
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		return false, err
	}
	defer filelock.Release(f)
	if err = ignoreMissing(os.Remove(path)); err != nil { // Windows does not remove an open file
		_ = f.Close()
		err = ignoreMissing(os.Remove(path))
	}
	return err == nil, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// inUse reports whether a process writes the segment.
func inUse(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if err := filelock.Try(f, false); err != nil {
		return errors.Is(err, filelock.ErrHeld)
	}
	filelock.Release(f)
	return false
}

// newest returns the segments that a new process may continue: not too large, not
// too old, the newest first. It returns at most a few.
func newest(dir string, now time.Time, o *Limits) []string {
	names, err := segments(dir)
	if err != nil {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return -cmp.Compare(a, b) })
	names = slices.DeleteFunc(names, func(name string) bool {
		return sizeOf(filepath.Join(dir, name)) >= o.SegmentSize || now.Sub(bornAt(name)) >= o.SegmentAge
	})
	const most = 16
	return names[:min(len(names), most)]
}
