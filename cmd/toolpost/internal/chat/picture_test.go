package chat

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/dev/screen"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A stage is a view on a screen, for events that come at known times.
type stage struct {
	*testing.T
	*screen.Screen
	*view
}

// onStage plays a turn on a terminal of 80 columns.
func onStage(t *testing.T, play func(s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := screen.New(80, 24)
		v := onScreen(s, s.Size)
		v.window = func() int { return 200_000 }
		v.begin()
		play(&stage{t, s, v})
		v.endTurn()
	})
}

func (s *stage) events(events ...*agent.Event) {
	s.Helper()
	for _, e := range events {
		if err := s.Event(e); err != nil {
			s.Fatal(err)
		}
	}
}

// shows compares what a person sees. The frame of the status is written as *.
func (s *stage) shows(want string) {
	s.Helper()
	synctest.Wait()
	got := regexp.MustCompile("(?m)^["+frames+"]").ReplaceAllString(s.All(), "*")
	if d := cmp.Diff(strings.TrimPrefix(want, "\n"), got); d != "" {
		s.Error(d)
	}
}

func writes(kind model.PartType, text string) *agent.Event {
	return &agent.Event{Type: agent.EventDelta, Delta: &model.Delta{Type: kind, Text: text}}
}

func callsTool(name string) *agent.Event {
	return &agent.Event{Type: agent.EventDelta, Delta: &model.Delta{Part: 1, Type: model.TypeCall, Name: name}}
}

// answers is a whole response.
func answers(text string, tokens usage.Tokens) *agent.Event {
	return &agent.Event{Type: agent.EventResponse, Response: &model.Response{Message: model.UserText(text), Usage: tokens}}
}

// TestPictureOfTurn shows a turn on a terminal.
func TestPictureOfTurn(t *testing.T) {
	onStage(t, func(s *stage) {
		call := &agent.Request{ID: "1", Name: "edit", Arguments: []byte(`{"path":"a.go","edits":[{"old_string":"a long text","new_string":"another text that is even longer than that"}]}`)}
		used := new(usage.Ledger)
		tokens := usage.Tokens{Input: 1000, CacheRead: 9000, Output: 1234, Reasoning: 1000}
		used.AddRequest("a/b", tokens, usage.Dollar/8, true)
		s.events(writes(model.TypeText, "I **ed"), writes(model.TypeText, "it** it."), answers("I **edit** it.", tokens),
			&agent.Event{Type: agent.EventCall, Call: call},
			&agent.Event{Type: agent.EventResult, Call: call, Result: &toolpost.ToolMessage{Text: "done\n--- a.go\n+++ a.go\n@@ -1 +1 @@\n-old\n+new\n same\n\nmore"}},
			&agent.Event{Type: agent.EventEnd, End: &agent.Result{Stop: agent.StopDone, Text: "All *done*", Turns: 2, Usage: used}})
		s.shows(`
I edit it.
✓ 1 edit path=a.go edits=[… 88 characters] · 0ms · 9 lines, 56 B
  @@ -1 +1 @@
  -old
  +new
   same

All done

0ms · 2 turns · 10,000 tokens in (90% cached), 1,234 out (1,000 thinking) ·
$0.1250 · 5% of the context
`)
	})
}

// TestPictureOfWaiting: what takes long shows for how long, and how much the model has
// written; nothing of it stays.
func TestPictureOfWaiting(t *testing.T) {
	onStage(t, func(s *stage) {
		s.shows("\n* waiting for the model\n")
		time.Sleep(3 * time.Second)
		s.shows("\n* waiting for the model · 3s\n")
		s.events(writes(model.TypeThinking, strings.Repeat("Hm. ", 1_500)))
		time.Sleep(72 * time.Second)
		s.shows("\n* thinking · 1m12s · 1,500 tokens out\n")
		s.events(writes(model.TypeText, "I write it."), callsTool("write"), writes(model.TypeCall, strings.Repeat("text", 500)))
		time.Sleep(2 * time.Second)
		s.shows("\nI write it.\n* the model calls write · 2s · 2,002 tokens out\n")
		s.events(answers("I write it.", usage.Tokens{Output: 2_345}))
		s.endTurn()
		s.shows("\nI write it.\n")
		s.begin()
		s.shows("\nI write it.\n* waiting for the model\n")
	})
}

