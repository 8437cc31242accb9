//go:build unix

package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/toolpost/toolpost"
	sdk "github.com/toolpost/toolpost/claude"
	stream "github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/schema"
)

// sdkScenarios are runs of our Claude Agent SDK with the real CLI. Each returns
// what happened, for the table.
var sdkScenarios = []struct {
	name string
	run  func(s *stage) string
}{
	{"text", sdkText},
	{"tool", sdkTool},
	{"tool error", sdkToolError},
	{"tools at once", sdkParallel},
	{"a result of 300,000 characters", sdkLargeResult},
	{"an answer of 3 MB", sdkLargeAnswer},
	{"structured output", sdkStructured},
	{"structured output, invalid at first", sdkStructuredInvalid},
	{"structured output, never", sdkStructuredNever},
	{"partial messages", sdkPartial},
	{"interrupt before the first byte", sdkInterruptSilent},
	{"interrupt while text streams", sdkInterruptStreaming},
	{"interrupt in a tool", sdkInterruptTool},
	{"interrupt in a permission prompt", sdkInterruptPermission},
	{"the context ends in a tool", sdkCancelTool},
	{"429, then fine", sdkRetry},
	{"529 to the end", sdkOverloaded},
	{"401", sdkUnauthorized},
	{"broken stream", sdkBroken},
	{"maximum turns", sdkMaxTurns},
	{"budget", sdkBudget},
	{"denied, nobody to ask", sdkDenied},
	{"permission, other arguments", sdkPermissionInput},
	{"permission denied", sdkPermissionDenied},
	{"permission denied, interrupted", sdkPermissionInterrupt},
	{"hooks", sdkHooks},
	{"background agent calls a tool", sdkBackground},
	{"background shell, and a tool after it", sdkShell},
	{"a prompt that mentions a file", sdkVerbatim},
	{"list change", sdkListChange},
	{"queued prompts", sdkQueued},
	{"a queued prompt is taken back", sdkTakeBack},
	{"a run is left", sdkLeaveRun},
	{"a turn is left", sdkLeaveTurn},
	{"resume and fork", sdkResume},
	{"sessions on disk", sdkSessions},
	{"a session store", sdkSessionStore},
	{"unknown session", sdkUnknownSession},
	{"unknown flag", sdkUnknownFlag},
	{"CLI killed", sdkKilled},
	{"another MCP server", sdkExternal},
	{"a sequence of prompts", sdkPrompts},
	{"an agent with a server of its own", sdkAgentServer},
	{"managed settings", sdkManaged},
	{"another model", sdkModel},
	{"status, usage, cost", sdkStatus},
}

func TestClaudeSDK(t *testing.T) {
	bin := claudeCLI(t)
	outcomes := make([]string, len(sdkScenarios))
	t.Run("scenarios", func(t *testing.T) {
		for i, scenario := range sdkScenarios {
			t.Run(scenario.name, func(t *testing.T) {
				t.Parallel()
				s := newStage(t, bin)
				outcomes[i] = fmt.Sprintf("%s\tfailed", scenario.name)
				start := time.Now()
				what := scenario.run(s)
				if !t.Failed() {
					outcomes[i] = fmt.Sprintf("%s\t%s\t%.1f s", scenario.name, what, time.Since(start).Seconds())
				}
			})
		}
	})
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, o := range outcomes {
		if o != "" { // it was asked for
			fmt.Fprintln(w, o)
		}
	}
	w.Flush() //nolint:errcheck // a Builder takes everything
	t.Logf("Claude CLI:\n%s", table.String())
}

// A stage is a home of its own for the CLI, and its model.
type stage struct {
	*testing.T
	api  *playbook
	opts *sdk.Options
}

func newStage(t *testing.T, bin string) *stage {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder(t, home, "project")
	s := &stage{T: t, api: newPlaybook(t)}
	s.opts = &sdk.Options{
		CLI: bin, Dir: filepath.Join(home, "project"),
		Env: append([]string{
			"HOME=" + home, "TMPDIR=" + home, "CLAUDE_CONFIG_DIR=" + home + "/.claude",
			"ANTHROPIC_BASE_URL=" + s.api.URL, "ANTHROPIC_API_KEY=sk-ant-dummy", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		}, quiet...),
		Stderr:       func(line string) { t.Logf("stderr: %s", line) },
		Model:        "claude-sonnet-4-5",
		SystemPrompt: "You are a test.",
		Tools:        []string{}, SettingSources: []string{}, StrictMCPConfig: true,
		MaxRetries: 1,
	}
	return s
}

