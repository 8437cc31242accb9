package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

func open(t testing.TB, path string) *agent.Session {
	t.Helper()
	s, err := agent.OpenSession(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestResumeEverywhere cuts the file of a session after every byte, as a crash
// could, and continues. No call that has a result runs again.
func TestResumeEverywhere(t *testing.T) {
	ran := map[string]int{}
	count := func(_ context.Context, text string) (string, error) { ran[text]++; return text, nil }
	tools := toolpost.Tools{tool("count", count, toolpost.Policy{Sequential: true}),
		tool("done", func(_ context.Context, text string) (string, error) { return "", toolpost.Done.Errorf("%s", text) }, toolpost.Policy{Sequential: true})}
	think := func(r *model.Request) ([]model.Part, error) {
		switch len(r.Messages) {
		case 1:
			return []model.Part{call(1, "count", `{"text":"a"}`), call(2, "count", `{"text":"b"}`)}, nil
		case 3:
			return []model.Part{call(3, "count", `{"text":"c"}`)}, nil
		}
		return []model.Part{call(4, "done", `{"text":"All counted."}`)}, nil
	}
	m := &script{t: t, think: think}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	want := do(t, agent.New(m, tools, nil), s, prompt("Count"))
	s.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := bytes.Index(whole, []byte(`"prompt"`)) + 1; n <= len(whole); n++ {
		if n > 0 && n < len(whole) && n%7 != 0 && whole[n-1] != '\n' {
			continue // most places within a line are alike
		}
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		clear(ran)
		s := open(t, path)
		if len(s.Messages()) == 0 {
			if s.Unfinished() {
				t.Fatalf("after %d bytes: an empty session is unfinished", n)
			}
			s.Close()
			continue // the prompt itself was cut off
		}
		if s.Unfinished() == (n == len(whole)) {
			t.Fatalf("after %d of %d bytes: unfinished is %v", n, len(whole), s.Unfinished())
		}
		got := do(t, agent.New(m, tools, nil), s)
		if got.Text != want.Text || got.Stop != agent.StopDone || s.Unfinished() {
			t.Fatalf("after %d bytes: %+v", n, got)
		}
		recorded := string(whole[:bytes.LastIndexByte(whole[:n], '\n')+1])
		for i, text := range []string{"a", "b", "c"} {
			intended := strings.Count(recorded, `"intent"`) > i
			if want := map[bool]int{true: 0, false: 1}[intended]; ran[text] != want {
				t.Fatalf("after %d bytes: %q ran %d times, want %d", n, text, ran[text], want)
			}
		}
		s.Close()
	}
}

// TestInterrupted has the process end while a call runs.
func TestInterrupted(t *testing.T) {
	yes := true
	write, read := tool("write", echo), tool("read", echo)
	read.Annotations.ReadOnly = &yes
	tools := toolpost.Tools{write, read}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	m := turns(t, []model.Part{call(1, "write", `{"text":"a"}`), call(2, "read", `{"text":"b"}`)}, say("Done."))
	do(t, agent.New(m, tools, nil), s, prompt("Go"))
	s.Close()
	whole, _ := os.ReadFile(path)
	var kept []string
	for line := range strings.Lines(string(whole)) {
		if strings.Contains(line, `"type":"result"`) {
			continue
		}
		kept = append(kept, line)
		if strings.Count(strings.Join(kept, ""), `"type":"intent"`) == 2 {
			break
		}
	}
	interrupt := func() *agent.Session {
		if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return open(t, path)
	}
	s = interrupt()
	do(t, agent.New(turns(t, say("Done.")), tools, nil), s)
	if got := outputs(s); !strings.Contains(got[0], "outcome is unknown") || got[1] != "b" {
		t.Errorf("the model received %q", got)
	}
	s.Close()

	for _, d := range []agent.Decision{{Allow: true}, {Reason: "it was done"}} {
		s = interrupt()
		var asked []*agent.Request
		do(t, agent.New(turns(t, say("Done.")), tools, &agent.Options{Approve: func(_ context.Context, c *agent.Request) (agent.Decision, error) {
			asked = append(asked, c)
			return d, nil
		}}), s)
		if len(asked) != 2 || !asked[0].Interrupted {
			t.Errorf("asked about %+v", asked)
		}
		if got := outputs(s)[0]; d.Allow && got != "a" || !d.Allow && !strings.Contains(got, "unknown") {
			t.Errorf("%+v: the model received %q", d, got)
		}
		s.Close()
	}
}

func TestOpenSession(t *testing.T) {
	folder := t.TempDir()
	for name, test := range map[string]struct{ text, want string }{
		"other":   {"{\"type\":\"prompt\",\"message\":{\"role\":\"user\"}}\n", "not a session"},
		"text":    {"Hello.\n", "line 1"},
		"version": {`{"type":"session","version":2,"id":"x"}` + "\n", "format 2"},
		"call":    {`{"type":"session","version":1,"id":"x"}` + "\n" + `{"type":"intent","call":3}` + "\n", "line 2"},
		"trim":    {`{"type":"session","version":1,"id":"x"}` + "\n" + `{"type":"trim","trimmed":[{"message":-1}]}` + "\n", "line 2"},
		"cut":     {`{"type":"session","version":1,"id":"x"}` + "\n" + `{"type":"compaction","until":1}` + "\n", "line 2"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := agent.OpenSession(path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if text, _ := os.ReadFile(path); string(text) != test.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	for _, path := range []string{folder, os.DevNull, "/dev/zero"} { // the last one never ends
		if s, err := agent.OpenSession(path); err == nil {
			s.Close()
			t.Errorf("%s is opened as a session", path)
		}
	}
	path := filepath.Join(folder, "held")
	s := open(t, path)
	if _, err := agent.OpenSession(path); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("a session was opened twice: %v", err)
	}
	s.Close()
	if _, err := agent.New(turns(t), nil, nil).Do(t.Context(), s, prompt("Go")); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
	if _, err := agent.New(turns(t), nil, nil).Do(t.Context(), agent.NewSession()); err == nil || !strings.Contains(err.Error(), "give a prompt") {
		t.Error(err)
	}
}

// TestSessionKeepsParts reads a session back that has every type of part.
func TestSessionKeepsParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	picture := toolpost.New("picture", "Shows a picture.", func(context.Context, struct{}) (*toolpost.Result, error) {
		return toolpost.NewResult(toolpost.Part{Type: "text", Text: "here"}, toolpost.Part{Type: "image", Data: []byte{1, 2}, MIMEType: "image/png"}), nil
	}, nil)
	m := turns(t, []model.Part{
		{Type: model.TypeThinking, Text: "hm", Raw: []byte(`{"type": "thinking",  "signature":"é<&>"}`)},
		{Type: model.TypeOpaque, Text: "server_tool", Raw: []byte("{\n}")},
		call(1, "picture", `{}`)}, say("Done."))
	do(t, agent.New(m, toolpost.Tools{picture}, nil), s, prompt("Look"), model.Part{Type: model.TypeImage, Data: []byte{3}, MIMEType: "image/png"},
		model.Part{Type: model.TypeDocument, Data: []byte{4}, MIMEType: "application/pdf", Name: "a.pdf"})
	want := s.Messages()
	s.Close()
	if diff := cmp.Diff(want, open(t, path).Messages(), cmpopts.IgnoreFields(toolpost.Part{}, "Raw")); diff != "" {
		t.Error(diff)
	}
	if string(want[1].Parts[0].Raw) != `{"type": "thinking",  "signature":"é<&>"}` || len(want[2].Parts[0].Result.Parts[1].Data) != 2 {
		t.Errorf("%+v", want)
	}
}

// TestKeep: the session keeps what its program gives it last.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	if s.Setup() != nil {
		t.Errorf("a new session has %s", s.Setup())
	}
	for _, setup := range []string{`{"a":1}`, `{"a":2}`} {
		if err := s.Keep(json.RawMessage(setup)); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if got := string(open(t, path).Setup()); got != `{"a":2}` {
		t.Errorf("got %s", got)
	}
}
