package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// TestDecideAfterReload has arguments with spaces and with characters that JSON
// encoders escape. A decision from before a restart holds after it.
func TestDecideAfterReload(t *testing.T) {
	ran := 0
	tools := toolpost.Tools{tool("write", func(context.Context, string) (string, error) { ran++; return "", nil })}
	m := turns(t, []model.Part{call(1, "write", `{ "text" : "<a> & b" }`)}, say("Done."))
	o := decisions(map[string]agent.Decision{"write": {Wait: true}})
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	got := do(t, agent.New(m, tools, o), s, prompt("Go"))
	s.Close()
	s = open(t, path)
	if err := s.Decide(agent.Decision{Allow: true, Binding: got.Waiting[0].Binding}); err != nil {
		t.Fatal(err)
	}
	if end := do(t, agent.New(m, tools, o), s); end.Stop != agent.StopAnswer || ran != 1 {
		t.Errorf("the decision was forgotten: %+v, %d calls", end, ran)
	}
}

// TestWaitWithoutApprove continues a session whose call waits with an agent that
// has no Approve.
func TestWaitWithoutApprove(t *testing.T) {
	tools := toolpost.Tools{tool("write", func(context.Context, string) (string, error) { t.Error("the waiting call ran"); return "", nil })}
	m := turns(t, []model.Part{call(1, "write", `{"text":"a"}`)}, say("Done."))
	s := agent.NewSession()
	do(t, agent.New(m, tools, decisions(map[string]agent.Decision{"write": {Wait: true}})), s, prompt("Go"))
	if got := do(t, agent.New(m, tools, nil), s); got.Stop != agent.StopApproval {
		t.Errorf("%+v", got)
	}
}

// TestOpenOtherFile opens files that are not sessions. They stay as they are.
func TestOpenOtherFile(t *testing.T) {
	for _, text := range []string{"My diary, without an end of line", `{"type":"sess`, `{"my":"data"}`} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := agent.OpenSession(path)
		if strings.HasPrefix(text, `{"type"`) { // the first record, cut off
			if err != nil {
				t.Errorf("%q: %v", text, err)
			} else {
				s.Close()
			}
			continue
		}
		if kept, _ := os.ReadFile(path); err == nil || string(kept) != text {
			t.Errorf("%q: became %q, %v", text, kept, err)
		}
	}
}

// TestOpenDamaged opens sessions that somebody has changed.
func TestOpenDamaged(t *testing.T) {
	const start = `{"type":"session","version":1,"id":"x"}` + "\n"
	for name, lines := range map[string]string{
		"null in a compaction": `{"type":"compaction","until":0,"messages":[null]}`,
		"an unknown role":      `{"type":"prompt","message":{"role":"system","parts":[]}}`,
		"a role that is wrong": `{"type":"response","message":{"role":"user","parts":[{"type":"text","text":"x"}]},"tokens":{"input":1,"output":1}}`,
		"another identifier":   `{"type":"session","version":1,"id":"y"}`,
		"a trim of a text":     `{"type":"prompt","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}` + "\n" + `{"type":"trim","trimmed":[{"message":0,"part":0,"result":null}]}`,
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(start+lines+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := agent.OpenSession(path); err == nil {
			t.Errorf("%s is accepted", name)
			s.Close()
		}
	}
}

// TestStepNames has a conversation that is summarized. No two steps have the same
// name.
func TestStepNames(t *testing.T) {
	m, summaries := long(t, 20)
	seen := map[string]int{}
	a := agent.New(m, toolpost.Tools{tool("echo", echo), tool("write_todos", echo)}, &agent.Options{Window: 10_000, Parallel: 1,
		Step: func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
			seen[name]++
			return do(ctx)
		}})
	do(t, a, agent.NewSession(), prompt("Count"))
	if *summaries < 2 {
		t.Fatalf("%d summaries", *summaries)
	}
	for name, n := range seen {
		if n > 1 {
			t.Errorf("%d steps are named %q", n, name)
		}
	}
}

