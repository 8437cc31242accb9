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
	"time"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
	"github.com/toolpost/toolpost/internal/environ"
)

// A mirror appends the lines that the CLI writes to its transcripts to a session
// store. It has a goroutine of its own: the CLI's requests are answered while the
// store works.
type mirror struct {
	store   sessions.Store
	lost    func(key sessions.Key, err error) // reports lines that the store did not take
	waiting queue[mirrored]
	size    int // of what was added since the last flush
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
}

// A mirrored is lines for the store, or the question whether those before it are
// stored.
type mirrored struct {
	file   string
	lines  []json.RawMessage
	stored chan struct{}
}

const (
	appendAttempts = 3
	appendTimeout  = 30 * time.Second
	maxMirrored    = 64 << 20 // bytes that may wait for the store
)

// newMirror returns nil if there is no store. The values of ctx are for the store.
func newMirror(ctx context.Context, store sessions.Store, lost func(sessions.Key, error)) *mirror {
	if store == nil {
		return nil
	}
	m := &mirror{store: store, lost: lost, done: make(chan struct{})}
	m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go m.work()
	return m
}

func (m *mirror) add(t *message.TranscriptMirror) {
	m.waiting.put(mirrored{file: t.FilePath, lines: t.Entries})
	if m.size += len(t.Raw); m.size > maxMirrored {
		m.flush()
	}
}

// flush waits until the store has what was added, but not for ever.
func (m *mirror) flush() {
	m.size = 0
	stored := make(chan struct{})
	if m.waiting.put(mirrored{stored: stored}) {
		select {
		case <-stored:
		case <-time.After(appendTimeout):
		}
	}
}

// close waits for the store, but not for ever.
func (m *mirror) close() {
	m.waiting.end()
	defer m.cancel()
	defer time.AfterFunc(2*appendTimeout, m.cancel).Stop()
	<-m.done
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
		key, err := sessions.ParseKey(next.file)
		if err == nil {
			err = m.append(key, next.lines)
		}
		if err != nil {
			m.lost(key, err)
		}
	}
}

// append tries again, except after a timeout: those lines may still arrive.
func (m *mirror) append(key sessions.Key, lines []json.RawMessage) (err error) {
	for attempt, pause := 1, 200*time.Millisecond; ; attempt, pause = attempt+1, 4*pause {
		ctx, cancel := context.WithTimeout(m.ctx, appendTimeout)
		_, err = guarded(func() (struct{}, error) { return struct{}{}, m.store.Append(ctx, key, lines) })
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
		"type": "system", "subtype": "mirror_error", "uuid": sessions.NewUUID(), "session_id": key.SessionID, "error": err.Error(),
		"key": map[string]string{"project_key": key.Project, "session_id": key.SessionID, "subpath": key.Agent},
	})
	return line
}

// restored brings the CLI's own files of the session that is continued up to date
// from the session store. A session that the store does not have is left to the CLI.
func (o *Options) restored(ctx context.Context) (*Options, error) {
	if o.SessionStore == nil || !o.Continue && o.Resume == "" {
		return o, nil
	}
	s, err := o.stored(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err == nil {
		err = s.CopyTo(ctx, &sessions.Disk{ConfigDir: o.configDir()})
	}
	if err != nil {
		return nil, fmt.Errorf("restore the session from the session store: %w", err)
	}
	c := *o
	c.Resume, c.Continue = s.SessionID, false
	return &c, nil
}

// stored returns the session to continue.
func (o *Options) stored(ctx context.Context) (*sessions.Session, error) {
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
	return ok && filepath.Clean(cmp.Or(d.ConfigDir, o.configDir())) == filepath.Clean(o.configDir())
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
