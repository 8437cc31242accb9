// Package audit records every call in an append-only log of files: which client
// called which tool, when, with what outcome.
//
//	call ── Middleware ──▶ Log ── group commit ──▶ folder/audit-TIME-PID.jsonl ──▶ Read, Verify
//
// A record is in its file before the answer of its call leaves, so that a process
// that is killed loses no answered call. A call of a tool that may change something
// has a record on disk before it is sent. Each line contains the digest of the line
// before, so that a changed, removed or inserted line is found.
//
// Each process writes files of its own, under a lock; any number of processes share
// a folder. A process continues a file that another has left, and cuts off a last
// line that is torn.
package audit

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/ownership"
)

// A Level says how much of a call is recorded.
type Level string

// The levels of a log. Each includes those before.
const (
	LevelMeta Level = "meta" // who, what, when, sizes, outcome, and a digest of the arguments
	LevelArgs Level = "args" // also the arguments, redacted
	LevelFull Level = "full" // also the result, redacted
)

// Options are the optional parts of [Open].
type Options struct {
	Level   Level    // LevelMeta if empty
	Redact  []string // arguments that are not recorded, see [CheckPattern]
	Secrets []string // values that are not recorded wherever they are, such as those of the configuration

	// Hide returns a text without the secrets that have become known since, such as
	// passwords that are read when a server starts. Nil returns it as it is.
	Hide func(text string) string

	MaxSize     int64         // bytes of all files; 256 MiB if 0. The oldest are removed
	Keep        time.Duration // a file is removed when its last record is so much older than the newest one of another file; 30 days if 0
	SegmentSize int64         // bytes after which a new file begins; 8 MiB if 0
	SegmentAge  time.Duration // time after which a new file begins; 24 h if 0
	MaxSegments int           // files; 256 if 0

	// Required refuses calls that cannot be recorded. Otherwise they are served,
	// and [Log.Dropped] counts the records that are missing.
	Required bool

	// Sync makes every answer wait until its record is on disk, so that a loss
	// of power loses none. Otherwise that holds for the records of PhaseStart;
	// the others are in the file, which survives the end of the process, and on
	// disk after a second.
	Sync bool

	Logger *slog.Logger // for records that could not be written; nil for slog.Default
}

func (o *Options) orDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Level = cmp.Or(c.Level, LevelMeta)
	c.MaxSize = cmp.Or(c.MaxSize, 256<<20)
	c.Keep = cmp.Or(c.Keep, 30*24*time.Hour)
	c.SegmentSize = min(cmp.Or(c.SegmentSize, 8<<20), c.MaxSize/2)
	c.SegmentAge = cmp.Or(c.SegmentAge, 24*time.Hour)
	c.MaxSegments = cmp.Or(c.MaxSegments, 256)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// A Log writes records. It is safe for concurrent use.
type Log struct {
	dir     string
	opts    Options
	host    string
	run     string // identifies this Log in its records
	key     []byte // of the hashes of sessions
	redact  *redactor
	dropped atomic.Int64

	definitions definitions

	mu   sync.Mutex
	next *batch // collects records; nil if there are none

	writing sync.Mutex // held while a batch is written; guards what follows
	writer
}

// A batch is written at once, and is on disk at once.
type batch struct {
	bodies [][]byte
	sync   bool
	done   bool
	err    error
}

// Open opens the log in a folder, and creates it if needed. It writes no file
// before the first record.
func Open(dir string, opts *Options) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	if err := ownership.CheckFolder(dir); err != nil { // such as a volume of a container, which is open to all
		opts.orDefaults().Logger.Warn("other users can change or remove the audit log", "err", err)
	}
	l := &Log{dir: dir, opts: opts.orDefaults(), run: rand.Text()[:16], key: []byte(rand.Text())}
	l.host, _ = os.Hostname() // empty if it has none
	switch l.opts.Level {
	case LevelMeta, LevelArgs, LevelFull:
	default:
		return nil, fmt.Errorf("open the audit log: there is no level %q; use meta, args or full", l.opts.Level)
	}
	var err error
	if l.redact, err = newRedactor(l.opts.Redact, l.opts.Secrets, l.opts.Hide); err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	l.writer = writer{dir: dir, opts: &l.opts}
	return l, nil
}

