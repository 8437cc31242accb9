package stdtool

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
)

// ShellOptions are the optional parts of [NewShell].
type ShellOptions struct {
	// Record keeps the output of one command. Nil keeps its beginning and its
	// end, in memory.
	Record func(ctx context.Context) Recorder

	Pass  []string      // variables that commands get beside those that all programs need; a name, or its beginning and *
	Env   []string      // the whole environment instead; nil means what is known of this process's
	Grace time.Duration // between asking a command to end and killing it; 2 seconds if 0
}

// A Shell runs commands in a folder: bash, bash_output and bash_kill. Commands
// may do whatever this process may; they are not confined to the folder.
// It is safe for concurrent use.
type Shell struct {
	toolpost.Base
	dir  string
	opts ShellOptions

	recording time.Duration // how long the end of a command waits for its output to be kept

	mu         sync.Mutex
	closed     bool
	running    map[*command]bool
	background []*command // oldest first, also those that have ended
}

// Commands in the background, of one session and of all.
const (
	maxRunning    = 16
	maxAllRunning = 64
	maxEnded      = 32 // that can still be asked for
	maxAllEnded   = 256
)

// NewShell returns the tools that run commands in dir. Close ends all that
// still runs.
func NewShell(dir string, opts *ShellOptions) *Shell {
	if opts == nil {
		opts = &ShellOptions{}
	}
	s := &Shell{dir: dir, opts: *opts, recording: 10 * time.Second, running: map[*command]bool{}}
	if abs, err := filepath.Abs(dir); err == nil {
		s.dir = abs
	}
	if s.opts.Record == nil {
		s.opts.Record = func(context.Context) Recorder { return &memory{} }
	}
	if s.opts.Grace <= 0 {
		s.opts.Grace = 2 * time.Second
	}
	return s
}

// Tools returns bash, bash_output and bash_kill.
func (s *Shell) Tools(context.Context) ([]*toolpost.Tool, error) {
	return toolpost.Tools{s.bash(), s.bashOutput(), s.bashKill()}, nil
}

// Close ends all commands and what they started. Their output is recorded when
// it returns.
func (s *Shell) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end(func(*command) bool { return true })
	return nil
}

// EndSession ends all commands of a session that is over, as Close does, and
// forgets them.
func (s *Shell) EndSession(session string) {
	its := func(c *command) bool { return c.session == session }
	s.mu.Lock()
	s.background = slices.DeleteFunc(s.background, its)
	s.mu.Unlock()
	s.end(its)
}

func (s *Shell) end(chosen func(*command) bool) {
	s.mu.Lock()
	var ending sync.WaitGroup
	for c := range s.running {
		if chosen(c) {
			ending.Go(func() {
				if c.process.end(); c.process.isGone() {
					select {
					case <-c.recorded:
					case <-time.After(s.recording): // the recorder is stuck
					}
				}
			})
		}
	}
	s.mu.Unlock()
	ending.Wait()
}

// start starts a command line, which outlives ctx. A limit of 0 is none.
func (s *Shell) start(ctx context.Context, line string, background bool, limit time.Duration) (*command, error) {
	path, err := findShell()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.opts.Env
	if cmd.Env == nil {
		cmd.Env = environment(s.opts.Pass)
	}
	cmd.Env = append(slices.Clip(cmd.Env), "PWD="+s.dir)

	record := s.opts.Record(context.WithoutCancel(ctx)) // not under the lock: it is not our code
	c, err := s.launch(ctx, cmd, record, background, limit)
	if err != nil {
		_ = record.Close() // it is empty
		return nil, err
	}
	go s.follow(c)
	return c, nil
}

// launch runs a command if its session may have one more.
func (s *Shell) launch(ctx context.Context, cmd *exec.Cmd, record Recorder, background bool, limit time.Duration) (c *command, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil { // its session may be over
		return nil, context.Cause(ctx)
	}
	call := toolpost.CallFrom(ctx)
	if err := s.admit(call.Session, background); err != nil {
		return nil, err
	}
	c = &command{
		session: call.Session, limit: limit, began: time.Now(),
		record: record, recorded: make(chan struct{}),
	}
	if background {
		c.id = "bash-" + strings.ToLower(rand.Text()[:16])
		c.unread = &headTail{}
	}
	if c.process, err = start(cmd, c, s.opts.Grace); err != nil {
		return nil, toolpost.Failed.Errorf("the command could not be started: %v", withoutPath(err))
	}
	s.running[c] = true
	if background {
		s.background = append(s.background, c)
	}
	return c, nil
}

// admit returns an error if no more commands may run.
func (s *Shell) admit(session string, background bool) error {
	own, all := 0, 0
	for c := range s.running {
		if c.id != "" {
			all++
			if c.session == session {
				own++
			}
		}
	}
	switch {
	case s.closed:
		return toolpost.Failed.Errorf("commands cannot be run any more: this server is stopping")
	case background && own >= maxRunning:
		return toolpost.Retry.Errorf("%d commands are running in the background, and the limit is %d: end one with bash_kill", own, maxRunning)
	case background && all >= maxAllRunning:
		return toolpost.Failed.Errorf("%d commands of all sessions are running in the background, and the limit is %d: run this one in the foreground, or try again later", all, maxAllRunning)
	}
	return nil
}

// follow forgets a command that has ended, unless it can still be asked for.
func (s *Shell) follow(c *command) {
	c.follow()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, c)
	own, all := 0, 0
	for i, o := range slices.Backward(s.background) {
		if s.running[o] {
			continue
		}
		all++
		if o.session == c.session {
			own++
		}
		if all > maxAllEnded || own > maxEnded && o.session == c.session {
			s.background = slices.Delete(s.background, i, i+1)
		}
	}
}

// find returns the command in the background that has the id, if the caller may
// see it: clients that share a session by its identity alone may differ.
func (s *Shell) find(ctx context.Context, id string) (*command, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	holder := toolpost.CallFrom(ctx).Session
	for _, c := range s.background {
		if c.session == holder && c.id == id {
			return c, nil
		}
	}
	return nil, toolpost.Retry.Errorf("no background command has the id %q: give the id that bash returned, or start one with bash and background true", id)
}

func findShell() (string, error) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", toolpost.Failed.Errorf("neither bash nor sh was found: ask the user to install one in a folder of PATH")
}

// withoutPath leaves out where the served folder is.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