// context ends before the test does.
func (s *stage) context() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), 2*patience)
	s.Cleanup(cancel)
	return ctx
}

// says adds answers of the model.
func (s *stage) says(all ...say) {
	for _, f := range all {
		s.api.then("", f)
	}
}

// run gives the CLI one prompt.
func (s *stage) run(prompt string) (*sdk.Response, error) {
	s.Helper()
	return sdk.Collect(sdk.Run(s.context(), prompt, s.opts))
}

// must is run without an error.
func (s *stage) must(prompt, result string) *sdk.Response {
	s.Helper()
	r, err := s.run(prompt)
	if err != nil || r.Result != result {
		s.Fatalf("response %+v, error %v, not %q", r, err, result)
	}
	return r
}

// fails is run with an error result.
func (s *stage) fails(prompt string, check func(*sdk.ResultError) bool) *sdk.ResultError {
	s.Helper()
	r, err := s.run(prompt)
	var failure *sdk.ResultError
	if !errors.As(err, &failure) || !check(failure) {
		s.Fatalf("response %+v, error %v: %+v", r, err, failure)
	}
	return failure
}

func (s *stage) open() *sdk.Session {
	s.Helper()
	session, err := sdk.Open(s.context(), s.opts)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := session.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	})
	return session
}

func (s *stage) turn(session *sdk.Session, prompt, result string) *sdk.Response {
	s.Helper()
	r, err := sdk.Collect(session.Turn(s.context(), prompt))
	if err != nil || r.Result != result {
		s.Fatalf("response %+v, error %v, not %q", r, err, result)
	}
	return r
}

// saw fails the test if the model has not got a text.
func (s *stage) saw(text string) {
	s.Helper()
	if s.api.heard(text) == 0 {
		last := s.api.requests()
		s.Errorf("the model did not see %q; the last request is %.3000s", text, last[len(last)-1].body)
	}
}

// got fails the test if the model has not got a text as the result of a call.
func (s *stage) got(id, text string) {
	s.Helper()
	// The CLI ends the text with a newline, and may add reminders.
	if got := s.api.result(id); !strings.Contains(got, `"`+text+`"`) && !strings.Contains(got, `"`+text+`\n"`) {
		s.Errorf("the model got %.300s from %s, not %q", got, id, text)
	}
}

type sum struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// serve sets the tools; ask is whether the permission is asked for them.
func (s *stage) serve(ask bool, tools ...*toolpost.Tool) *sdk.Server {
	s.Helper()
	server, err := sdk.NewServer(s.Context(), "calc", toolpost.Tools(tools), &sdk.ServerOptions{Ask: ask})
	if err != nil {
		s.Fatal(err)
	}
	s.opts.Servers = []*sdk.Server{server}
	return server
}

func add() *toolpost.Tool {
	return toolpost.New("add", "Add two numbers.", func(_ context.Context, in sum) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	}, nil)
}

// stuck is a tool that runs until it is cancelled.
func stuck(began chan<- struct{}, ended chan<- error) *toolpost.Tool {
	return toolpost.New("stuck", "Wait.", func(ctx context.Context, _ struct{}) (string, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}, nil)
}

func call1(name string, input any) say { return uses(use{"toolu_1", name, input}) }

func sdkText(s *stage) string {
	s.says(text("Hello ", "world."))
	r := s.must("hi", "Hello world.")
	if r.Usage.InputTokens != 10 || r.TotalCostUSD <= 0 || r.SessionID == "" {
		s.Errorf("%+v", r)
	}
	return fmt.Sprintf("%q, $%.6f", r.Result, r.TotalCostUSD)
}

func sdkTool(s *stage) string {
	s.serve(false, add())
	s.says(call1("mcp__calc__add", sum{2, 3}), text("It is 5."))
	s.must("add 2 and 3", "It is 5.")
	s.got("toolu_1", "5")
	return "called, the model saw 5"
}

