package claude_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
)

// deaf plays a CLI that reads no more once it was introduced.
func deaf(f *fake) {
	f.begin()
	select {}
}

// told plays a CLI that works until it is interrupted, and tells what comes
// first: the interrupt or the end of its input.
func told(f *fake) {
	f.begin()
	uuid := f.prompt()
	f.write(state("running"), initLine(nil), assistant("I work"))
	l := f.take("an interrupt", isRequest("interrupt"))
	if l == nil {
		fmt.Fprintln(os.Stderr, "the input ended")
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "interrupted")
	f.write(success(l.text("request_id"), object{"still_queued": []any{}}), aborted(uuid), state("idle"))
	if l := f.take("a prompt", isUser); l != nil {
		f.write(state("running"), result("again", object{"user_message_uuids": []any{l.text("uuid")}}), state("idle"))
	}
}

func aborted(uuid string) object {
	return result("", object{"subtype": "error_during_execution", "is_error": true, "result": nil, "errors": []any{"interrupted"},
		"terminal_reason": "aborted_streaming", "user_message_uuids": []any{uuid}})
}

// queued plays a CLI that works on one prompt while another waits, and lets that
// be taken back.
func queued(f *fake) {
	lifecycle := func(uuid, state string) object {
		return object{"type": "command_lifecycle", "command_uuid": uuid, "state": state, "session_id": session, "uuid": "u"}
	}
	f.begin()
	first := f.prompt()
	f.write(lifecycle(first, "started"), state("running"), initLine(nil))
	second := f.prompt()
	f.write(lifecycle(second, "queued"), assistant("queued"))
	l := f.request("cancel_async_message")
	f.write(success(l.text("request_id"), object{"cancelled": l.text("request", "message_uuid") == second}),
		lifecycle(second, "cancelled"), result("first", object{"user_message_uuids": []any{first}}), state("idle"))
}

// dialog plays a CLI that asks for a dialog, which somebody else may answer.
func dialog(f *fake) {
	f.begin()
	f.prompt()
	f.write(initLine(nil), object{"type": "control_request", "request_id": "d", "request": object{"subtype": "request_user_dialog"}},
		result("done", nil), state("idle"))
	if l := f.take("the end of the input", isAnswer("d")); l != nil {
		complain("the dialog was answered: %s", encode(l))
	}
}

// unreadable answers initialize with what is no answer.
func unreadable(f *fake) {
	f.request("initialize")
	f.write(`{"type":"control_response","response":{"subtype":7}}`)
}

// unfinished never gets idle after its result.
func unfinished(f *fake) {
	f.begin()
	f.prompt()
	f.write(state("running"), initLine(nil), result("done", nil))
}

// lines collects what a fake writes to its error output.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// TestDeafCLI: a CLI that does not read keeps nobody waiting.
func TestDeafCLI(t *testing.T) {
	big := strings.Repeat("long ", 1<<18)
	o := options(t, "deaf")
	o.Grace = 100 * time.Millisecond
	ended := errors.New("ended by the test")
	for _, test := range []struct {
		name string
		work func(ctx context.Context) error
	}{
		{"run", func(ctx context.Context) error {
			_, err := collect(claude.Run(ctx, big, o))
			return err
		}},
		{"turn", func(ctx context.Context) error {
			s, err := claude.Open(t.Context(), o)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = collect(s.Turn(ctx, big))
			return err
		}},
		{"control", func(ctx context.Context) error {
			s, err := claude.Open(t.Context(), o)
			if err != nil {
				return err
			}
			defer s.Close()
			if _, err := s.Send(ctx, big); err != nil {
				return err
			}
			if err := s.Control().SetModel(ctx, "other"); err == nil {
				return errors.New("the model was set")
			}
			return context.Cause(ctx)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, ended)
			defer cancel()
			if err := test.work(ctx); !errors.Is(err, ended) {
				t.Errorf("it ends with %v, want the cause of its context", err)
			}
			leaks(t)
		})
	}
}

// TestLeftLoopInterrupts: who leaves the loop of a run has its work ended, not
// finished.
func TestLeftLoopInterrupts(t *testing.T) {
	var said lines
	o := options(t, "told")
	o.Stderr = said.add
	for m, err := range claude.Run(t.Context(), "go", o) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Head().Type == "assistant" {
			break
		}
	}
	if said.text() != "interrupted" {
		t.Errorf("the CLI saw %q first, want the interrupt", said.text())
	}
}

// TestLeftTurn: the next turn begins with its own messages.
func TestLeftTurn(t *testing.T) {
	s, err := claude.Open(t.Context(), options(t, "told"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for m, err := range s.Turn(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if m.Head().Type == "assistant" {
			break
		}
	}
	all, err := collect(s.Turn(t.Context(), "again"))
	if r := results(all); err != nil || len(r) != 1 || r[0] != "again" {
		t.Errorf("the next turn has the results %q (%v)", r, err)
	}
}

// TestQueuedTurn: the end of a turn that waits does not end the one that runs.
func TestQueuedTurn(t *testing.T) {
	s, err := claude.Open(t.Context(), options(t, "queued"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Send(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := collect(func(yield func(message.Message, error) bool) {
		for m, err := range s.Turn(ctx, "second") {
			if m != nil && m.Head().Type == "assistant" {
				cancel()
			}
			if !yield(m, err) {
				return
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the turn that waited ends with %v", err)
	}
	for len(results(all)) == 0 {
		for m, err := range s.Messages(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
			break
		}
	}
	if r := results(all); len(r) != 1 || r[0] != "first" {
		t.Errorf("the turn that ran has the results %q", r)
	}
}

func TestDialog(t *testing.T) {
	if _, err := run(t, "dialog", "go", options(t, "dialog")); err != nil {
		t.Error(err)
	}
}

// TestUnreadableStart: what cannot be read at the start is why it fails.
func TestUnreadableStart(t *testing.T) {
	var bad *message.ParseError
	if _, err := claude.Open(t.Context(), options(t, "unreadable")); !errors.As(err, &bad) || bad.Type != "control_response" {
		t.Errorf("Open ends with %v, want a *message.ParseError", err)
	}
}

func TestUnfinished(t *testing.T) {
	o := options(t, "unfinished")
	o.IdleTimeout = 100 * time.Millisecond
	if _, err := run(t, "unfinished", "go", o); !errors.Is(err, claude.ErrUnfinished) {
		t.Errorf("the run ends with %v, want %v", err, claude.ErrUnfinished)
	}
}

func TestClosedSession(t *testing.T) {
	s, err := claude.Open(t.Context(), options(t, "echo"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, sent := s.Send(t.Context(), "go")
	_, turned := collect(s.Turn(t.Context(), "go"))
	_, interrupted := s.Interrupt(t.Context())
	for what, err := range map[string]error{"Send": sent, "Turn": turned, "Interrupt": interrupted} {
		if !errors.Is(err, claude.ErrClosed) {
			t.Errorf("%s after Close ends with %v, want %v", what, err, claude.ErrClosed)
		}
	}
}
