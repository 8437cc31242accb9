// Package audit records every call in an append-only log of files: which client
// called which tool, when, with what outcome.
//
//	call ── Observe, Around ──▶ Log ── group commit ──▶ folder/audit-TIME-PID.jsonl
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
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/access/trail"
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
	Level Level // LevelMeta if empty

	// Redact has patterns of arguments that are not recorded: the name of an argument at any
	// depth, such as "email", or a JSON pointer of one, such as "/customer/phone"; each
	// segment may have the wildcards * and ?.
	Redact []string

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
	writer  *trail.Writer
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
	if l.redact, err = newRedactor(&l.opts); err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	l.writer = trail.NewWriter(dir, &trail.Limits{
		MaxSize: l.opts.MaxSize, Keep: l.opts.Keep, SegmentSize: l.opts.SegmentSize, SegmentAge: l.opts.SegmentAge,
		MaxSegments: l.opts.MaxSegments, Logger: l.opts.Logger,
	})
	return l, nil
}

// Dropped returns how many records could not be written.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// add writes a record, and returns when it is in the file; if durable is true,
// when it is on disk. Concurrent records are written together. The host, process
// and place in the chain are set here.
func (l *Log) add(r *trail.Record, durable bool) error {
	r.Host, r.PID, r.Run = l.host, os.Getpid(), l.run
	body, err := trail.Encode(r)
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
	clean := !l.writer.IsDirty()
	if err := l.writer.Write(b.bodies, b.sync); err != nil {
		b.err = l.drop(len(b.bodies), err)
	}
	if clean && l.writer.IsDirty() {
		time.AfterFunc(syncDelay, l.flush)
	}
	return b.err
}

// syncDelay is how long a record may be in the file only, and not on disk.
const syncDelay = time.Second

func (l *Log) flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.writer.Sync(); err != nil {
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
	if err := l.writer.Close(); err != nil {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}