func sdkToolError(s *stage) string {
	s.serve(false, toolpost.New("div", "Divide.", func(context.Context, sum) (string, error) { return "", errors.New("division by zero") }, nil))
	s.says(call1("mcp__calc__div", sum{1, 0}), uses(use{"toolu_2", "mcp__calc__div", object{"a": "x"}}), text("No."))
	s.must("divide", "No.")
	s.saw("division by zero")
	s.saw(`"is_error":true`)
	return "the model saw both errors"
}

// sdkParallel has two tools that wait for each other.
func sdkParallel(s *stage) string {
	var both sync.WaitGroup
	both.Add(2)
	s.serve(false, toolpost.New("meet", "Meet.", func(ctx context.Context, _ struct{}) (string, error) {
		both.Done()
		met := make(chan struct{})
		go func() { both.Wait(); close(met) }()
		select {
		case <-met:
			return "met", nil
		case <-time.After(patience):
			return "", errors.New("alone")
		}
	}, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: new(true)}}))
	s.says(uses(use{"toolu_1", "mcp__calc__meet", object{}}, use{"toolu_2", "mcp__calc__meet", object{}}), text("Both."))
	s.must("meet", "Both.")
	s.saw("met")
	if s.api.heard("alone") > 0 {
		s.Error("the calls did not overlap")
	}
	return "two calls overlapped"
}

func sdkLargeResult(s *stage) string {
	big := strings.Repeat("x", 300_000) + "END"
	s.serve(false, toolpost.New("big", "Much.", func(context.Context, struct{}) (string, error) { return big, nil },
		&toolpost.Options{Policy: toolpost.Policy{MaxOutput: 400_000}}))
	s.says(call1("mcp__calc__big", object{}), text("Big."))
	s.must("big", "Big.")
	s.saw("xxEND")
	return "the model saw all of it"
}

func sdkLargeAnswer(s *stage) string {
	big := strings.Repeat("0123456789abcdef", 3<<20/16)
	s.says(text(big))
	s.must("much", big)
	return fmt.Sprintf("%d bytes", len(big))
}

type answered struct {
	Answer int `json:"answer"`
}

func (s *stage) structured() {
	s.opts.Output = schema.MustParse(`{"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"],"additionalProperties":false}`)
}

func sdkStructured(s *stage) string {
	s.structured()
	s.says(call1("StructuredOutput", answered{42}))
	r, err := s.run("the answer?")
	var out answered
	if err != nil || json.Unmarshal(r.StructuredOutput, &out) != nil || out.Answer != 42 {
		s.Fatalf("%+v: %v", r, err)
	}
	return string(r.StructuredOutput)
}

func sdkStructuredInvalid(s *stage) string {
	s.structured()
	s.says(call1("StructuredOutput", object{"answer": "x"}), uses(use{"toolu_2", "StructuredOutput", answered{7}}))
	r, err := s.run("the answer?")
	var out answered
	if err != nil || json.Unmarshal(r.StructuredOutput, &out) != nil || out.Answer != 7 {
		s.Fatalf("%+v: %v", r, err)
	}
	s.saw("does not match")
	return string(r.StructuredOutput)
}

func sdkStructuredNever(s *stage) string {
	s.structured()
	s.says(text("no"), text("still no"))
	r, err := s.run("the answer?")
	if err == nil {
		s.Fatalf("no error, but %+v", r)
	}
	return fmt.Sprintf("%.60s", err)
}

func sdkPartial(s *stage) string {
	s.opts.PartialMessages = true
	s.says(text("one ", "two ", "three"))
	var whole strings.Builder
	events := 0
	for m, err := range sdk.Run(s.context(), "count", s.opts) {
		if err != nil {
			s.Fatal(err)
		}
		if e, ok := m.(*stream.StreamEvent); ok {
			events++
			var d struct {
				Event struct{ Delta struct{ Text string } }
			}
			if err := json.Unmarshal(e.Head().Raw, &d); err != nil {
				s.Fatal(err)
			}
			whole.WriteString(d.Event.Delta.Text)
		}
	}
	if whole.String() != "one two three" {
		s.Errorf("the pieces are %q", whole.String())
	}
	return fmt.Sprintf("%d events", events)
}