// TestReplayOfAgents replays a run that called another agent, as an engine for
// durable execution does. Nothing runs twice.
func TestReplayOfAgents(t *testing.T) {
	journal := map[string]json.RawMessage{}
	var executed []string
	step := func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
		if raw, ok := journal[name]; ok {
			return raw, nil
		}
		raw, err := do(ctx)
		executed = append(executed, name)
		journal[name] = raw
		return raw, err
	}
	run := func() *agent.Result {
		inner := agent.New(turns(t, say("Inner.")), nil, nil)
		m := turns(t, []model.Part{call(1, "inner", `{"task":"x"}`)}, say("Done."))
		return do(t, agent.New(m, toolpost.Tools{inner.Tool("inner", "Another agent.")}, &agent.Options{Step: step}), agent.NewSession(), prompt("Go"))
	}
	first := run()
	n := len(executed)
	again := run()
	if len(executed) != n {
		t.Errorf("the replay executed %q", executed[n:])
	}
	if again.Text != first.Text || again.Usage.Requests != first.Usage.Requests || again.Usage.Requests != 3 {
		t.Errorf("%+v, at first %+v", again.Usage, first.Usage)
	}
}

// TestEndInStep ends the iteration while a Step runs that tries again after errors.
func TestEndInStep(t *testing.T) {
	a := agent.New(&script{t: t, think: func(*model.Request) ([]model.Part, error) { return say("Hello"), nil }}, nil, &agent.Options{
		Step: func(ctx context.Context, _ string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
			raw, err := do(ctx)
			if err != nil {
				raw, err = do(ctx)
			}
			return raw, err
		}})
	for range a.Run(t.Context(), agent.NewSession(), prompt("Go")) {
		break
	}
}

// TestNoteOnAnswer edits the arguments of the call that completes the run. The
// answer is that of the tool, without a note for the model.
func TestNoteOnAnswer(t *testing.T) {
	done := tool("done", func(_ context.Context, text string) (string, error) { return "", toolpost.Done.Errorf("%s", text) })
	type answer struct {
		N int `json:"n"`
	}
	m := turns(t, []model.Part{call(1, "done", `{"text":"{}"}`)})
	a := agent.New(m, toolpost.Tools{done}, decisions(map[string]agent.Decision{"done": {Allow: true, Arguments: json.RawMessage(`{"text":"{\"n\":3}"}`)}}))
	got, result, err := agent.DoAs[answer](t.Context(), a, agent.NewSession(), prompt("Go"))
	if err != nil || got.N != 3 {
		t.Errorf("%+v, %+v, %v", got, result, err)
	}
}

// A fixed model gives prepared responses.
type fixed struct {
	t         *testing.T
	responses []*model.Response
	requests  []*model.Request
}

func (m *fixed) Origin() model.Origin { return scripted }

func (m *fixed) Check(r *model.Request) error { return r.Validate() }

func (m *fixed) Stream(_ context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		if err := m.Check(r); err != nil {
			yield(nil, err)
			return
		}
		m.requests = append(m.requests, r)
		if len(m.responses) == 0 {
			yield(nil, errors.New("a request too many"))
			return
		}
		next := m.responses[0]
		m.responses = m.responses[1:]
		yield(&model.Delta{Response: next}, nil)
	}
}

func response(stop model.StopReason, parts ...model.Part) *model.Response {
	return &model.Response{Stop: stop, Message: &model.Message{Role: model.RoleAssistant, Parts: parts}, Usage: usage.Tokens{Input: 10, Output: 1}}
}

