package claude

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude/cli"
	"github.com/toolpost/toolpost/claude/message"
)

// A Session is a conversation with one CLI. One goroutine at a time reads its
// messages; all other methods may be called from any, at any time.
type Session struct {
	opts   *Options
	conn   *conn
	tools  *tools
	output *outputWatch
	turns  turns
	inbox  inbox

	once   bool          // one prompt: the input is closed when it is done
	ready  chan struct{} // closed when the CLI has answered initialize, or ended
	info   json.RawMessage
	finish context.CancelCauseFunc // ends what works for this session
	end    func() error            // closes the run's dependencies
	ended  chan struct{}           // closed when the reader has ended
}

// ErrClosed reports a session that was closed.
var ErrClosed = errors.New("the session is closed; open another")

// Open starts the CLI for a conversation. When ctx ends, the session is
// interrupted and closed.
func Open(ctx context.Context, opts *Options) (*Session, error) {
	s, err := start(ctx, opts, false)
	if err != nil {
		return nil, err
	}
	if _, err := s.Info(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// start does not wait for the CLI: what is sent next is read in its turn.
func start(ctx context.Context, opts *Options, once bool) (*Session, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	run, end := toolpost.OpenScope(context.WithoutCancel(ctx), toolpost.PerRun)
	run, finish := context.WithCancelCause(run)
	s := &Session{
		opts: opts, once: once, output: newOutputWatch(opts.Output),
		ready: make(chan struct{}), ended: make(chan struct{}), finish: finish, end: end,
	}
	fail := func(err error) (*Session, error) {
		finish(err)
		return nil, errors.Join(err, end())
	}
	ts, err := openTools(run, opts)
	if err != nil {
		return fail(err)
	}
	s.tools = ts
	how, err := opts.process(ts)
	if err != nil {
		ts.close()
		return fail(err)
	}
	process, err := cli.Start(run, how)
	if err != nil {
		ts.close()
		return fail(err)
	}
	s.conn = newConn(run, process, opts.logger(), map[string]responder{
		"can_use_tool":  opts.permit,
		"hook_callback": opts.hook,
		"mcp_message":   ts.receive,
	})
	ts.connect(s.conn)
	stop := context.AfterFunc(ctx, func() { s.abort(context.Cause(ctx)) })
	go s.read(stop)
	return s, s.initialize(run)
}

// initialize sends the first request; ready is closed when it is answered.
func (s *Session) initialize(ctx context.Context) error {
	body, err := s.opts.initialize(s.tools)
	if err != nil {
		s.Close()
		return err
	}
	wait, err := s.conn.post("initialize", body)
	if err != nil {
		s.Close()
		return s.because(err)
	}
	go func() {
		defer close(s.ready)
		info, err := wait(ctx)
		if refused := (*RequestError)(nil); errors.As(err, &refused) {
			s.abort(err) // all other errors are those of a session that has ended
		}
		s.info = info
	}()
	return nil
}

// Info returns what the CLI said of itself at the start: its commands, models,
// account and capabilities, as JSON.
func (s *Session) Info(ctx context.Context) (json.RawMessage, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.info == nil {
		<-s.ended
		return nil, s.because(ErrClosed)
	}
	return s.info, nil
}

// Send queues a prompt and returns its UUID: the results that answer it name it
// in UserMessageUUIDs. Prompts that wait are often answered together.
func (s *Session) Send(ctx context.Context, prompt string) (uuid string, err error) {
	return s.SendContent(ctx, textContent(prompt))
}

func textContent(text string) any { return []map[string]string{{"type": "text", "text": text}} }

// SendContent is Send for content blocks of the Messages API, such as images.
// Content is their JSON or encodes as it.
func (s *Session) SendContent(ctx context.Context, content any) (uuid string, err error) {
	uuid = newUUID()
	return uuid, s.send(ctx, uuid, content, false)
}

func (s *Session) send(ctx context.Context, uuid string, content any, watch bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	line, err := json.Marshal(userLine{
		Type: "user", UUID: uuid, Message: userContent{Role: "user", Content: content},
	})
	if err != nil {
		return fmt.Errorf("encode the prompt: %w", err)
	}
	s.turns.sent(uuid, watch)
	if err := s.conn.process.WriteLine(line); err != nil {
		return s.because(err)
	}
	return nil
}

type userLine struct {
	Type            string      `json:"type"`
	UUID            string      `json:"uuid"`
	SessionID       string      `json:"session_id"`
	ParentToolUseID *string     `json:"parent_tool_use_id"`
	Message         userContent `json:"message"`
}

type userContent struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// Messages yields the messages that come, until the session ends or ctx does.
func (s *Session) Messages(ctx context.Context) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		for {
			m, err := s.inbox.next(ctx)
			if err == io.EOF {
				return
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Turn sends a prompt and yields messages up to the result that answers it. It
// ends with an error if the result is one. When ctx ends, the turn is
// interrupted; the session stays open.
func (s *Session) Turn(ctx context.Context, prompt string) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		uuid := newUUID()
		if err := s.send(ctx, uuid, textContent(prompt), true); err != nil {
			yield(nil, err)
			return
		}
		reading, stop := s.interruptible(ctx)
		defer stop()
		for m, err := range s.Messages(reading) {
			if err != nil {
				yield(nil, cmp.Or(context.Cause(ctx), err))
				return
			}
			result, _ := m.(*message.Result)
			if !yield(m, nil) {
				return
			}
			if result != nil && s.turns.answers(result, uuid) {
				if err := s.failure(result); err != nil {
					yield(nil, cmp.Or(context.Cause(ctx), err))
				}
				return
			}
		}
		yield(nil, s.because(ErrClosed))
	}
}

// interruptible returns a context that outlives ctx for as long as the CLI may
// take to tell that it was interrupted.
func (s *Session) interruptible(ctx context.Context) (reading context.Context, stop func()) {
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		patience, done := context.WithTimeout(reading, s.opts.grace())
		defer done()
		if _, err := s.Interrupt(patience); err != nil {
			cancel()
			return
		}
		<-patience.Done()
		cancel()
	})
	return reading, func() { unhook(); cancel() }
}