// interrupted runs a turn, interrupts it when began says so, and goes on.
func (s *stage) interrupted(began <-chan struct{}, reason string) string {
	s.Helper()
	session := s.open()
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-began
		if _, err := session.Interrupt(s.context()); err != nil {
			s.Errorf("interrupt: %v", err)
		}
	}()
	r, err := sdk.Collect(session.Turn(s.context(), "go"))
	receive(s, "the interruption", done)
	var failure *sdk.ResultError
	if !errors.As(err, &failure) || failure.TerminalReason != reason {
		s.Fatalf("response %+v, error %v: %+v", r, err, failure)
	}
	s.says(text("after it"))
	s.turn(session, "go on", "after it")
	return failure.TerminalReason + ", then the next turn"
}

func sdkInterruptSilent(s *stage) string {
	began := make(chan struct{}, 9)
	s.says(silent(began))
	return s.interrupted(began, "aborted_streaming")
}

func sdkInterruptStreaming(s *stage) string {
	began := make(chan struct{}, 9)
	s.says(talking(began))
	return s.interrupted(began, "aborted_streaming")
}

func sdkInterruptTool(s *stage) string {
	began, ended := make(chan struct{}, 9), make(chan error, 9)
	s.serve(false, stuck(began, ended))
	s.says(call1("mcp__calc__stuck", object{}))
	what := s.interrupted(began, "aborted_tools")
	if err := receive(s, "the end of the permission", ended); !errors.Is(err, context.Canceled) {
		s.Errorf("the tool's context ended by %v", err)
	}
	return what
}