// TestPictureOfCommand: the last lines of a command are shown while it runs.
func TestPictureOfCommand(t *testing.T) {
	onStage(t, func(s *stage) {
		call := &agent.Request{ID: "1", Name: "bash", Arguments: []byte(`{"command":"make test"}`)}
		out := s.watch("1") // the command may start before its event is shown
		write := func(text string) {
			if _, err := io.WriteString(out, text); err != nil {
				s.Fatal(err)
			}
		}
		write("go test ./...\n")
		s.events(answers("", usage.Tokens{Output: 30}), &agent.Event{Type: agent.EventCall, Call: call})
		s.shows("\n* bash command=\"make test\" · 30 tokens out\n  go test ./...\n")
		write("ok a\nok b\n\x1b[32mok c\x1b[0m\nok d\nok e\nload 10%\rload 20%\rload 30%")
		time.Sleep(4 * time.Second)
		s.shows(`
* bash command="make test" · 4s · 30 tokens out
  ok b
  ·[32mok c·[0m
  ok d
  ok e
  load 30%
`)
		write("\n" + strings.Repeat("long ", 500))
		time.Sleep(time.Second)
		s.shows(`
* bash command="make test" · 5s · 30 tokens out
  ·[32mok c·[0m
  ok d
  ok e
  load 30%
  long long long long long long long long long long long long long long long l…
`)
		s.events(&agent.Event{Type: agent.EventResult, Call: call, Result: &toolpost.ToolMessage{Text: "ok\n"}})
		write("late\n")
		s.shows("\n✓ 1 bash command=\"make test\" · 5s · 3 B\n* waiting for the model · 30 tokens out\n")
	})
}

// TestPictureOfLowTerminal: where lines cannot be changed in place, nothing moves.
func TestPictureOfLowTerminal(t *testing.T) {
	onStage(t, func(s *stage) {
		s.clearStatus()
		out := s.watch("1")
		for height := range 4 {
			s.Resize(80, height)
			s.events(&agent.Event{Type: agent.EventCall, Call: &agent.Request{ID: "1", Name: "bash", Arguments: []byte(`{}`)}})
			if _, err := io.WriteString(out, "a\nb\nc\n"); err != nil {
				s.Fatal(err)
			}
			time.Sleep(time.Second)
			if height < minHeight {
				s.shows("\n\n")
			}
		}
		s.events(&agent.Event{Type: agent.EventNotice, Text: "done"})
		s.shows("\ndone\n")
	})
}

// TestPictureOfProgress: what a server says about a call is shown while it runs.
func TestPictureOfProgress(t *testing.T) {
	onStage(t, func(s *stage) {
		proceed := make(chan struct{})
		tool := toolpost.New("index", "Indexes.", func(ctx context.Context, _ struct{}) (string, error) {
			call := toolpost.CallFrom(ctx)
			for i := range 3 {
				if err := call.Progress(ctx, float64(i), 3, "files \x1b[2J\n of docs"); err != nil {
					return "", err
				}
			}
			<-proceed
			return "done", call.Progress(ctx, 7, 0, "almost")
		}, nil)
		set, err := toolpost.NewSet(s.T.Context(), toolpost.Tools{tool})
		if err != nil {
			s.Fatal(err)
		}
		s.events(&agent.Event{Type: agent.EventCall, Call: &agent.Request{ID: "1", Name: "index", Arguments: []byte(`{}`)}})
		errs := make(chan error, 1)
		go func() {
			_, err := set.Call(s.T.Context(), &toolpost.Call{ID: "1", Name: "index", Arguments: []byte(`{}`), Caller: watcher{&Chat{view: s.view}}})
			errs <- err
		}()
		time.Sleep(time.Second)
		s.shows("\n* index · 1s\n  2 of 3 files ·[2J  of docs\n")
		close(proceed)
		time.Sleep(time.Second)
		s.shows("\n* index · 2s\n  almost\n")
		if err := <-errs; err != nil {
			s.Error(err)
		}
	})
}

// TestPictureOfResize: once the window has become narrower, new lines are broken once, at
// words, and nothing of the status stays. The terminal breaks the lines that it has.
func TestPictureOfResize(t *testing.T) {
	onStage(t, func(s *stage) {
		const text = "Text that is long enough to be broken into several lines, whatever the window is. "
		s.events(writes(model.TypeText, text+text+"\n\n"))
		s.events(writes(model.TypeThinking, "Hm."))
		s.Resize(60, 24)
		time.Sleep(time.Second)
		s.events(answers("", usage.Tokens{Output: 30}), writes(model.TypeText, text+text+"\n"))
		s.events(&agent.Event{Type: agent.EventNotice, Text: text})
		s.shows(`
Text that is long enough to be broken into several lines, wh
atever the window
is. Text that is long enough to be broken into several lines
, whatever the
window is.

Text that is long enough to be broken into several lines,
whatever the window is. Text that is long enough to be
broken into several lines, whatever the window is.
Text that is long enough to be broken into several lines,
whatever the window is.
`)
	})
}
