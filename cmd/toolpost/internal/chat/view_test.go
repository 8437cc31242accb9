package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// onScreen returns a view on a terminal of a size.
func onScreen(out io.Writer, size func() (width, height int)) *view {
	v := newView(out, out)
	v.size = size
	width, _ := size()
	v.answer.width, v.notes.width = width, width
	v.markdown = newMarkdown(width)
	return v
}

func wide(width int) func() (int, int) { return func() (int, int) { return width, 24 } }

const hostile = "\x1b]0;T\x07\x1b[2J\u009b2J\u202e\b\rEND"

// sequences are those that the view writes itself.
var sequences = regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\[[0-9]+A\r\x1b\[J`)

// TestViewIsNotSteered: no text of a model, a tool or a server reaches the
// terminal as it is.
func TestViewIsNotSteered(t *testing.T) {
	var screen bytes.Buffer
	v := onScreen(&screen, wide(60))
	call := &agent.Request{ID: "1", Name: "a" + hostile, Arguments: []byte(`{"` + "\u202e" + `\u001b[2J":"\u001b[2J ` + "\u009b" + `"}`)}
	edit := &agent.Request{ID: "2", Name: "edit", Arguments: []byte(`{}`)}
	todos := &agent.Request{ID: "3", Name: "write_todos", Arguments: []byte(`broken` + hostile)}
	events := []*agent.Event{
		{Type: agent.EventDelta, Delta: &model.Delta{Type: model.TypeText, Text: "# " + hostile + "\n```" + hostile + "\n" + hostile + "\n```\n| " + hostile + " |\n|---|\n| " + hostile + " |\n\n[" + hostile + "](" + hostile + ") `" + hostile}},
		{Type: agent.EventDelta, Delta: &model.Delta{Type: model.TypeCall, Name: hostile}},
		{Type: agent.EventDelta, Delta: &model.Delta{Restart: &model.Error{Text: hostile}}},
		{Type: agent.EventResponse, Response: &model.Response{Message: &model.Message{Parts: []model.Part{{Type: model.TypeText, Text: hostile}}}}},
		{Type: agent.EventCall, Call: call}, {Type: agent.EventCall, Call: edit}, {Type: agent.EventCall, Call: todos},
		{Type: agent.EventResult, Call: call, Result: &toolpost.ToolMessage{IsError: true, Text: hostile}},
		{Type: agent.EventResult, Call: edit, Result: &toolpost.ToolMessage{Text: "x\n@@ -1 +1 @@\n-" + hostile + "\n+" + hostile}},
		{Type: agent.EventResult, Call: todos, Result: &toolpost.ToolMessage{Text: "1 [pending] " + hostile}},
		{Type: agent.EventNotice, Text: hostile},
		{Type: agent.EventEnd, End: &agent.Result{Stop: agent.StopRefusal, Text: hostile, Usage: new(usage.Ledger)}},
	}
	for _, e := range events {
		if err := v.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range v.calls.all {
		v.say("%s", c.details(&v.notes))
	}
	c := &Chat{view: v, opts: Options{Ours: map[string]bool{"bash": true, "write": true}}}
	for name, arguments := range map[string]string{"bash": `{"command":"\u001b[2J"}`, "write": `{"path":"\u001b[2J","content":"\u001b[2J"}`, hostile: `{"a":"` + "\u202e" + `"}`} {
		c.showQuestion(&agent.Request{Name: name, Tool: &toolpost.Tool{}, Arguments: []byte(arguments)}, 0)
	}
	if rest := sequences.ReplaceAllString(screen.String(), ""); strings.ContainsAny(rest, "\x1b\r\b\x07\u009b\u202e") {
		t.Errorf("the terminal gets %q", rest)
	}
	if strings.Count(screen.String(), "END") < 12 {
		t.Errorf("texts are missing: %q", screen.String())
	}
}

func TestApprover(t *testing.T) {
	yes := true
	reads := toolpost.New("reads", "r", func(context.Context, struct{}) (string, error) { return "", nil }, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: &yes}})
	writes := toolpost.New("writes", "w", func(context.Context, struct{}) (string, error) { return "", nil }, nil)
	changed := toolpost.New("writes", "another text", func(context.Context, struct{}) (string, error) { return "", nil }, nil)
	asked := errors.New("asked")
	ask := func(context.Context, *agent.Request) (agent.Decision, error) { return agent.Decision{}, asked }
	invalid := &toolpost.Tool{Definition: toolpost.Definition{Name: "writes", Raw: []byte("[]")}}
	always := newApprover(Ask, nil, ask)
	always.always["writes"] = definition(writes)
	for name, tt := range map[string]struct {
		a    *approver
		call agent.Request
		want string // allow, wait or deny; empty if the user is asked
	}{
		"a tool that reads":                   {newApprover(Ask, nil, ask), agent.Request{Tool: reads}, "allow"},
		"a tool that writes":                  {newApprover(Ask, nil, ask), agent.Request{Tool: writes}, ""},
		"a definition that is not encoded":    {newApprover(Ask, nil, ask), agent.Request{Tool: invalid}, ""},
		"our own":                             {newApprover(DenyAll, []string{"writes"}, nil), agent.Request{Tool: writes}, "allow"},
		"without a person":                    {newApprover(Ask, nil, nil), agent.Request{Tool: writes}, "wait"},
		"--yes":                               {newApprover(AllowAll, nil, nil), agent.Request{Tool: writes}, "allow"},
		"--yes, interrupted":                  {newApprover(AllowAll, nil, nil), agent.Request{Tool: writes, Interrupted: true}, "deny"},
		"--deny":                              {newApprover(DenyAll, nil, ask), agent.Request{Tool: writes}, "deny"},
		"allowed for the session":             {always, agent.Request{Tool: writes}, "allow"},
		"allowed, with another definition":    {always, agent.Request{Tool: changed}, ""},
		"allowed, but its outcome is open":    {always, agent.Request{Tool: writes, Interrupted: true}, ""},
		"reads, although the outcome is open": {always, agent.Request{Tool: reads, Interrupted: true}, "allow"},
	} {
		tt.call.Name = tt.call.Tool.Name
		d, err := tt.a.decide(t.Context(), &tt.call)
		got := "deny"
		switch {
		case errors.Is(err, asked):
			got = ""
		case d.Allow:
			got = "allow"
		case d.Wait:
			got = "wait"
		}
		if got != tt.want {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