func sdkInterruptPermission(s *stage) string {
	began, ended := make(chan struct{}, 9), make(chan error, 9)
	s.serve(true, add())
	s.opts.Permission = func(ctx context.Context, _ *sdk.PermissionRequest) (*sdk.Decision, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	s.says(call1("mcp__calc__add", sum{1, 2}))
	what := s.interrupted(began, "aborted_tools")
	if err := receive(s, "the end of the permission", ended); !errors.Is(err, context.Canceled) {
		s.Errorf("the permission's context ended by %v", err)
	}
	return what
}

func sdkCancelTool(s *stage) string {
	began, ended := make(chan struct{}, 9), make(chan error, 9)
	s.serve(false, stuck(began, ended))
	s.says(call1("mcp__calc__stuck", object{}))
	ctx, cancel := context.WithCancel(s.context())
	go func() { <-began; cancel() }()
	_, err := sdk.Collect(sdk.Run(ctx, "go", s.opts))
	if !errors.Is(err, context.Canceled) {
		s.Errorf("the run ended with %v", err)
	}
	receive(s, "the end of the tool", ended)
	return "the tool's context and the CLI ended"
}

func sdkRetry(s *stage) string {
	s.opts.MaxRetries = 3
	s.says(failing(429, "rate_limit_error", "slow down"), failing(529, "overloaded_error", "busy"), text("Recovered."))
	retries := 0
	r, err := sdk.Collect(func(yield func(stream.Message, error) bool) {
		for m, err := range sdk.Run(s.context(), "hi", s.opts) {
			if err == nil && m.Head().Subtype == "api_retry" {
				retries++
			}
			if !yield(m, err) {
				return
			}
		}
	})
	if err != nil || r.Result != "Recovered." || retries != 2 {
		s.Fatalf("%+v, %v, %d retries", r, err, retries)
	}
	return "2 retries told"
}

func sdkOverloaded(s *stage) string {
	s.says(failing(529, "overloaded_error", "busy"), failing(529, "overloaded_error", "busy"), failing(529, "overloaded_error", "busy"))
	e := s.fails("hi", func(e *sdk.ResultError) bool { return e.APIStatus == 529 && e.TerminalReason == "api_error" })
	return fmt.Sprintf("%.60s", e)
}

func sdkUnauthorized(s *stage) string {
	s.says(failing(401, "authentication_error", "invalid x-api-key"), failing(401, "authentication_error", "invalid x-api-key"))
	e := s.fails("hi", func(e *sdk.ResultError) bool { return e.APIStatus == 401 })
	return fmt.Sprintf("%.60s", e)
}

// sdkBroken has a stream that ends in the middle; the CLI tries again.
func sdkBroken(s *stage) string {
	s.says(breaking, text("whole"))
	s.must("hi", "whole")
	return fmt.Sprintf("asked %d times", len(s.api.requests()))
}

func sdkMaxTurns(s *stage) string {
	s.serve(false, add())
	s.opts.MaxTurns = 1
	s.says(call1("mcp__calc__add", sum{1, 2}))
	e := s.fails("hi", func(e *sdk.ResultError) bool { return e.Subtype == "error_max_turns" })
	return fmt.Sprintf("%.60s", e)
}

func sdkBudget(s *stage) string {
	s.serve(false, add())
	s.opts.MaxBudgetUSD = 0.0001
	s.says(call1("mcp__calc__add", sum{1, 2}))
	e := s.fails("hi", func(e *sdk.ResultError) bool { return e.Subtype == "error_max_budget_usd" })
	return fmt.Sprintf("%.60s", e)
}

func (s *stage) denied(r *sdk.Response) string {
	s.Helper()
	if len(r.PermissionDenials) != 1 || r.PermissionDenials[0].ToolName != "mcp__calc__add" {
		s.Errorf("the denials are %+v", r.PermissionDenials)
	}
	return "1 denial told"
}

func sdkDenied(s *stage) string {
	s.serve(true, add())
	s.says(call1("mcp__calc__add", sum{1, 2}), text("Denied."))
	return s.denied(s.must("hi", "Denied."))
}

func sdkPermissionInput(s *stage) string {
	s.serve(true, add())
	s.opts.Permission = func(_ context.Context, in *sdk.PermissionRequest) (*sdk.Decision, error) {
		if in.ToolName != "mcp__calc__add" || in.ToolUseID != "toolu_1" {
			s.Errorf("asked for %+v", in)
		}
		return &sdk.Decision{Allow: true, Input: json.RawMessage(`{"a":40,"b":2}`)}, nil
	}
	s.says(call1("mcp__calc__add", sum{2, 3}), text("So be it."))
	s.must("hi", "So be it.")
	s.got("toolu_1", "42")
	return "42 in place of 5"
}

func sdkPermissionDenied(s *stage) string {
	s.serve(true, add())
	s.opts.Permission = func(context.Context, *sdk.PermissionRequest) (*sdk.Decision, error) {
		return &sdk.Decision{Message: "No sums today."}, nil
	}
	s.says(call1("mcp__calc__add", sum{2, 3}), text("Denied."))
	r := s.must("hi", "Denied.")
	s.saw("No sums today.")
	return s.denied(r)
}

func sdkPermissionInterrupt(s *stage) string {
	s.serve(true, add())
	s.opts.Permission = func(context.Context, *sdk.PermissionRequest) (*sdk.Decision, error) {
		return &sdk.Decision{Message: "Stop it.", Interrupt: true}, nil
	}
	s.says(call1("mcp__calc__add", sum{2, 3}))
	e := s.fails("hi", func(e *sdk.ResultError) bool { return e.TerminalReason == "aborted_tools" })
	return e.TerminalReason
}

func sdkHooks(s *stage) string {
	s.serve(false, add())
	var mu sync.Mutex
	var seen []string
	hook := func(event sdk.HookEvent, out *sdk.HookOutput) sdk.Hook {
		return sdk.Hook{Event: event, Handle: func(_ context.Context, in *sdk.HookInput) (*sdk.HookOutput, error) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(in.Event))
			return out, nil
		}}
	}
	s.opts.Hooks = []sdk.Hook{
		hook(sdk.UserPromptSubmit, &sdk.HookOutput{Context: "the prompt's context"}),
		hook(sdk.PreToolUse, &sdk.HookOutput{Permission: sdk.HookAllow, Input: json.RawMessage(`{"a":20,"b":22}`)}),
		hook(sdk.PostToolUse, &sdk.HookOutput{Context: "the result's context"}),
		hook(sdk.Stop, nil),
	}
	s.says(call1("mcp__calc__add", sum{2, 3}), text("Hooked."))
	s.must("hi", "Hooked.")
	s.got("toolu_1", "42")
	s.saw("the prompt's context")
	s.saw("the result's context")
	if want := []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}; !slices.Equal(seen, want) {
		s.Errorf("the hooks are %q, not %q", seen, want)
	}
	return strings.Join(seen, " ")
}

