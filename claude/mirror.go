package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/internal/ids"
	"github.com/toolpost/toolpost/claude/sessions"
	"github.com/toolpost/toolpost/internal/environ"
)

// A mirror appends the lines that the CLI writes to its transcripts to a session
// store. It has a goroutine of its own: the CLI's requests are answered while the
// store works, but for a short time before a result is read.
type mirror struct {
	store   sessions.Store
	lost    func(key sessions.Key, err error) // reports lines that the store did not take
	waiting queue[mirrorEntry]
	size    atomic.Int64    // of the lines that wait
	flushed chan struct{}   // closed once the store has what the last flush waits for
	caller  context.Context // of the run; after its end the store is waited for a short time
	ctx     context.Context // of the store's work
	cancel  context.CancelFunc
	done    chan struct{}
}

// A mirrorEntry is lines for the store, or the question whether those before it
// are stored.
type mirrorEntry struct {
	file   string
	lines  []json.RawMessage
	size   int64
	stored chan struct{}
}

const (
	appendAttempts = 3
	appendTimeout  = 30 * time.Second
	flushTimeout   = 10 * time.Second
	maxMirrored    = 64 << 20 // bytes that may wait for the store
)

// newMirror returns a mirror to a store, nil without a store. The store's contexts have
// the values of ctx, and outlive it.
func newMirror(ctx context.Context, store sessions.Store, lost func(sessions.Key, error)) *mirror {
	if store == nil {
		return nil
	}
	m := &mirror{store: store, lost: lost, caller: ctx, done: make(chan struct{})}
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go m.work()
	return m
}

func (m *mirror) add(t *control.Mirror) {
	if m.size.Load() > maxMirrored && !m.flush() {
		key, _ := new(sessions.Disk).Key(t.File)
		m.lost(key, errSlowStore)
		return
	}
	m.size.Add(t.Size)
	m.waiting.put(mirrorEntry{file: t.File, lines: t.Lines, size: t.Size})
}

var errSlowStore = errors.New("the session store is too slow")

// flush waits a short time until the store has what was added. It reports whether it has.
// While the store does not have what an earlier flush waited for, flush does not wait:
// the reader, with the CLI's requests behind it, would wait again for each line.
func (m *mirror) flush() bool {
	if m.flushed != nil {
		select {
		case <-m.flushed:
		default:
			return false
		}
	}
	stored := make(chan struct{})
	if !m.waiting.put(mirrorEntry{stored: stored}) {
		return false
	}
	m.flushed = stored
	select {
	case <-stored:
		return true
	case <-m.caller.Done():
	case <-time.After(flushTimeout):
	}
	return false
}

// close waits for the store, but not for ever: a store may ignore its context.
func (m *mirror) close() {
	m.waiting.end()
	limit := 2 * appendTimeout
	if m.caller.Err() != nil {
		limit = flushTimeout
	}
	ended := func(limit time.Duration) bool {
		select {
		case <-m.done:
			return true
		case <-time.After(limit):
			return false
		}
	}
	inTime := ended(limit)
	if m.cancel(); !inTime && !ended(time.Second) {
		m.lost(sessions.Key{}, errSlowStore)
	}
}

func (m *mirror) work() {
	defer close(m.done)
	for {
		next, err := m.waiting.next(context.Background())
		if err != nil {
			return
		}
		if next.stored != nil {
			close(next.stored)
			continue
		}
		key, err := new(sessions.Disk).Key(next.file)
		if err == nil {
			err = m.append(key, next.lines)
		}
		m.size.Add(-next.size)
		if err != nil {
			m.lost(key, err)
		}
	}
}

// append tries again, except after a timeout: those lines may still arrive.
func (m *mirror) append(key sessions.Key, lines []json.RawMessage) (err error) {
	for attempt, pause := 1, 200*time.Millisecond; ; attempt, pause = attempt+1, 4*pause {
		if m.ctx.Err() != nil {
			return cmp.Or(err, errSlowStore)
		}
		ctx, cancel := context.WithTimeout(m.ctx, appendTimeout)
		_, err = callGuarded(func() (struct{}, error) { return struct{}{}, m.store.Append(ctx, key, lines) })
		late := ctx.Err() != nil
		cancel()
		if err == nil || late || attempt == appendAttempts {
			return err
		}
		select {
		case <-time.After(pause):
		case <-m.ctx.Done():
			return err
		}
	}
}

// mirrorError is the message of the official SDKs about lines that the store does
// not have.
func mirrorError(key sessions.Key, err error) []byte {
	line, _ := json.Marshal(map[string]any{ // texts only
		"type": "system", "subtype": "mirror_error", "uuid": ids.NewUUID(), "session_id": key.SessionID, "error": err.Error(),
		"key": map[string]string{"project_key": key.Project, "session_id": key.SessionID, "subpath": key.Agent},
	})
	return line
}

// restore brings the CLI's own files of the session that is continued up to date
// from the session store. A session that the store does not have is left to the CLI.
func (o *Options) restore(ctx context.Context) (*Options, error) {
	if o.SessionStore == nil || !o.Continue && o.Resume == "" {
		return o, nil
	}
	s, err := callGuarded(func() (*sessions.Session, error) {
		s, err := o.storedSession(ctx)
		if err == nil {
			err = s.CopyTo(ctx, &sessions.Disk{ConfigDir: o.configDir()})
		}
		return s, err
	})
	if s == nil && errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	switch {
	case s != nil && errors.Is(err, sessions.ErrGap): // the CLI removes lines of its own files
		warn(o.logger(), "continued the CLI's own files, which lack lines that the session store has", err, "session", s.SessionID)
	case err != nil:
		return nil, fmt.Errorf("restore the session from the session store: %w", err)
	}
	c := *o
	c.Resume, c.Continue = s.SessionID, false
	return &c, nil
}

// storedSession returns the session to continue.
func (o *Options) storedSession(ctx context.Context) (*sessions.Session, error) {
	where := &sessions.Options{Dir: cmp.Or(o.Dir, "."), Store: o.SessionStore}
	if o.Resume != "" {
		return sessions.Get(ctx, o.Resume, where)
	}
	for s, err := range sessions.List(ctx, where) {
		return s, err
	}
	return nil, fs.ErrNotExist
}

// mirrorsItself reports whether the session store is where the CLI writes.
func (o *Options) mirrorsItself() bool {
	d, ok := o.SessionStore.(*sessions.Disk)
	if !ok {
		return false
	}
	its, ours := cmp.Or(d.ConfigDir, o.configDir()), o.configDir()
	a, err1 := os.Stat(its)
	b, err2 := os.Stat(ours)
	return filepath.Clean(its) == filepath.Clean(ours) || err1 == nil && err2 == nil && os.SameFile(a, b)
}

// configDir is the CLI's folder of configuration, empty for that of this process.
func (o *Options) configDir() string {
	variable := func(name string) string {
		value := os.Getenv(name)
		for _, entry := range o.Env {
			if environ.Name(entry) == name {
				value = strings.TrimPrefix(entry[len(name):], "=")
			}
		}
		return value
	}
	dir, home := variable("CLAUDE_CONFIG_DIR"), variable("HOME")
	if dir == "" && home != "" {
		dir = filepath.Join(home, ".claude")
	}
	return dir
}
