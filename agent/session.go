package agent

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A Session is a conversation and the state of its last run. A Session in a
// file survives the end of the process: what is recorded is not done again. It
// is safe for concurrent use, but only one run may use it at a time.
//
// The file has one JSON object a line and is only ever appended to. A call has
// two records: the intent before it runs, and the result after it.
type Session struct {
	mu      sync.Mutex
	state   state
	file    *os.File // nil if the session is only in memory
	size    int64    // of the complete records in the file
	broken  error    // why nothing can be recorded any more
	running bool
}

// NewSession returns an empty session in memory.
func NewSession() *Session {
	return &Session{state: state{id: rand.Text(), used: new(usage.Ledger), earlier: new(usage.Ledger)}}
}

// OpenSession opens the session in a file, and creates it if it does not exist.
// A last line that a crash cut off is removed. While the session is open, other
// processes cannot open it.
func OpenSession(path string) (*Session, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	s := &Session{file: f, state: state{used: new(usage.Ledger), earlier: new(usage.Ledger)}}
	if err := s.load(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open session %q: %w", path, err)
	}
	return s, nil
}

var errNotSession = errors.New("it is not a session: its first line does not say so")

func (s *Session) load() error {
	switch err := filelock.Try(s.file, true); {
	case errors.Is(err, filelock.ErrHeld):
		return errors.New("another process uses it; end that one first")
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		return err
	}
	if info, err := s.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return cmp.Or(err, errors.New("it is not a regular file"))
	}
	in := bufio.NewReaderSize(s.file, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF { // what follows the last end of a line was cut off
			if err := s.truncate(line); err != nil {
				return err
			}
			break
		}
		if err != nil {
			return err
		}
		if err := s.state.read(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		s.size += int64(len(line))
	}
	if s.size > 0 {
		if s.state.id == "" {
			return errNotSession
		}
		return nil
	}
	return s.append(&record{Type: recordStart, Version: sessionVersion, ID: rand.Text()})
}

// firstBytes is the beginning of every session.
const firstBytes = `{"type":"session"`

// truncate removes a last line that was cut off. A file that does not begin as a
// session does is another kind of file and stays as it is.
func (s *Session) truncate(line []byte) error {
	n := min(len(line), len(firstBytes))
	if n == 0 {
		return nil
	}
	if s.size == 0 && string(line[:n]) != firstBytes[:n] {
		return errNotSession
	}
	return s.file.Truncate(s.size)
}

func (s *state) read(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	return s.apply(&r)
}

// append records something. It is in the file when append returns: the end of
// the process does not undo it. A record that does not fit the state is not
// written, because OpenSession would refuse the file.
func (s *Session) append(r *record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	r.Time = time.Now().UTC()
	var line []byte
	if s.file != nil {
		raw, err := r.MarshalJSON()
		if err != nil {
			return fmt.Errorf("record in the session: %w", err)
		}
		line = append(raw, '\n')
	}
	if err := s.state.apply(r); err != nil {
		return err
	}
	if err := s.write(line); err != nil {
		s.broken = fmt.Errorf("record in the session: %w; open the session again once this is solved", err)
		return s.broken
	}
	return nil
}

func (s *Session) write(line []byte) error {
	if s.file == nil {
		return nil
	}
	n, err := s.file.WriteAt(line, s.size) // files that only append cannot be truncated on Windows
	if err != nil {
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(n)
	return nil
}

// begin reserves the session for a run.
func (s *Session) begin() (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return nil, errors.New("the session is used by another run; wait until it has ended")
	}
	s.running = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running = false
	}, nil
}

// ID returns the session's identifier, which its tools see as the session of
// their calls.
func (s *Session) ID() string { return s.state.id } // it never changes

// Usage returns the tokens, costs and calls of all runs, also of those that were
// cancelled.
func (s *Session) Usage() *usage.Ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.state.earlier.Clone()
	all.Add(s.state.total())
	return all
}

// Unfinished reports whether there is a run to continue without a prompt: one that
// was cancelled, that crashed, that reached a limit, or that waits for a decision. After a
// limit, it goes on only with a higher limit or a prompt.
func (s *Session) Unfinished() bool {
	now := s.snapshot()
	return len(now.messages) > 0 && (now.ended == nil || !isFinal(now.ended.Stop))
}

// WaitingCalls is how many calls wait for a decision. [Agent.Do] without a prompt returns them
// in Result.Waiting, and asks the model nothing meanwhile. A new prompt answers them as not
// run.
func (s *Session) WaitingCalls() (n int) {
	now := s.snapshot()
	if now.ended != nil && isFinal(now.ended.Stop) {
		return 0
	}
	for _, c := range now.batch {
		if c.result == nil && c.decision != nil && c.decision.Wait {
			n++
		}
	}
	return n
}

// Setup is the JSON that [Session.Keep] recorded last, nil if there is none.
func (s *Session) Setup() json.RawMessage { return s.snapshot().setup }

// Keep records what the program needs to continue the session as it began, such as the
// name of the model.
func (s *Session) Keep(setup json.RawMessage) error {
	return s.append(&record{Type: recordSetup, Setup: setup})
}

// Undo takes the last prompt and all that followed it out of the conversation. What
// its calls did stays done, and what it cost is still counted.
func (s *Session) Undo() error {
	end, err := s.begin()
	if err != nil {
		return err
	}
	defer end()
	return s.append(&record{Type: recordUndo})
}

// Messages returns the conversation as the model receives it.
func (s *Session) Messages() []*model.Message { return slices.Clone(s.snapshot().messages) }

// snapshot returns the state as it is now. It must not be changed. Its messages stay
// as they are: the state only appends to the list, or replaces it.
func (s *Session) snapshot() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.state
	now.messages = slices.Clip(now.messages)
	now.batch = nil
	for _, c := range s.state.batch {
		copied := *c
		now.batch = append(now.batch, &copied)
	}
	return now
}

// completed reports whether a call has completed the run.
func (s *Session) completed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.completed != nil
}

// responses returns the number of messages of the model.
func (s *Session) responses() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.responses
}

// Close closes the file.
func (s *Session) Close() error {
	if s.file == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = cmp.Or(s.broken, errors.New("the session is closed"))
	filelock.Release(s.file)
	return s.file.Close()
}

// abandon answers the calls that will not run, so that the conversation can
// continue with a new prompt.
func (s *Session) abandon(ctx context.Context) error {
	for _, c := range s.snapshot().batch {
		if c.result != nil {
			continue
		}
		text := "This call was not run: the user ended the run before it."
		if c.intents > 0 {
			text = interruptedText
		}
		if err := s.append(&record{Type: recordResult, Call: c.index, Result: errorMessage(c, "%s", text)}); err != nil {
			return err
		}
	}
	return ctx.Err()
}