// sdkBackground has a sub-agent that works on when the main agent is done.
func sdkBackground(s *stage) string {
	launched := make(chan struct{})
	s.serve(false, add())
	s.opts.Tools = []string{"Task"}
	s.opts.AllowedTools = []string{"Task"}
	s.says(call1("Agent", object{"description": "sum", "prompt": "SUBTASK: add", "subagent_type": "general-purpose"}))
	s.api.rest = func(in apiRequest) say {
		first := string(in.Messages[0].Content)
		switch {
		case strings.Contains(first, "SUBTASK") && !strings.Contains(in.body, "toolu_sub"):
			return func(a *apiAnswer) {
				a.hold(launched) // the main agent is done before
				uses(use{"toolu_sub", "mcp__calc__add", sum{2, 3}})(a)
			}
		case strings.Contains(first, "SUBTASK"):
			return text("The sum is 5.")
		case strings.Contains(in.body, "task-notification") || strings.Contains(in.body, "The sum is 5."):
			return text("All is done.")
		}
		return text("Launched.")
	}
	var results []string
	for m, err := range sdk.Run(s.context(), "please delegate", s.opts) {
		if err != nil {
			s.Fatal(err)
		}
		if r, ok := m.(*stream.Result); ok {
			if len(results) == 0 {
				close(launched)
			}
			var text struct{ Result string }
			if err := json.Unmarshal(r.Raw, &text); err != nil {
				s.Error(err)
			}
			results = append(results, text.Result)
		}
	}
	s.got("toolu_sub", "5")
	if !slices.Equal(results, []string{"Launched.", "All is done."}) {
		s.Errorf("the results are %q", results)
	}
	return fmt.Sprintf("%q", results)
}

func sdkListChange(s *stage) string {
	var mu sync.Mutex
	tools := toolpost.Tools{add()}
	server, err := sdk.NewServer(s.Context(), "calc", toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(tools), nil
	}), nil)
	if err != nil {
		s.Fatal(err)
	}
	s.opts.Servers = []*sdk.Server{server}
	session := s.open()
	s.says(text("one"))
	s.turn(session, "first", "one")
	mu.Lock()
	tools = append(tools, toolpost.New("extra", "More.", func(context.Context, struct{}) (string, error) { return "extra result", nil }, nil))
	mu.Unlock()
	if err := server.Refresh(s.context()); err != nil {
		s.Fatal(err)
	}
	for status := ""; !strings.Contains(status, `"extra"`); { // the CLI lists in its own time
		var answer json.RawMessage
		if err := session.Control().Request(s.context(), "mcp_status", nil, &answer); err != nil {
			s.Fatal(err)
		}
		status = string(answer)
	}
	s.says(call1("mcp__calc__extra", object{}), text("two"))
	s.turn(session, "second", "two")
	s.saw("extra result")
	return "the new tool was called"
}

func sdkQueued(s *stage) string {
	began, release := make(chan struct{}), make(chan struct{})
	s.says(func(a *apiAnswer) {
		close(began)
		a.hold(release)
		text("one")(a)
	}, text("two and three"))
	session := s.open()
	var uuids []string
	send := func(prompt string) {
		uuid, err := session.Send(s.context(), prompt)
		if err != nil {
			s.Fatal(err)
		}
		uuids = append(uuids, uuid)
	}
	send("first")
	receive(s, "the model is asked", began)
	send("second")
	send("third")
	close(release)
	var answered []string
	results := 0
	for m, err := range session.Messages(s.context()) {
		if err != nil {
			s.Fatal(err)
		}
		if r, ok := m.(*stream.Result); ok {
			results++
			answered = append(answered, r.UserMessageUUIDs...)
		}
		if len(answered) == 3 {
			break
		}
	}
	if !slices.Equal(answered, uuids) {
		s.Errorf("%q are answered, not %q", answered, uuids)
	}
	return fmt.Sprintf("3 prompts, %d results", results)
}

func sdkResume(s *stage) string {
	s.says(text("noted"))
	first := s.must("remember 7", "noted")
	s.opts.Resume = first.SessionID
	s.says(text("seven"))
	second := s.must("which?", "seven")
	s.saw("remember 7")
	s.opts.Fork = true
	s.says(text("seven again"))
	third := s.must("which again?", "seven again")
	if second.SessionID != first.SessionID || third.SessionID == first.SessionID {
		s.Errorf("the sessions are %q, %q, %q", first.SessionID, second.SessionID, third.SessionID)
	}
	if all := s.api.requests(); !strings.Contains(all[len(all)-1].body, "remember 7") {
		s.Error("the fork does not have the first prompt")
	}
	return "resumed, and forked under a new id"
}

