package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

// decisions approves calls by their tools' names.
func decisions(all map[string]agent.Decision) *agent.Options {
	return &agent.Options{Approve: func(_ context.Context, c *agent.Request) (agent.Decision, error) { return all[c.Name], nil }}
}

func TestApprove(t *testing.T) {
	tools := toolpost.Tools{tool("read", echo), tool("write", echo), tool("send", echo)}
	m := turns(t, []model.Part{call(1, "read", `{"text":"a"}`), call(2, "write", `{"text":"b"}`), call(3, "send", `{"text":"c"}`)}, say("Done."))
	s := agent.NewSession()
	do(t, agent.New(m, tools, decisions(map[string]agent.Decision{
		"read":  {Allow: true},
		"write": {Reason: "not today"},
		"send":  {Allow: true, Arguments: json.RawMessage(`{"text":"edited"}`)},
	})), s, prompt("Go"))
	got := outputs(s)
	if got[0] != "a" || !strings.Contains(got[1], "denied") || !strings.Contains(got[1], "not today") ||
		!strings.HasPrefix(got[2], "edited\n") || !strings.Contains(got[2], "user changed the arguments") {
		t.Errorf("%q", got)
	}
}

func TestApproveFails(t *testing.T) {
	for _, d := range []agent.Decision{{Allow: true, Wait: true}, {Arguments: json.RawMessage(`{}`)}, {Allow: true, Arguments: json.RawMessage(``)}, {Allow: true, Arguments: json.RawMessage(`[]`)}} {
		m := turns(t, []model.Part{call(1, "write", `{"text":"b"}`)})
		a := agent.New(m, toolpost.Tools{tool("write", func(context.Context, string) (string, error) { t.Error("the call ran"); return "", nil })},
			decisions(map[string]agent.Decision{"write": d}))
		if _, err := a.Do(t.Context(), agent.NewSession(), prompt("Go")); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
}

// TestZeroDecision: the zero Decision denies, when it is asked for, when it is given later,
// and when a file of a session does not say what was decided.
func TestZeroDecision(t *testing.T) {
	want := new(agent.Decision).Denial()
	tools := toolpost.Tools{tool("write", func(context.Context, string) (string, error) { t.Error("the call ran"); return "", nil })}
	for name, approved := range map[string]agent.Decision{"approve": {}, "decide": {Wait: true}, "file": {Wait: true}} {
		m := turns(t, []model.Part{call(1, "write", `{"text":"b"}`)}, say("Done."))
		a := agent.New(m, tools, decisions(map[string]agent.Decision{"write": approved}))
		path := filepath.Join(t.TempDir(), "session.jsonl")
		s := open(t, path)
		if got := do(t, a, s, prompt("Go")); len(got.Waiting) > 0 {
			if err := s.Decide(agent.Decision{Binding: got.Waiting[0].Binding}); err != nil {
				t.Fatal(err)
			}
			if name == "file" {
				s.Close()
				replaceIn(t, path, `"allow":false`, `"maybe":true`)
				s = open(t, path)
			}
			do(t, a, s)
		}
		if got := outputs(s); len(got) != 1 || !strings.HasSuffix(got[0], want) {
			t.Errorf("%s: the model reads %q, want %q", name, got, want)
		}
		s.Close()
	}
}

// replaceIn replaces a text of a file, which must have it.
func replaceIn(t *testing.T, path, from, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("the file has no %s: %v", from, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWait decides a call in another process than the one that ran its siblings.
func TestWait(t *testing.T) {
	for _, hold := range []bool{false, true} {
		var mu sync.Mutex
		var ran []string
		note := func(name string) *toolpost.Tool {
			return tool(name, func(_ context.Context, text string) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, name+" "+text)
				return "", nil
			})
		}
		tools := toolpost.Tools{note("read"), note("write")}
		m := turns(t, []model.Part{call(1, "read", `{"text":"a"}`), call(2, "write", `{"text":"b"}`)}, say("Done."))
		o := decisions(map[string]agent.Decision{"read": {Allow: true}, "write": {Wait: true}})
		o.Hold = hold
		path := filepath.Join(t.TempDir(), "session.jsonl")
		s := open(t, path)
		got := do(t, agent.New(m, tools, o), s, prompt("Go"))
		if got.Stop != agent.StopApproval || len(got.Waiting) != 1 || got.Waiting[0].Name != "write" {
			t.Fatalf("%+v", got)
		}
		want := []string{"read a"}
		if hold {
			want = nil
		}
		if !slices.Equal(ran, want) {
			t.Errorf("hold %v: %q ran, want %q", hold, ran, want)
		}
		s.Close()

		s = open(t, path)
		again := do(t, agent.New(m, tools, o), s)
		if again.Stop != agent.StopApproval || again.Waiting[0].Binding != got.Waiting[0].Binding {
			t.Errorf("%+v", again)
		}
		for _, binding := range []string{"", "x" + again.Waiting[0].Binding} {
			if err := s.Decide(agent.Decision{Allow: true, Binding: binding}); err == nil {
				t.Errorf("a decision for %q is accepted", binding)
			}
		}
		if err := s.Decide(agent.Decision{Allow: true, Binding: again.Waiting[0].Binding}); err != nil {
			t.Fatal(err)
		}
		s.Close()

		s = open(t, path)
		if end := do(t, agent.New(m, tools, o), s); end.Text != "Done." {
			t.Errorf("%+v", end)
		}
		if slices.Sort(ran); !slices.Equal(ran, []string{"read a", "write b"}) {
			t.Errorf("hold %v: %q ran", hold, ran)
		}
	}
}

// TestDecisionOfAnotherTool has the tool change between the decision and the call.
func TestDecisionOfAnotherTool(t *testing.T) {
	m := turns(t, []model.Part{call(1, "write", `{"text":"b"}`)})
	o := decisions(map[string]agent.Decision{"write": {Wait: true}})
	s := agent.NewSession()
	got := do(t, agent.New(m, toolpost.Tools{tool("write", echo)}, o), s, prompt("Go"))
	if err := s.Decide(agent.Decision{Allow: true, Binding: got.Waiting[0].Binding}); err != nil {
		t.Fatal(err)
	}
	other := tool("write", func(context.Context, string) (string, error) { t.Error("the changed tool ran"); return "", nil })
	other.Description = "Another tool."
	if got := do(t, agent.New(m, toolpost.Tools{other}, o), s); got.Stop != agent.StopApproval {
		t.Errorf("%+v", got)
	}
}

// TestDecisionOfOthers: a session file that brings a decision of its own is asked about.
func TestDecisionOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	ran := 0
	tools := toolpost.Tools{tool("write", func(context.Context, string) (string, error) { ran++; return "", nil })}
	wait := func(context.Context, *agent.Request) (agent.Decision, error) {
		return agent.Decision{Wait: true}, nil
	}
	s := open(t, path)
	theirs := do(t, agent.New(turns(t, []model.Part{call(1, "write", `{"text":"x"}`)}), tools, &agent.Options{Approve: wait, Key: []byte("theirs")}), s, prompt("Go"))
	if err := s.Decide(agent.Decision{Allow: true, Binding: theirs.Waiting[0].Binding}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, path)
	ours := func(approve func(context.Context, *agent.Request) (agent.Decision, error)) *agent.Agent {
		return agent.New(turns(t, say("Done.")), tools, &agent.Options{Approve: approve, Key: []byte("ours")})
	}
	got := do(t, ours(wait), s)
	if got.Stop != agent.StopApproval || got.Waiting[0].Binding == theirs.Waiting[0].Binding || ran != 0 {
		t.Errorf("%+v, the call ran %d times", got, ran)
	}
	if err := s.Decide(agent.Decision{Allow: true, Binding: theirs.Waiting[0].Binding}); err == nil {
		t.Error("the decision of others is accepted")
	}
}
