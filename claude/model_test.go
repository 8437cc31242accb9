package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
)

func init() { fakes["model"] = playModel }

// playModel does what the prompt says: hang, call TOOL…, or anything else to be
// told how the CLI was started.
func playModel(f *fake) {
	initialize := f.begin()
	names := toolNames(initialize)
	l := f.must("a prompt", isUser)
	f.write(state("running"), initLine(names), assistant("Let me see."))
	words := strings.Fields(promptText(l))
	var text string
	switch words[0] {
	case "hang":
		i := f.request("interrupt")
		f.write(success(i.text("request_id"), object{"still_queued": []any{}}),
			result("", object{"subtype": "error_during_execution", "is_error": true, "result": nil, "errors": []any{"interrupted"},
				"terminal_reason": "aborted_streaming", "user_message_uuids": []any{l.text("uuid")}}), state("idle"))
		f.take("the end of the input", func(line) bool { return false })
		os.Exit(1)
	case "call":
		for _, tool := range words[1:] {
			text += encode(f.call("call "+tool, "tools", tool, object{}).at("response", "response", "mcp_response", "result", "content"))
		}
	default:
		dir, _ := os.Getwd()
		text = encode(object{"args": os.Args[1:], "initialize": initialize.at("request"), "dir": dir, "tools": names})
	}
	more := object{"user_message_uuids": []any{l.text("uuid")}, "usage": object{"input_tokens": 3, "output_tokens": 4}}
	if words[0] == "structure" {
		more["structured_output"] = object{"answer": 42}
	}
	f.write(result(text, more), state("idle"))
}

// newModel returns a model with the tools a, b and c.
func newModel(t *testing.T, change func(*claude.ModelOptions)) *claude.Model {
	opts := &claude.ModelOptions{Options: *options(t, "model")}
	if change != nil {
		change(opts)
	}
	m := claude.NewModel(opts)
	m.SetToolset("", letters("a", "b", "c"))
	return m
}

func letters(names ...string) toolpost.Tools {
	var tools toolpost.Tools
	for _, name := range names {
		tools = append(tools, toolpost.New(name, "Says "+name+".", func(context.Context, struct{}) (string, error) {
			return "I am " + name, nil
		}, nil))
	}
	return tools
}

// A start is how the CLI was started.
type start struct {
	Args       []string
	Initialize object
	Dir        string
	Tools      []string
}