func sdkUnknownSession(s *stage) string {
	s.opts.Resume = "5e551011-0000-4000-8000-000000000000"
	_, err := s.run("hi")
	if err == nil || !strings.Contains(err.Error(), "No conversation found") {
		s.Fatal(err)
	}
	_, err = sdk.Open(s.context(), s.opts)
	if err == nil || !strings.Contains(err.Error(), "No conversation found") {
		s.Fatal(err)
	}
	return fmt.Sprintf("%.60s", err)
}

func sdkUnknownFlag(s *stage) string {
	s.opts.Args = []string{"--no-such-flag"}
	_, err := s.run("hi")
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		s.Fatal(err)
	}
	return fmt.Sprintf("%.60s", err)
}

func sdkKilled(s *stage) string {
	began := make(chan struct{}, 9)
	s.says(talking(began))
	session := s.open()
	about, err := session.Info(s.context())
	var info struct{ PID int }
	if err != nil || json.Unmarshal(about.Raw, &info) != nil || info.PID <= 1 || info.PID == os.Getpid() {
		s.Fatalf("the CLI's process is %d: %v", info.PID, err)
	}
	go func() {
		<-began
		if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
			s.Errorf("kill: %v", err)
		}
	}()
	_, err = sdk.Collect(session.Turn(s.context(), "go"))
	if err == nil || !strings.Contains(err.Error(), "killed") {
		s.Fatal(err)
	}
	return fmt.Sprintf("%.60s", err)
}

func sdkExternal(s *stage) string {
	command := poison(s.T, "", filepath.Join(s.TempDir(), "log"))
	s.opts.MCPServers = map[string]*sdk.MCPServer{"ext": {Command: command[0], Args: command[1:], AlwaysLoad: true}}
	s.opts.AllowedTools = []string{"mcp__ext"}
	s.serve(false, add())
	s.says(uses(use{"toolu_1", "mcp__ext__good", object{"text": "x"}}, use{"toolu_2", "mcp__calc__add", sum{2, 3}}), text("Both."))
	s.must("hi", "Both.")
	s.saw("good got")
	s.got("toolu_2", "5")
	return "both servers were called"
}

func sdkModel(s *stage) string {
	session := s.open()
	s.says(text("one"), text("two"))
	s.turn(session, "first", "one")
	if err := session.Control().SetModel(s.context(), "claude-opus-4-5"); err != nil {
		s.Fatal(err)
	}
	s.turn(session, "second", "two")
	all := s.api.requests()
	if got := all[len(all)-1].Model; got != "claude-opus-4-5" {
		s.Errorf("the model is %q", got)
	}
	return all[0].Model + ", then " + all[len(all)-1].Model
}

func sdkStatus(s *stage) string {
	s.serve(false, add())
	session := s.open()
	s.says(text("one"))
	s.turn(session, "first", "one")
	c := session.Control()
	servers, err := c.MCPStatus(s.context())
	if err != nil || len(servers) != 1 || servers[0].Name != "calc" || servers[0].Status != "connected" {
		s.Errorf("the servers are %+v: %v", servers, err)
	}
	usage, err := c.ContextUsage(s.context())
	if err != nil || usage.TotalTokens <= 0 || usage.MaxTokens <= 0 {
		s.Fatalf("the usage is %+v: %v", usage, err)
	}
	cost, err := c.SessionCost(s.context())
	if err != nil || !strings.Contains(cost, "$") {
		s.Errorf("the cost is %q: %v", cost, err)
	}
	if _, err := c.SetPermissionMode(s.context(), sdk.ModePlan); err != nil {
		s.Error(err)
	}
	var refused *sdk.RequestError
	if err := c.Request(s.context(), "no_such_request", nil, nil); !errors.As(err, &refused) || refused.Code != "unsupported_request" {
		s.Errorf("an unknown request: %v", err)
	}
	return fmt.Sprintf("%d of %d tokens", usage.TotalTokens, usage.MaxTokens)
}
