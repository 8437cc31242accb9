package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/stdtool"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/usage"
)

// long makes calls with long outputs until it has made enough, and answers
// requests for a summary.
func long(t *testing.T, enough int) (m *script, summaries *int) {
	n, summaries := 0, new(int)
	m = &script{t: t, input: func(r *model.Request) (tokens int) {
		for _, message := range r.Messages {
			for _, p := range message.Parts {
				tokens += (len(p.Text) + len(p.Arguments)) / 3
				if p.Result != nil {
					tokens += len(p.Result.Text) / 3
				}
			}
		}
		return tokens
	}}
	m.think = func(r *model.Request) ([]model.Part, error) {
		last := r.Messages[len(r.Messages)-1]
		if text := last.Parts[len(last.Parts)-1].Text; strings.HasPrefix(text, "The conversation is too long") {
			if *summaries++; !r.NoCalls || r.Tools == nil {
				t.Error("the request for a summary lacks the tools, or allows calls")
			}
			return say(fmt.Sprint("Summary ", *summaries)), nil
		}
		if n++; n > enough {
			return say("Done."), nil
		}
		return []model.Part{call(2*n, "echo", `{"text":"`+strings.Repeat("x", 2000)+fmt.Sprint(n)+`"}`), call(2*n+1, "write_todos", `{"todos":[{"content":"Count to the end","status":"in_progress"}]}`)}, nil
	}
	return m, summaries
}

func TestCompact(t *testing.T) {
	m, summaries := long(t, 20)
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	tools := toolpost.Join(toolpost.Tools{tool("echo", echo)}, stdtool.Todos(nil))
	notices := 0
	for e, err := range agent.New(m, tools, &agent.Options{Window: 10_000}).Run(t.Context(), s, prompt("Count for me")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == agent.EventNotice && strings.Contains(e.Text, "summary") {
			notices++
		}
	}
	if *summaries < 2 || notices != *summaries {
		t.Errorf("%d summaries, %d notices", *summaries, notices)
	}
	messages := s.Messages()
	if len(messages) > 20 {
		t.Errorf("%d messages remain", len(messages))
	}
	first := messages[0].Text()
	for _, want := range []string{fmt.Sprint("Summary ", *summaries), "Count for me", "Output of read_todos:", "Count to the end"} {
		if strings.Count(first, want) != 1 {
			t.Errorf("the summary should contain %q once:\n%s", want, first)
		}
	}
	s.Close()
	if diff := cmp.Diff(messages, open(t, path).Messages()); diff != "" {
		t.Error(diff)
	}
}

// TestCompactNow has the conversation summarized on request. What a session used in all
// of its runs is known afterwards, also from the file.
func TestCompactNow(t *testing.T) {
	m, summaries := long(t, 6)
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	a := agent.New(m, toolpost.Join(toolpost.Tools{tool("echo", echo)}, stdtool.Todos(nil)), nil)
	if n, err := a.Compact(t.Context(), s); n != 0 || err != nil {
		t.Errorf("of an empty session: %d, %v", n, err)
	}
	wait := func(context.Context, *agent.Request) (agent.Decision, error) {
		return agent.Decision{Wait: true}, nil
	}
	open1, _ := long(t, 1)
	waits := agent.NewSession()
	if r, _ := agent.New(open1, toolpost.Tools{tool("echo", echo)}, &agent.Options{Approve: wait}).Do(t.Context(), waits, prompt("Go")); r.Stop != agent.StopApproval {
		t.Fatalf("%+v", r)
	}
	if _, err := a.Compact(t.Context(), waits); err == nil || !strings.Contains(err.Error(), "continue the run first") {
		t.Errorf("with open calls: %v", err)
	}
	used := do(t, a, s, prompt("Count for me")).Usage
	used.Add(do(t, a, s, prompt("And more")).Usage)
	if diff := cmp.Diff(ledger(t, used), ledger(t, s.Usage())); diff != "" {
		t.Error(diff)
	}
	before := len(s.Messages())
	n, err := a.Compact(t.Context(), s)
	if err != nil || n < 5 || *summaries != 1 || len(s.Messages()) != before-n+1 || !strings.Contains(s.Messages()[0].Text(), "Summary 1") {
		t.Errorf("%d of %d messages, %v, %d summaries: %s", n, before, err, *summaries, s.Messages()[0].Text())
	}
	if got := s.Usage(); got.Requests != used.Requests+1 {
		t.Errorf("%d requests, before the summary %d", got.Requests, used.Requests)
	}
	all := s.Usage()
	s.Close()
	s = open(t, path)
	if diff := cmp.Diff(ledger(t, all), ledger(t, s.Usage())); diff != "" {
		t.Error(diff)
	}
	if got := do(t, a, s, prompt("Go on")); got.Text != "Done." {
		t.Errorf("%+v", got)
	}
}