// Dropped returns how many records could not be written.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Append writes a record, and returns when it is in the file; if durable is true,
// when it is on disk. Concurrent records are written together. The host, process
// and place in the chain are set here.
func (l *Log) Append(r *Record, durable bool) error {
	r.Host, r.PID, r.Run = l.host, os.Getpid(), l.run
	body, err := encode(r)
	if err != nil {
		return l.drop(1, err)
	}
	l.mu.Lock()
	if l.next == nil {
		l.next = &batch{}
	}
	b := l.next
	b.bodies = append(b.bodies, body)
	b.sync = b.sync || durable || l.opts.Sync
	l.mu.Unlock()

	l.writing.Lock()
	defer l.writing.Unlock()
	if b.done { // by the caller before
		return b.err
	}
	l.mu.Lock()
	l.next = nil
	l.mu.Unlock()
	b.done = true
	clean := !l.dirty
	if err := l.writer.write(b.bodies, b.sync); err != nil {
		b.err = l.drop(len(b.bodies), err)
	}
	if clean && l.dirty {
		time.AfterFunc(syncDelay, l.flush)
	}
	return b.err
}

// syncDelay is how long a record may be in the file only, and not on disk.
const syncDelay = time.Second

func (l *Log) flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.writer.sync(); err != nil {
		_ = l.drop(0, err) // reported; the records may be there
	}
}

// drop counts and reports records that are missing.
func (l *Log) drop(n int, err error) error {
	total := l.dropped.Add(int64(n))
	err = fmt.Errorf("write the audit log: %w", err)
	if n == 0 || total == int64(n) || total%1000 < int64(n) { // a full disk must not fill the log too
		l.opts.Logger.Error("the audit log is incomplete", "err", err, "missing", total)
	}
	return err
}

// Close writes everything to disk.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.writer.close(); err != nil {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}

// A writer writes batches into segments.
type writer struct {
	dir  string
	opts *Options
	at   *segment // nil before the first record and after a failure
	place
	dirty  bool // the segment has records that are not on disk
	closed bool
}

// write appends records, or none of them if it fails.
func (w *writer) write(bodies [][]byte, durable bool) error {
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
		return w.sync()
	}
	w.dirty = true
	return nil
}

// sync writes the segment to disk. After a failure, the kernel may have dropped
// what it could not write, so the next record begins another segment.
func (w *writer) sync() error {
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
func (w *writer) open(now time.Time) error {
	if w.at != nil && w.at.size < w.opts.SegmentSize && now.Sub(w.at.born) < w.opts.SegmentAge {
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
	if err := prune(w.dir, filepath.Base(at.file.Name()), now, w.opts); err != nil {
		w.opts.Logger.Warn("old files of the audit log cannot be removed", "err", err)
	}
	return nil
}

// segment returns the segment for the next record: one that another process has left,
// if this process has no chain yet, otherwise a new one.
func (w *writer) segment(now time.Time) (*segment, error) {
	if w.seq == 0 {
		for _, name := range newest(w.dir, now, w.opts) {
			if at := continueSegment(filepath.Join(w.dir, name), w.opts.SegmentSize); at != nil {
				return at, nil
			}
		}
	}
	return createSegment(w.dir, now, w.place)
}

// leave ends a segment.
func (w *writer) leave() error {
	at := w.at
	w.at = nil
	return errors.Join(at.file.Sync(), at.close())
}

// abandon leaves a segment that could not be written; the next record tries another.
func (w *writer) abandon() error {
	at := w.at
	w.at = nil
	return at.close()
}

func (w *writer) close() error {
	w.closed = true
	if w.at == nil {
		return nil
	}
	return w.leave()
}