// TestWithoutText has responses that contain no text.
func TestWithoutText(t *testing.T) {
	thinking := model.Part{Type: model.TypeThinking, Text: "hm"}
	for _, test := range []struct {
		name string
		r    *model.Response
		stop agent.StopReason
	}{
		{"refused without parts", response(model.StopRefusal), agent.StopRefusal},
		{"cut before the first part", response(model.StopLength), agent.StopLength},
		{"cut while thinking", response(model.StopLength, thinking), agent.StopLength},
		{"only thinking", response(model.StopEnd, thinking), agent.StopAnswer},
		{"paused while thinking", response(model.StopPause, thinking), agent.StopAnswer},
		{"paused without a part", response(model.StopPause), agent.StopAnswer},
		{"an empty text", response(model.StopEnd, model.Part{Type: model.TypeText, Text: " \n"}), agent.StopAnswer},
	} {
		s := agent.NewSession()
		m := &fixed{t: t, responses: []*model.Response{test.r, response(model.StopEnd, say("Here.")...)}}
		got, err := agent.New(m, nil, nil).Do(t.Context(), s, prompt("Go"))
		if got == nil || got.Stop != test.stop || test.stop == agent.StopAnswer && got.Text != "Here." {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		if test.stop != agent.StopAnswer {
			if got, err := agent.New(m, nil, nil).Do(t.Context(), s, prompt("Again")); err != nil || got.Text != "Here." {
				t.Errorf("%s: afterwards: %+v, %v", test.name, got, err)
			}
		}
	}
}

// TestPromptsThatNobodyAccepts gives prompts that the model refuses. They are not
// recorded, so that the next prompt is answered.
func TestPromptsThatNobodyAccepts(t *testing.T) {
	for name, parts := range map[string][]model.Part{
		"a result": {{Type: model.TypeResult, Result: &toolpost.ToolMessage{CallID: "x"}}},
		"a call":   {call(1, "x", "{}")},
		"no type":  {{}},
		"a video":  {{Type: "video"}},
		"no text":  {{Type: model.TypeText}, {Type: model.TypeText, Text: " "}},
	} {
		s := agent.NewSession()
		a := agent.New(turns(t, say("Done.")), nil, nil)
		if _, err := a.Do(t.Context(), s, parts...); err == nil {
			t.Errorf("%s is accepted", name)
			continue
		}
		if got, err := a.Do(t.Context(), s, prompt("Go")); err != nil || got.Text != "Done." {
			t.Errorf("%s: afterwards: %+v, %v", name, got, err)
		}
	}
}

// TestSpentLate has an agent run longer than the call that started it. The outer
// session can be opened again.
func TestSpentLate(t *testing.T) {
	inner := agent.New(&script{t: t, think: func(*model.Request) ([]model.Part, error) { return say("Inner."), nil }}, nil, nil)
	var late context.Context
	start := tool("start", func(ctx context.Context, _ string) (string, error) {
		late = context.WithoutCancel(ctx)
		return "started", nil
	})
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	do(t, agent.New(turns(t, []model.Part{call(1, "start", `{"text":""}`)}, say("Done.")), toolpost.Tools{start}, nil), s, prompt("Go"))
	if got, err := inner.Do(late, agent.NewSession(), prompt("x")); err != nil {
		t.Logf("the late run: %+v, %v", got, err)
	}
	s.Close()
	s, err := agent.OpenSession(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// TestInvalidArguments has arguments that are not JSON in a session in a file.
func TestInvalidArguments(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "session.jsonl"))
	m := turns(t, []model.Part{call(1, "echo", `{"text":`)}, say("Done."))
	if got, err := agent.New(m, toolpost.Tools{tool("echo", echo)}, nil).Do(t.Context(), s, prompt("Go")); err != nil || got.Text != "Done." {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRepeatsOfRefusedCalls has the model repeat a call that never runs.
func TestRepeatsOfRefusedCalls(t *testing.T) {
	for name, next := range map[string]model.Part{
		"unknown": {Type: model.TypeCall, Name: "unknown", Arguments: json.RawMessage(`{}`)},
		"invalid": {Type: model.TypeCall, Name: "echo", Invalid: "the arguments are cut off"},
		"denied":  {Type: model.TypeCall, Name: "write", Arguments: json.RawMessage(`{"text":"x"}`)},
	} {
		n := 0
		m := &script{t: t, think: func(*model.Request) ([]model.Part, error) {
			n++
			next := next
			next.ID = fmt.Sprint("call_", n)
			return []model.Part{next}, nil
		}}
		a := agent.New(m, toolpost.Tools{tool("echo", echo), tool("write", echo)}, &agent.Options{Approve: func(context.Context, *agent.Request) (agent.Decision, error) {
			return agent.Decision{}, nil
		}})
		if got := do(t, a, agent.NewSession(), prompt("Go")); got.Stop != agent.StopRepeat || n != 5 {
			t.Errorf("%s: %d requests, %+v", name, n, got)
		}
	}
}

// TestLastTurnOfOuter has the last response that is allowed call another agent.
func TestLastTurnOfOuter(t *testing.T) {
	inner := agent.New(turns(t, say("Inner.")), nil, nil)
	m := turns(t, []model.Part{call(1, "inner", `{"task":"x"}`)}, say("Done."))
	s := agent.NewSession()
	do(t, agent.New(m, toolpost.Tools{inner.Tool("inner", "Another agent.")}, &agent.Options{Limits: agent.Limits{Turns: 1}}), s, prompt("Go"))
	if got := outputs(s); len(got) != 1 || got[0] != "Inner." {
		t.Errorf("the model received %q", got)
	}
}

// TestWithoutSummary has a model that cannot write summaries.
func TestWithoutSummary(t *testing.T) {
	m, _ := long(t, 12)
	think := m.think
	m.think = func(r *model.Request) ([]model.Part, error) {
		if r.NoCalls {
			return nil, nil
		}
		return think(r)
	}
	got, err := agent.New(m, toolpost.Tools{tool("echo", echo), tool("write_todos", echo)}, &agent.Options{Window: 10_000}).Do(t.Context(), agent.NewSession(), prompt("Count"))
	if err != nil || got.Text != "Done." {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestEmptyNowAndThen has empty responses that are far apart.
func TestEmptyNowAndThen(t *testing.T) {
	var all [][]model.Part
	for n := range 5 {
		all = append(all, nil, []model.Part{call(n, "echo", fmt.Sprintf(`{"text":"%d"}`, n))})
	}
	got, err := agent.New(turns(t, append(all, say("Done."))...), toolpost.Tools{tool("echo", echo)}, nil).Do(t.Context(), agent.NewSession(), prompt("Go"))
	if err != nil || got.Text != "Done." {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestResumeOfAnswer cuts the record of the end off. The answer ends with a part
// that only its provider understands, or was cut or refused.
func TestResumeOfAnswer(t *testing.T) {
	opaque := model.Part{Type: model.TypeOpaque, Text: "citations", Raw: json.RawMessage(`{}`)}
	for stop, want := range map[model.StopReason]agent.StopReason{model.StopEnd: agent.StopAnswer, model.StopLength: agent.StopLength, model.StopRefusal: agent.StopRefusal} {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		s := open(t, path)
		m := &fixed{t: t, responses: []*model.Response{response(stop, append(say("Here."), opaque)...)}}
		_, _ = agent.New(m, nil, nil).Do(t.Context(), s, prompt("Go"))
		s.Close()
		whole, _ := os.ReadFile(path)
		if err := os.WriteFile(path, whole[:strings.LastIndex(string(whole), `{"type":"end"`)], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := agent.New(m, nil, nil).Do(t.Context(), open(t, path)); got == nil || got.Stop != want {
			t.Errorf("%s: %+v, %v", stop, got, err)
		}
	}
}

// TestCutCalls has a call in a response that was refused or cut: it never runs, also
// not when the process ended before that was recorded.
func TestCutCalls(t *testing.T) {
	for stop, want := range map[model.StopReason]agent.StopReason{model.StopLength: agent.StopLength, model.StopRefusal: agent.StopRefusal} {
		for _, cut := range []string{"", `{"type":"end"`, `{"type":"result"`} { // what is not recorded any more
			path := filepath.Join(t.TempDir(), "session.jsonl")
			ran := 0
			tools := toolpost.Tools{tool("note", func(context.Context, string) (string, error) { ran++; return "", nil })}
			s := open(t, path)
			refused := response(stop, append(say("So"), call(1, "note", `{"text":"x"}`))...)
			m := &fixed{t: t, responses: []*model.Response{refused, response(model.StopEnd, say("Better.")...)}}
			got, err := agent.New(m, tools, nil).Do(t.Context(), s, prompt("Go"))
			if got == nil || got.Stop != want {
				t.Fatalf("%s: %+v, %v", stop, got, err)
			}
			s.Close()
			if cut != "" {
				whole, _ := os.ReadFile(path)
				if err := os.WriteFile(path, whole[:strings.LastIndex(string(whole), cut)], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s = open(t, path)
			if got, err := agent.New(m, tools, nil).Do(t.Context(), s); got == nil || got.Stop != want {
				t.Errorf("%s, again: %+v, %v", stop, got, err)
			}
			if got, err := agent.New(m, tools, nil).Do(t.Context(), s, prompt("And now?")); got == nil || got.Text != "Better." || ran != 0 {
				t.Errorf("%s, a new prompt: %+v, %v; the call ran %d times", stop, got, err, ran)
			}
			if all := outputs(s); len(all) != 1 || !strings.Contains(all[0], "not run") {
				t.Errorf("%s: results %q", stop, all)
			}
		}
	}
}

// TestUndo takes a prompt back, in a session that is opened again.
func TestUndo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	if s.Undo() == nil {
		t.Error("an empty session has nothing to take back")
	}
	m := turns(t, say("One."), []model.Part{call(1, "echo", `{"text":"a"}`)}, say("Two."), say("Three."))
	a := agent.New(m, toolpost.Tools{tool("echo", echo)}, nil)
	do(t, a, s, prompt("First"))
	do(t, a, s, prompt("Second"))
	before := s.Usage().Requests
	if err := s.Undo(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, path)
	if n := len(s.Messages()); n != 2 || s.Messages()[1].Text() != "One." || s.Usage().Requests != before || s.Unfinished() {
		t.Errorf("%d messages, %d requests, unfinished: %v", n, s.Usage().Requests, s.Unfinished())
	}
	if got := do(t, a, s); got.Text != "One." {
		t.Errorf("without a prompt: %+v", got)
	}
	if err := s.Undo(); err != nil || len(s.Messages()) != 0 {
		t.Errorf("the first prompt is not taken back: %v", err)
	}
	if s.Undo() == nil {
		t.Error("one prompt was taken back twice")
	}
	if got := do(t, a, s, prompt("Third")); got.Text != "Three." || len(s.Messages()) != 2 {
		t.Errorf("%+v, %d messages", got, len(s.Messages()))
	}
}

// TestRefusedTurnIsTakenBack where the provider refuses what follows it.
func TestRefusedTurnIsTakenBack(t *testing.T) {
	for name, parts := range map[string][]model.Part{"with a text": say("I"), "with a call": {call(1, "echo", `{"text":"a"}`)}, "empty": nil} {
		s := agent.NewSession()
		refused := response(model.StopRefusal, parts...)
		refused.TakeBack = true
		m := &fixed{t: t, responses: []*model.Response{response(model.StopEnd, say("One.")...), refused, response(model.StopEnd, say("Two.")...)}}
		a := agent.New(m, toolpost.Tools{tool("echo", echo)}, nil)
		do(t, a, s, prompt("First"))
		if got := do(t, a, s, prompt("Bad")); got.Stop != agent.StopRefusal || len(s.Messages()) != 2 {
			t.Errorf("%s: %+v, %d messages", name, got, len(s.Messages()))
		}
		if got := do(t, a, s, prompt("Good")); got.Text != "Two." || len(s.Messages()) != 4 {
			t.Errorf("%s: %+v, %d messages", name, got, len(s.Messages()))
		}
	}
}

// TestRefusedTurnOfKilledProcess is taken back by the next one.
func TestRefusedTurnOfKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	s := open(t, path)
	refused := response(model.StopRefusal, say("I")...)
	refused.TakeBack = true
	m := &fixed{t: t, responses: []*model.Response{response(model.StopEnd, say("One.")...), refused, response(model.StopEnd, say("Two.")...)}}
	a := agent.New(m, nil, nil)
	do(t, a, s, prompt("First"))
	do(t, a, s, prompt("Bad"))
	s.Close()
	whole, _ := os.ReadFile(path)
	if err := os.WriteFile(path, whole[:strings.LastIndex(string(whole), `{"type":"end"`)], 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if got := do(t, a, s); got.Stop != agent.StopRefusal || len(s.Messages()) != 2 {
		t.Errorf("%+v, %d messages", got, len(s.Messages()))
	}
}

// TestLongPrompt has a conversation summarized whose prompt is long itself.
func TestLongPrompt(t *testing.T) {
	m, summaries := long(t, 20)
	s := agent.NewSession()
	do(t, agent.New(m, toolpost.Tools{tool("echo", echo), tool("write_todos", echo)}, &agent.Options{Window: 20_000}), s,
		model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: []byte{1}}, prompt("Count for me. "+strings.Repeat("Carefully. ", 1000)))
	if first := s.Messages()[0].Text(); *summaries == 0 || !strings.Contains(first, "Count for me.") {
		t.Errorf("%d summaries, the task is lost: %.600q", *summaries, first)
	}
}

// TestOneAtATime has a single slot for calls. They run in their order.
func TestOneAtATime(t *testing.T) {
	var ran []string
	note := tool("note", func(_ context.Context, text string) (string, error) { ran = append(ran, text); return "", nil })
	var calls []model.Part
	var want []string
	for n := range 20 {
		calls = append(calls, call(n, "note", fmt.Sprintf(`{"text":"%d"}`, n)))
		want = append(want, fmt.Sprint(n))
	}
	do(t, agent.New(turns(t, calls, say("Done.")), toolpost.Tools{note}, &agent.Options{Parallel: 1}), agent.NewSession(), prompt("Go"))
	if !slices.Equal(ran, want) {
		t.Errorf("%q", ran)
	}
}

// TestPanicOfConsumer has the loop over the events panic while one call runs, or two.
// The session can be used again.
func TestPanicOfConsumer(t *testing.T) {
	both := []model.Part{call(1, "echo", `{"text":"a"}`), call(2, "echo", `{"text":"b"}`)}
	for n := range both {
		synctest.Test(t, func(t *testing.T) {
			a, s := agent.New(turns(t, both[:n+1], say("Done.")), toolpost.Tools{tool("echo", echo)}, nil), agent.NewSession()
			func() {
				defer func() { _ = recover() }()
				for e := range a.Run(t.Context(), s, prompt("Go")) {
					if e.Type == agent.EventCall {
						panic("a defect")
					}
				}
			}()
			if got := do(t, a, s); got.Text != "Done." {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestConsumerLeaves: a consumer that leaves when it learns of a call has it not run.
func TestConsumerLeaves(t *testing.T) {
	unwanted := tool("write", func(context.Context, string) (string, error) { t.Error("the call ran"); return "", nil })
	a := agent.New(turns(t, []model.Part{call(1, "write", `{"text":"a"}`)}), toolpost.Tools{unwanted}, nil)
	for e := range a.Run(t.Context(), agent.NewSession(), prompt("Go")) {
		if e.Type == agent.EventCall {
			break
		}
	}
}

// A priced model has the origin of a model whose price is known.
type priced struct{ model.Model }

func (priced) Origin() model.Origin {
	return model.Origin{Provider: "anthropic", API: "messages", Model: "claude-sonnet-4-5"}
}

// TestCostOfUnknownModels limits the cost of runs that use a model without a price:
// in an agent inside, or in place of the first model.
func TestCostOfUnknownModels(t *testing.T) {
	limited := &agent.Options{Limits: agent.Limits{Cost: usage.Dollar}}
	inner := agent.New(&script{t: t, think: func(*model.Request) ([]model.Part, error) {
		t.Error("the model without a price was asked")
		return say("Inner."), nil
	}}, nil, nil)
	s := agent.NewSession()
	m := priced{&fixed{t: t, responses: []*model.Response{response(model.StopCalls, call(1, "inner", `{"task":"x"}`)), response(model.StopEnd, say("Done.")...)}}}
	do(t, agent.New(m, toolpost.Tools{inner.Tool("inner", "Another agent.")}, limited), s, prompt("Go"))
	if got := outputs(s); len(got) != 1 || !strings.Contains(got[0], "price of test/scripted is not known") {
		t.Errorf("the model received %q", got)
	}
	fallback := priced{turns(t, []model.Part{call(1, "echo", `{"text":"x"}`)}, say("Done."))} // its parts are of test/scripted
	if _, err := agent.New(fallback, toolpost.Tools{tool("echo", echo)}, limited).Do(t.Context(), agent.NewSession(), prompt("Go")); err == nil || !strings.Contains(err.Error(), "price of test/scripted is not known") {
		t.Error(err)
	}
}

// TestRepeatsAfterSummary has the model read the same again after each summary,
// because it has forgotten what it read.
func TestRepeatsAfterSummary(t *testing.T) {
	yes := true
	read := tool("read", func(_ context.Context, text string) (string, error) { return strings.Repeat("x", 3000), nil })
	read.Annotations.ReadOnly = &yes
	m, summaries := long(t, 0)
	think, n := m.think, 0
	m.think = func(r *model.Request) ([]model.Part, error) {
		if r.NoCalls {
			return think(r)
		}
		if n++; n > 40 {
			return say("Done."), nil
		}
		return []model.Part{call(n, "read", fmt.Sprintf(`{"text":"%d"}`, n%7))}, nil
	}
	got := do(t, agent.New(m, toolpost.Tools{read}, &agent.Options{Window: 6_000}), agent.NewSession(), prompt("Go"))
	if got.Stop != agent.StopAnswer || *summaries < 3 {
		t.Errorf("%d summaries, %+v", *summaries, got)
	}
}

// TestHugeResult has a tool return more than the model's context. The run goes on
// with the beginning of it.
func TestHugeResult(t *testing.T) {
	huge := tool("huge", func(context.Context, string) (string, error) { return strings.Repeat("x", 1_000_000), nil })
	first := true
	m := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		size := 0
		for _, msg := range r.Messages {
			for _, p := range msg.Parts {
				if p.Result != nil {
					size += len(p.Result.Text)
				}
			}
		}
		switch {
		case size > 100_000:
			return nil, &model.Error{Origin: scripted, Kind: model.KindTooLong}
		case first:
			first = false
			return []model.Part{call(1, "huge", `{"text":""}`)}, nil
		}
		return say("Done."), nil
	}}
	if got, err := agent.New(m, toolpost.Tools{huge}, nil).Do(t.Context(), agent.NewSession(), prompt("Go")); err != nil || got.Text != "Done." {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestWaitInside has a call of an agent inside a run wait for a decision, which the
// user cannot give later: the inner session ends with the call.
func TestWaitInside(t *testing.T) {
	asked := turns(t, []model.Part{call(1, "write", `{"text":"x"}`)}, say("Inner."))
	inner := agent.New(asked, toolpost.Tools{tool("write", func(context.Context, string) (string, error) { t.Error("the call ran"); return "", nil })}, nil)
	m := turns(t, []model.Part{call(1, "inner", `{"task":"x"}`)}, say("Done."))
	s := agent.NewSession()
	do(t, agent.New(m, toolpost.Tools{inner.Tool("inner", "Another agent.")}, decisions(map[string]agent.Decision{
		"inner": {Allow: true}, "write": {Wait: true}})), s, prompt("Go"))
	if got := outputs(s); len(got) != 1 || got[0] != "Inner." {
		t.Errorf("the model received %q", got)
	}
	if text := asked.requests[1].Messages[2].Parts[0].Result.Text; !strings.Contains(text, "decision that the user gives later") {
		t.Errorf("the inner model received %q", text)
	}
}
