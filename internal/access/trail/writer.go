package trail

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"time"
)

// Limits are what the files of a folder may be. The oldest are removed.
type Limits struct {
	MaxSize     int64         // bytes of all files
	Keep        time.Duration // a file is removed when its last record is so much older than the newest one of another file
	SegmentSize int64         // bytes after which a new file begins
	SegmentAge  time.Duration // time after which a new file begins
	MaxSegments int           // files

	Logger *slog.Logger // for files that cannot be removed
}

// A Writer writes batches of records into segments. It is for one goroutine at a time.
type Writer struct {
	dir    string
	limits *Limits
	at     *segment // nil before the first record and after a failure
	place
	dirty  bool // the segment has records that are not on disk
	closed bool
}

// NewWriter returns a writer of a folder that exists. It writes no file before the first
// record.
func NewWriter(dir string, limits *Limits) *Writer { return &Writer{dir: dir, limits: limits} }

// IsDirty reports whether there are records in the file that are not on disk.
func (w *Writer) IsDirty() bool { return w.dirty }

// Write appends records that [Encode] has returned, or none of them if it fails. If durable is
// true, they are on disk when it returns.
func (w *Writer) Write(bodies [][]byte, durable bool) error {
	if w.closed {
		return errors.New("it is closed")
	}
	now := time.Now()
	if err := w.open(now); err != nil {
		return err
	}
	seq, last := w.seq, w.last
	var lines []byte
	for _, body := range bodies {
		seq++
		line := appendPlace(body, w.chain, seq, last)
		last = digest(line)
		lines = append(lines, line...)
	}
	if err := w.at.write(lines); err != nil {
		return err
	}
	w.seq, w.last = seq, last
	if durable {
		return w.Sync()
	}
	w.dirty = true
	return nil
}

// Sync writes the segment to disk. After a failure, the kernel may have dropped
// what it could not write, so the next record begins another segment.
func (w *Writer) Sync() error {
	w.dirty = false
	if w.at == nil {
		return nil
	}
	if err := w.at.file.Sync(); err != nil {
		return errors.Join(err, w.abandon())
	}
	return nil
}

// open makes sure that there is a segment with room.
func (w *Writer) open(now time.Time) error {
	if w.at != nil && w.at.size < w.limits.SegmentSize && now.Sub(w.at.born) < w.limits.SegmentAge {
		return nil
	}
	if w.at != nil {
		if err := w.leave(); err != nil {
			return err
		}
	}
	at, err := w.segment(now)
	if err != nil {
		return err
	}
	w.at, w.place = at, at.place
	if w.chain == "" { // a new one, or one of an earlier version
		w.chain = rand.Text()
	}
	if err := prune(w.dir, filepath.Base(at.file.Name()), now, w.limits); err != nil {
		w.limits.Logger.Warn("old files of the audit log cannot be removed", "err", err)
	}
	return nil
}

// segment returns the segment for the next record: one that another process has left,
// if this process has no chain yet, otherwise a new one.
func (w *Writer) segment(now time.Time) (*segment, error) {
	if w.seq == 0 {
		for _, name := range newest(w.dir, now, w.limits) {
			if at := continueSegment(filepath.Join(w.dir, name), w.limits.SegmentSize); at != nil {
				return at, nil
			}
		}
	}
	return createSegment(w.dir, now, w.place)
}

// leave ends a segment.
func (w *Writer) leave() error {
	at := w.at
	w.at = nil
	return errors.Join(at.file.Sync(), at.close())
}

// abandon leaves a segment that could not be written; the next record tries another.
func (w *Writer) abandon() error {
	at := w.at
	w.at = nil
	return at.close()
}

// Close writes everything to disk, and ends the segment.
func (w *Writer) Close() error {
	w.closed = true
	if w.at == nil {
		return nil
	}
	return w.leave()
}
