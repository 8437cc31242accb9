package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/dev/screen"
)

// A person talks to a chat at a terminal of 80 columns and 24 rows.
type person struct {
	*testing.T
	*screen.Terminal
	chat *Chat
}

func newPerson(t *testing.T, o Options) *person {
	t.Helper()
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	s, err := screen.OpenTerminal(80, 24)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	o.Session, o.Out, o.Err, o.In = agent.NewSession(), terminal.Safe(s.File), terminal.Safe(s.File), terminal.NewLines(s.File, terminal.Safe(s.File))
	return &person{t, s, New(&o)}
}

func (p *person) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *person) types(keys string) {
	p.Helper()
	p.check(p.Type(keys))
}

// sees waits for a picture.
func (p *person) sees(want string) {
	p.Helper()
	want = strings.TrimPrefix(want, "\n")
	if err := p.Until("this picture", func(rows string) bool { return rows == want }); err != nil {
		p.Fatalf("%s\n%s", err, cmp.Diff(want, p.String()))
	}
}

// TestPictureOfApproval: the question is answered by a single key.
func TestPictureOfApproval(t *testing.T) {
	p := newPerson(t, Options{Ours: map[string]bool{"bash": true}})
	yes := true
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "bash", Annotations: toolpost.Annotations{Destructive: &yes, OpenWorld: &yes}}}
	decisions := make(chan agent.Decision, 1)
	ask := func(command string) {
		go func() {
			d, err := p.chat.approver.decide(t.Context(), &agent.Request{Name: "bash", Tool: tool, Arguments: []byte(`{"command":"` + command + `"}`)})
			if err != nil {
				d.Reason = err.Error()
			}
			decisions <- d
		}()
	}
	ask(`rm -r build`)
	p.sees(`

The model wants to run bash (it may overwrite or delete, it may reach beyond
this machine)
  rm -r build
Run it? y yes · n no · e edit · a always in this session · v view all:
`)
	p.types("v")
	p.check(p.Await("v\r\n"))
	p.check(p.Await("view all: "))
	p.types("n")
	p.check(p.Await("Why not? The model reads it (Enter for no reason): "))
	p.types("not now\r")
	if d := <-decisions; d.Allow || d.Reason != "not now" {
		t.Errorf("%+v", d)
	}
	ask("make test")
	p.check(p.Await("view all: "))
	p.types("A")
	if d := <-decisions; !d.Allow {
		t.Errorf("%+v", d)
	}
	ask("make lint")
	if d := <-decisions; !d.Allow {
		t.Errorf("the user is asked again: %+v", d)
	}
	p.sees(`

The model wants to run bash (it may overwrite or delete, it may reach beyond
this machine)
  rm -r build
Run it? y yes · n no · e edit · a always in this session · v view all: v

The model wants to run bash (it may overwrite or delete, it may reach beyond
this machine)
  rm -r build
Run it? y yes · n no · e edit · a always in this session · v view all: n
Why not? The model reads it (Enter for no reason): not now

The model wants to run bash (it may overwrite or delete, it may reach beyond
this machine)
  make test
Run it? y yes · n no · e edit · a always in this session · v view all: a
`)
}

// typing is written when a line begins to be read.
const typing = "\x1b[?2004h"

// TestPictureOfCompletion: Tab completes commands, and files after an @.
func TestPictureOfCompletion(t *testing.T) {
	files := []string{"docs/", "docs/chat.md", "docs/chart.md", "docs/\x1b[2J", "main.go"}
	p := newPerson(t, Options{Files: func(beginning string) (found []string) {
		for _, f := range files {
			if strings.HasPrefix(f, beginning) && (strings.Contains(beginning, "/") || strings.Count(f, "/") == 0 || strings.HasSuffix(f, "/")) {
				found = append(found, f)
			}
		}
		return found
	}})
	lines := make(chan string, 1)
	read := func() {
		line, err := p.chat.readPrompt(t.Context())
		if err != nil {
			line = err.Error()
		}
		lines <- line
	}
	go read()
	p.check(p.Await(typing))
	p.types("/co\t")
	p.sees(`
/cost /compact /continue
> /co
`)
	p.types("st\t\r")
	if line := <-lines; line != "/cost" {
		t.Errorf("got %q", line)
	}
	go read()
	p.check(p.Await(typing))
	p.types("read @d\tch\t\t")
	p.sees(`
/cost /compact /continue
> /cost
@docs/chat.md @docs/chart.md
> read @docs/cha
`)
	p.types("t\tand @m\t\r")
	if line := <-lines; line != "read @docs/chat.md and @main.go" {
		t.Errorf("got %q", line)
	}
}

// TestPictureOfQuestion: what a tool asks breaks at words. Nothing moves while it is
// answered; then the call goes on.
func TestPictureOfQuestion(t *testing.T) {
	p := newPerson(t, Options{})
	call := &agent.Request{ID: "1", Name: "deploy", Arguments: []byte(`{}`)}
	p.chat.view.begin()
	p.check(p.chat.show(t.Context(), &agent.Event{Type: agent.EventCall, Call: call}))
	answers := make(chan string, 1)
	go func() {
		answer, err := questioner{watcher{p.chat}}.Request(t.Context(), "elicitation/create", []byte(`{"message":"The release of today goes to all customers in the whole world, and nobody can take it back. Really?"}`))
		answers <- fmt.Sprint(string(answer), err)
	}()
	p.sees(`

a tool asks you; do not type passwords or keys, it receives what you type:
  The release of today goes to all customers in the whole world, and nobody can
  take it back. Really?
Answer a tool? y yes · n no:
`)
	shown := make(chan error, 1)
	go func() {
		shown <- p.chat.show(t.Context(), &agent.Event{Type: agent.EventNotice, Text: "meanwhile"})
	}()
	p.types("y")
	if got := <-answers; got != `{"action":"accept","content":{}}<nil>` {
		t.Error(got)
	}
	p.check(<-shown)
	p.chat.view.endTurn()
	p.sees(`

a tool asks you; do not type passwords or keys, it receives what you type:
  The release of today goes to all customers in the whole world, and nobody can
  take it back. Really?
Answer a tool? y yes · n no: y
meanwhile
`)
}