// Interrupt ends the turn that runs. It returns the UUIDs of prompts that still
// wait.
func (s *Session) Interrupt(ctx context.Context) (waiting []string, err error) {
	var answer struct {
		StillQueued []string `json:"still_queued"`
	}
	err = s.Control().Request(ctx, "interrupt", nil, &answer)
	return answer.StillQueued, err
}

// Control returns what can be asked of the CLI.
func (s *Session) Control() *Control { return &Control{s} }

// Close ends the CLI and waits until nothing of it is left. Calls that run are
// cancelled.
func (s *Session) Close() error {
	s.finish(ErrClosed)
	err := s.conn.process.Close()
	<-s.ended
	return err
}

// abort interrupts the CLI, gives it a moment to say its last, and ends it.
func (s *Session) abort(cause error) {
	s.inbox.because(cause)
	patience, done := context.WithTimeout(context.Background(), s.opts.grace())
	defer done()
	if wait, err := s.conn.post("interrupt", nil); err == nil {
		_, _ = wait(patience) // it is ended in any case
	}
	s.finish(cause)
	_ = s.conn.process.Close() // the cause is what is told
}

// read handles what the CLI writes until it ends.
func (s *Session) read(stop func() bool) {
	defer close(s.ended)
	parser := s.opts.parser()
	var last error
	for {
		line, err := s.conn.process.ReadLine()
		if err != nil {
			last = err
			break
		}
		m, err := parser.Parse(line)
		if err != nil {
			s.malformed(err)
			continue
		}
		if !s.conn.handle(m) {
			s.take(m)
		}
	}
	stop()
	s.turns.stop()
	s.inbox.end(s.last(last))
	s.conn.end(s.inbox.cause())
	s.finish(ErrClosed)
	s.tools.close()
	_ = s.conn.process.Close() // it has ended; its group may not have
	if err := s.end(); err != nil {
		s.opts.logger().Warn("close the dependencies of a run", "error", err)
	}
}

// take notes what a message means for the session, and queues it.
func (s *Session) take(m message.Message) {
	switch m := m.(type) {
	case *message.Init:
		if err := s.tools.arrived(m); err != nil {
			s.inbox.put(m, nil)
			s.inbox.put(nil, err)
			return
		}
	}
	s.output.see(m)
	s.inbox.put(m, nil)
	if s.turns.see(m) && s.once {
		_ = s.conn.process.CloseInput() // if it has ended, its last line tells
	} else if s.once {
		s.turns.expect(s.opts.idleTimeout(), func() { _ = s.conn.process.CloseInput() })
	}
}

func (s *Session) malformed(err error) {
	if s.opts.SkipMalformed {
		s.opts.logger().Warn("skip a malformed message", "error", err)
		return
	}
	s.inbox.put(nil, err)
}

// last is why the messages end, err being why the process did: io.EOF if nothing
// is wrong.
func (s *Session) last(err error) error {
	result := s.turns.result()
	if result != nil && s.once {
		if failure := s.failure(result); failure != nil {
			return failure
		}
	}
	exit := (*cli.ExitError)(nil)
	switch {
	case context.Cause(s.conn.ctx) == ErrClosed:
		return io.EOF
	case errors.As(err, &exit) && exit.Code == 1 && result != nil && result.IsError:
		return io.EOF // it exits so after such a result, which was told
	case err == io.EOF && s.once && result == nil:
		return ErrNoResult
	}
	return err
}

// failure is what is wrong with a result, nil if nothing is.
func (s *Session) failure(r *message.Result) error {
	if err := s.output.failure(r); err != nil {
		return err
	}
	if r.IsError && !s.output.recovered(r) {
		return resultError(r)
	}
	return nil
}

// because returns what ended the session in place of err, if it has ended.
func (s *Session) because(err error) error {
	if cause := s.inbox.cause(); cause != nil && cause != io.EOF {
		return cause
	}
	return err
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