func ledger(t *testing.T, l *usage.Ledger) string {
	t.Helper()
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTooLong has the provider refuse a conversation whose limit is not known.
func TestTooLong(t *testing.T) {
	m, summaries := long(t, 20)
	think := m.think
	m.think = func(r *model.Request) ([]model.Part, error) {
		size := 0
		for _, message := range r.Messages {
			for _, p := range message.Parts {
				if p.Result != nil {
					size += len(p.Result.Text)
				}
			}
		}
		if size > 15_000 {
			return nil, &model.Error{Origin: scripted, Kind: model.KindTooLong}
		}
		return think(r)
	}
	a := agent.New(m, toolpost.Join(toolpost.Tools{tool("echo", echo)}, stdtool.Todos(nil)), &agent.Options{Window: 0})
	got := do(t, a, agent.NewSession(), prompt("Go"))
	if got.Text != "Done." || *summaries == 0 {
		t.Errorf("%+v, %d summaries", got, *summaries)
	}
}

// TestOldOutputs has old outputs and pictures replaced by references, which the
// model can read again.
func TestOldOutputs(t *testing.T) {
	cache := output.New(store.Memory(nil), nil)
	picture := toolpost.New("picture", "Shows a picture.", func(context.Context, struct{}) (*toolpost.Result, error) {
		return toolpost.NewResult(toolpost.Part{Type: "text", Text: strings.Repeat("picture ", 200)}, toolpost.Part{Type: "image", Data: []byte{1, 2}, MIMEType: "image/png"}), nil
	}, nil)
	n := 0
	m := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		n++
		switch {
		case n == 1:
			return []model.Part{call(n, "picture", `{}`)}, nil
		case n < 20:
			return []model.Part{call(n, "echo", `{"text":"`+strings.Repeat("x", 1000)+fmt.Sprint(n)+`"}`)}, nil
		case n == 20:
			_, ref, _ := strings.Cut(r.Messages[4].Parts[0].Result.Text, `"ref_id":"`)
			ref, _, _ = strings.Cut(ref, `"`)
			return []model.Part{call(n, "tool_output_cache", `{"ref_id":"`+ref+`"}`)}, nil
		}
		return say("Done."), nil
	}}
	a := agent.New(m, cache.Layer(toolpost.Tools{tool("echo", echo), picture}), &agent.Options{Trim: &output.Trimmer{Cache: cache, Max: 3_000}})
	s := agent.NewSession()
	do(t, a, s, prompt("Go"))
	got := s.Messages()
	if parts := got[2].Parts[0].Result.Parts; len(parts) != 2 || !strings.Contains(parts[1].Text, `"ref_id":"media-`) {
		t.Errorf("the picture is not a reference: %+v", got[2].Parts[0].Result)
	}
	if text := got[4].Parts[0].Result.Text; !strings.Contains(text, "ref_id") {
		t.Errorf("the old output is still there: %.80q", text)
	}
	if text := got[40].Parts[0].Result.Text; !strings.Contains(text, "xxx2") {
		t.Errorf("the reference was read as %.200q", text)
	}
}

// TestTooLongAlways has nothing that could be shorter: the request is not sent again.
func TestTooLongAlways(t *testing.T) {
	for _, prompts := range []int{1, 2, 3} {
		refuse := false
		m := &script{t: t}
		m.think = func(*model.Request) ([]model.Part, error) {
			if refuse {
				return nil, &model.Error{Origin: scripted, Kind: model.KindTooLong}
			}
			return say("Done."), nil
		}
		a, s := agent.New(m, nil, nil), agent.NewSession()
		for range prompts - 1 {
			do(t, a, s, prompt("Go"))
		}
		refuse, m.requests = true, nil
		if _, err := a.Do(t.Context(), s, prompt("Go")); err == nil {
			t.Error("no error")
		}
		seen := map[string]bool{}
		for _, r := range m.requests {
			messages, _ := json.Marshal(r.Messages)
			if seen[string(messages)] {
				t.Errorf("with %d prompts, of %d requests one was sent twice: %s", prompts, len(m.requests), messages)
			}
			seen[string(messages)] = true
		}
	}
}

// TestNotesAreNotPrompts: what this package asks of the model is not among the user's
// messages that follow a summary.
func TestNotesAreNotPrompts(t *testing.T) {
	m, _ := long(t, 6)
	think, n := m.think, 0
	m.think = func(r *model.Request) ([]model.Part, error) {
		if n++; n == 3 {
			return nil, nil
		}
		return think(r)
	}
	s := agent.NewSession()
	a := agent.New(m, toolpost.Tools{tool("echo", echo), tool("write_todos", echo)}, nil)
	do(t, a, s, prompt("Count for me"))
	noted, _ := json.Marshal(s.Messages())
	const note = "Your last message was empty"
	if n, err := a.Compact(t.Context(), s); n == 0 || err != nil || !strings.Contains(string(noted), note) {
		t.Fatalf("%d messages replaced, %v: %s", n, err, noted)
	}
	if first := s.Messages()[0].Text(); strings.Contains(first, note) || !strings.Contains(first, "Count for me") {
		t.Errorf("the summary is %s", first)
	}
}