func describe(t *testing.T, m *claude.Model, r *claude.Request) start {
	t.Helper()
	r.Prompt = "describe"
	reply, err := m.Request(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var s start
	if err := json.Unmarshal([]byte(reply.Text), &s); err != nil {
		t.Fatalf("%v: %s", err, reply.Text)
	}
	return s
}

func TestModelServesTheToolsOfARequest(t *testing.T) {
	m := newModel(t, nil)
	for _, test := range []struct{ names, want []string }{
		{nil, []string{"mcp__tools__a", "mcp__tools__b", "mcp__tools__c"}},
		{[]string{"c", "a"}, []string{"mcp__tools__a", "mcp__tools__c"}},
		{[]string{}, []string{}},
	} {
		if got := describe(t, m, &claude.Request{Tools: test.names}).Tools; !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q", test.names, got)
		}
	}
	reply, err := m.Request(t.Context(), &claude.Request{Prompt: "call a c", Tools: []string{"a", "c"}})
	want := `[{"text":"I am a","type":"text"}][{"text":"I am c","type":"text"}]`
	if err != nil || reply.Text != want || reply.Usage.OutputTokens != 4 {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestModelToolNotFound(t *testing.T) {
	m := newModel(t, nil)
	_, err := m.Request(t.Context(), &claude.Request{Prompt: "x", Tools: []string{"a", "z", "y"}})
	var missing *claude.ToolNotFoundError
	if !errors.As(err, &missing) || !slices.Equal(missing.Missing, []string{"z", "y"}) || !slices.Equal(missing.Available, []string{"a", "b", "c"}) {
		t.Errorf("got %v", err)
	}
	none := claude.NewModel(&claude.ModelOptions{Options: *options(t, "model")})
	if _, err := none.Request(t.Context(), &claude.Request{Prompt: "x", Tools: []string{"a"}}); !errors.Is(err, claude.ErrToolsetNotRegistered) {
		t.Errorf("nothing registered: got %v", err)
	}
	if got := describe(t, none, &claude.Request{}).Tools; len(got) > 0 {
		t.Errorf("nothing registered: got %q", got)
	}
}

func TestModelSetToolsetTwice(t *testing.T) {
	log := new(strings.Builder)
	m := newModel(t, func(o *claude.ModelOptions) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	if log.Len() > 0 {
		t.Errorf("the first is warned of: %s", log)
	}
	m.SetToolset("tools", letters("d"))
	if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "replaced") {
		t.Errorf("log %q", log)
	}
	m.SetToolset("more", letters("e"))
	if got := describe(t, m, &claude.Request{}).Tools; !slices.Equal(got, []string{"mcp__more__e", "mcp__tools__d"}) {
		t.Errorf("got %q", got)
	}
	m.SetToolset("more", nil)
	if got := describe(t, m, &claude.Request{}).Tools; !slices.Equal(got, []string{"mcp__tools__d"}) {
		t.Errorf("replaced by none: got %q", got)
	}
}

func TestModelSettings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, func(o *claude.ModelOptions) { o.MaxTurns, o.AppendSystemPrompt, o.Continue = 7, "Be kind.", true })
	flag := func(s start, name string) string {
		for i, arg := range s.Args {
			if arg == name && i+1 < len(s.Args) {
				return s.Args[i+1]
			}
			if value, ok := strings.CutPrefix(arg, name+"="); ok {
				return value
			}
		}
		return ""
	}
	s := describe(t, m, &claude.Request{})
	if flag(s, "--max-turns") != "7" || !slices.Contains(s.Args, "--continue") || s.Initialize["appendSystemPrompt"] != "Be kind." {
		t.Errorf("of the model: %+v", s)
	}
	s = describe(t, m, &claude.Request{Settings: &claude.RequestSettings{
		MaxTurns: 2, MaxBudgetUSD: 0.5, AppendSystemPrompt: "Be brief.", Dir: dir, Resume: "5e551011-0000-4000-8000-000000000000",
	}})
	if flag(s, "--max-turns") != "2" || flag(s, "--max-budget-usd") != "0.5" || s.Initialize["appendSystemPrompt"] != "Be brief." ||
		s.Dir != dir || flag(s, "--resume") == "" || slices.Contains(s.Args, "--continue") {
		t.Errorf("of the request: %+v", s)
	}
	for text, settings := range map[string]claude.RequestSettings{
		"MaxTurns":     {MaxTurns: -1},
		"MaxBudgetUSD": {MaxBudgetUSD: -0.1},
		"timeout":      {Timeout: -1},
		"Resume":       {Continue: true, Resume: "5e551011-0000-4000-8000-000000000000"},
		"directory":    {Dir: filepath.Join(dir, "none")},
	} {
		_, err := m.Request(t.Context(), &claude.Request{Prompt: "x", Settings: &settings})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestModelTimeout(t *testing.T) {
	m := newModel(t, func(o *claude.ModelOptions) { o.Stderr = nil }) // a slow start is stopped before the prompt
	_, response, err := m.RequestWithMetadata(t.Context(), &claude.Request{
		Prompt: "hang", Settings: &claude.RequestSettings{Timeout: 500 * time.Millisecond},
	})
	var late *claude.TimeoutError
	if !errors.As(err, &late) || late.After != 500*time.Millisecond || !late.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", response, err)
	}
}

func TestModelInterrupted(t *testing.T) {
	var stop atomic.Bool
	var seen int
	m := newModel(t, func(o *claude.ModelOptions) {
		o.Interrupted = stop.Load
		o.OnMessage = func(_ context.Context, m message.Message) error {
			seen++
			if _, ok := m.(*message.Assistant); ok {
				stop.Store(true)
			}
			return nil
		}
	})
	_, err := m.Request(t.Context(), &claude.Request{Prompt: "hang"})
	if !errors.Is(err, claude.ErrInterrupted) || seen == 0 {
		t.Errorf("after %d messages: got %v", seen, err)
	}
}

// TestModelInterruptedInSilence: the CLI says nothing more when it is asked.
func TestModelInterruptedInSilence(t *testing.T) {
	var quiet atomic.Bool
	var asked atomic.Int32
	m := newModel(t, func(o *claude.ModelOptions) {
		o.Interrupted = func() bool { return quiet.Load() && asked.Add(1) > 2 }
		o.OnMessage = func(_ context.Context, m message.Message) error {
			if _, ok := m.(*message.Assistant); ok {
				quiet.Store(true)
			}
			return nil
		}
	})
	if _, err := m.Request(t.Context(), &claude.Request{Prompt: "hang"}); !errors.Is(err, claude.ErrInterrupted) {
		t.Errorf("got %v", err)
	}
}

func TestModelMessages(t *testing.T) {
	log := new(strings.Builder)
	var told, streamed []string
	m := newModel(t, func(o *claude.ModelOptions) {
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
		o.OnMessage = func(_ context.Context, m message.Message) error {
			told = append(told, m.Head().Type)
			return errors.New("the screen is full")
		}
	})
	for msg, err := range m.Stream(t.Context(), &claude.Request{Prompt: "describe"}) {
		if err != nil {
			t.Fatal(err)
		}
		streamed = append(streamed, msg.Head().Type)
	}
	if !slices.Equal(told, streamed) || !slices.Contains(told, "assistant") || !slices.Contains(told, "result") {
		t.Errorf("told %q, streamed %q", told, streamed)
	}
	if strings.Count(log.String(), "the screen is full") != len(told) {
		t.Errorf("log %q", log)
	}
}

func TestModelRequestWithMetadata(t *testing.T) {
	m := newModel(t, nil)
	reply, response, err := m.RequestWithMetadata(t.Context(), &claude.Request{Prompt: "structure it"})
	if err != nil {
		t.Fatal(err)
	}
	if reply.Text != `{"answer":42}` || response.NumTurns != 1 || response.TotalCostUSD != 0.001 || response.SessionID != session {
		t.Errorf("got %+v, %+v", reply, response)
	}
}
