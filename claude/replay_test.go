package claude_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/schema"
)

// A row says what is special about the replay of one recording. Everything
// else follows from the recording: the options from what the CLI was started
// with, the calls, permissions and hooks from what it asked for, and the
// outcome from its last result.
type row struct {
	options func(*claude.Options)
	tool    func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) // in place of the tools
	drive   func(t *testing.T, s *claude.Session)                                    // in place of Run on the only prompt
	early   bool                                                                     // the host ends the input before the recording does
	fails   string                                                                   // the error's text contains this
	refused string                                                                   // a tool that is not taken because of this rule
}

// replays are all recordings.
var replays = map[string]row{
	"01-text-only":                              {},
	"02a-default-flags-tools-deferred":          {},
	"02b-tool-call-allowed":                     {},
	"02c-tool-call-can-use-tool":                {},
	"02e-enable-tool-search-false":              {},
	"03-tool-iserror":                           {},
	"03b-tool-jsonrpc-error":                    {tool: protocolError},
	"03d-unknown-tool":                          {},
	"04-parallel-tools":                         {},
	"05a-structured-output":                     {},
	"05b-structured-output-invalid-then-valid":  {},
	"06-partial-messages":                       {},
	"07a-interrupt-streaming":                   {drive: interruptAndContinue},
	"08a-api-429-then-ok":                       {},
	"08b-api-429-final":                         {fails: "429"},
	"08d-api-401":                               {fails: "Invalid API key"},
	"08e-api-400":                               {fails: "JSON schema is invalid"},
	"08g-unified-rate-limit-headers-oauth":      {},
	"09-max-turns":                              {fails: "Reached maximum number of turns (1)"},
	"10a-permission-deny-callback":              {},
	"10c-permission-no-prompt-surface":          {},
	"10d-permission-callback-error":             {},
	"10e-disallowed-tool":                       {},
	"11a-hooks":                                 {},
	"11c-hook-defer":                            {},
	"12-control-requests":                       {options: dropping, drive: controlRequests},
	"13-large-and-image-result":                 {},
	"14-server-tool-usage":                      {},
	"15b-stdin-closed-text-only":                {},
	"16-manifests-no-handshake":                 {},
	"18-progress-notification":                  {tool: progress},
	"19-tool-timeout":                           {tool: untilCancelled},
	"21-replay-user-messages":                   {},
	"24-no-initialize":                          {},
	"26-exit-error-flag":                        {fails: "not in the recording"},
	"31-schemas":                                {refused: "all/poison-root-type", early: true, fails: "s05_ref"},
	"33-resources-prompts-caps":                 {},
	"34-server-to-client-requests":              {tool: askBack},
	"36-no-prefix-env":                          {},
	"38-sigterm-mid-turn":                       {fails: "143"},
	"39-initialize-jsonschema-and-systemprompt": {},
	"40-api-hang":                               {fails: "Request timed out"},
	"41-permission-prompts-none":                {},
	"42-ttft-and-many-calls":                    {},
	"43-schemas-good":                           {drive: dropped("s07_propname")},
	"44-bad-arrayroot":                          {refused: "all/poison-root-type", drive: dropped("good")},
	"44-bad-badkeyword":                         {drive: dropped("good")},
	"44-bad-badtype":                            {drive: dropped("bad")},
	"44-bad-boolprops":                          {drive: turnAndStatus},
	"44-bad-emptyobj":                           {drive: dropped("good")},
	"44-bad-noname":                             {refused: "claude-code/name", drive: turnAndStatus},
	"44-bad-nullreq":                            {drive: dropped("good")},
	"44-bad-outarray":                           {drive: turnAndStatus},
	"44-bad-typelist":                           {drive: dropped("good")},
	"45b-result-sizes-tokens30k":                {drive: turnAndStatus},
	"48-text-mode-json":                         {fails: "result"},
	"51-hook-timeout":                           {},
	"53-resume":                                 {},
	"60-stdio-ok":                               {drive: turnAndStatus},
	"60-stdio-props":                            {drive: turnAndStatus},
	"61-jsonschema-anyof":                       {},
	"61-jsonschema-invalid":                     {fails: "not in the recording"},
	"61-jsonschema-ref":                         {},
	"61-jsonschema-string":                      {fails: "output"},
	"63-text-and-structured-content":            {},
	"70-background-shell":                       {},
	"71-verbatim-mention":                       {},
}

func TestReplay(t *testing.T) {
	all, err := fs.ReadDir(os.DirFS(recordings), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		if _, ok := replays[dir.Name()]; !ok {
			t.Errorf("the recording %s is not replayed", dir.Name())
		}
	}
	t.Run("all", func(t *testing.T) {
		for name, row := range replays {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r, err := load(name)
				if err != nil {
					t.Fatal(err)
				}
				(&host{T: t, row: row, recording: r}).replay()
			})
		}
	})
	leaks(t)
}

// A host replays one recording, and notes what it is asked.
type host struct {
	*testing.T
	row
	*recording

	mu     sync.Mutex
	calls  []string
	asked  []string // permissions
	hooked []string
}

func (h *host) note(list *[]string, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*list = append(*list, fmt.Sprintf(format, args...))
}

func (h *host) replay() {
	o := h.implied()
	if h.drive != nil {
		s := open(h.T, o)
		h.drive(h.T, s)
		if err := s.Close(); err != nil {
			h.Error(err)
		}
	} else {
		all, err := collect(claude.Run(h.Context(), h.prompt(), o))
		h.checkOutcome(all, err)
	}
	h.checkAsked()
}

func (h *host) prompt() string {
	if p := h.prompts(); len(p) > 0 {
		return p[0]
	}
	return "go"
}

// implied are the options that do what the recorded host did.
func (h *host) implied() *claude.Options {
	o := options(h.T, h.name)
	for _, e := range h.env {
		if slices.ContainsFunc([]string{"CLAUDE_CODE_MAX", "MCP_", "API_", "ENABLE_", "CLAUDE_AGENT"}, func(p string) bool { return strings.HasPrefix(e, p) }) {
			o.Env = append(o.Env, e)
		}
	}
	if h.early {
		o.Env = append(o.Env, earlyVariable+"=1")
	}
	o.Model, _ = flag(h.args, "--model")
	o.SystemPrompt, _ = flag(h.args, "--system-prompt")
	if p := linesOfText(h.first().at("request", "systemPrompt")); len(p) > 0 {
		o.SystemPrompt = p[0]
	}
	if tools, ok := flag(h.args, "--tools"); ok {
		o.Tools = split(tools)
	}
	if tools, ok := flag(h.args, "--allowedTools"); ok {
		o.AllowedTools = split(tools)
	}
	if tools, ok := flag(h.args, "--disallowedTools"); ok {
		o.DisallowedTools = split(tools)
	}
	if _, ok := flag(h.args, "--setting-sources"); ok {
		o.SettingSources = []string{}
	}
	if turns, ok := flag(h.args, "--max-turns"); ok {
		o.MaxTurns, _ = strconv.Atoi(turns)
	}
	_, o.StrictMCPConfig = flag(h.args, "--strict-mcp-config")
	_, o.PartialMessages = flag(h.args, "--include-partial-messages")
	_, o.HookEvents = flag(h.args, "--include-hook-events")
	_, o.ReplayUserMessages = flag(h.args, "--replay-user-messages")
	if v, ok := flag(h.args, "--permission-prompts"); ok {
		o.Args = append(o.Args, "--permission-prompts="+v)
	}
	if _, ok := flag(h.args, "--no-such-flag"); ok {
		o.Args = append(o.Args, "--no-such-flag")
	}
	if _, ok := flag(h.args, "--permission-prompt-tool"); ok {
		o.Permission = h.permit
	}
	h.implyHooks(o)
	h.implyOutput(o)
	h.implyServers(o)
	if h.options != nil {
		h.options(o)
	}
	return o
}

func split(list string) []string {
	if list == "" {
		return []string{}
	}
	return strings.Split(list, ",")
}

func linesOfText(v any) []string {
	list, _ := v.([]any)
	all := make([]string, len(list))
	for i, s := range list {
		all[i], _ = s.(string)
	}
	return all
}

// implyOutput asks for the structure that the recorded host did.
func (h *host) implyOutput(o *claude.Options) {
	asked := h.schema()
	if asked == nil {
		return
	}
	s, err := schema.Parse([]byte(encode(asked)))
	if err != nil { // the SDK does not let it through
		o.Args = append(o.Args, "--json-schema="+encode(asked))
		return
	}
	o.Output = s
}

// implyServers serves the tools that the recorded host did.
func (h *host) implyServers(o *claude.Options) {
	var config struct {
		McpServers map[string]struct {
			Type, Command string
			Args          []string
			AlwaysLoad    bool
		}
	}
	text, _ := flag(h.args, "--mcp-config")
	_ = json.Unmarshal([]byte(text), &config) // nil if there is none
	for name, s := range config.McpServers {
		if s.Type == "stdio" {
			o.MCPServers = map[string]*claude.MCPServer{name: {Command: s.Command, Args: s.Args, AlwaysLoad: s.AlwaysLoad}}
		}
	}
	for name, listed := range h.servers() {
		tools := h.listed(listed)
		if strings.HasPrefix(name, "calc") {
			tools = h.calculator()
		}
		options := claude.ServerOptions{Ask: !strings.Contains(strings.Join(o.AllowedTools, ","), "mcp__"), Features: h.features(name)}
		server, err := claude.NewServer(h.Context(), name, tools, &options)
		if h.refused != "" {
			var refused *claude.ToolsRefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), h.refused) {
				h.Errorf("the server %s is not refused because of %q: %v", name, h.refused, err)
			}
			options.SkipRefused = true
			server, err = claude.NewServer(h.Context(), name, tools, &options)
		}
		if err != nil {
			h.Fatal(err)
		}
		o.Servers = append(o.Servers, server)
	}
}

// features are the resources that the host listed and let read.
func (h *host) features(server string) *toolpost.Features {
	f := &toolpost.Features{}
	result := func(q line, name string) []line {
		return linesOf(h.answered(q.text("request_id")).at("response", "response", "mcp_response", "result", name))
	}
	for _, q := range h.recording.asked("mcp_message", "resources/list") {
		for _, r := range result(q, "resources") {
			f.Resources = append(f.Resources, &toolpost.Resource{
				URI: r.text("uri"), Definition: json.RawMessage(encode(r)),
				Read: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
					for _, q := range h.recording.asked("mcp_message", "resources/read") {
						if q.text("request", "message", "params", "uri") == call.Name {
							return toolpost.RawResult(json.RawMessage(encode(object{"contents": result(q, "contents")}))), nil
						}
					}
					return nil, toolpost.ErrNotFound
				},
			})
		}
	}
	return f
}

type pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// calculator has the tools of most recordings.
func (h *host) calculator() toolpost.Tools {
	tools := toolpost.Tools{
		toolpost.New("add", "Add two numbers", func(_ context.Context, in pair) (string, error) {
			return fmt.Sprint(in.A + in.B), nil
		}, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: new(true)}}),
		toolpost.New("div", "Divide a by b", func(_ context.Context, in pair) (string, error) {
			if in.B == 0 {
				return "", errors.New("division by zero")
			}
			return fmt.Sprint(in.A / in.B), nil
		}, nil),
		toolpost.New("blob", "Return a large text and an image", func(_ context.Context, in struct {
			N int `json:"n"`
		}) ([]toolpost.Part, error) {
			image, err := base64.StdEncoding.DecodeString(pixel)
			// The recording is trimmed in the same way.
			text := strings.Repeat("x", 300) + fmt.Sprintf("…[trimmed %d chars]", in.N)
			return []toolpost.Part{{Type: "text", Text: text}, {Type: "image", Data: image, MIMEType: "image/png"}}, err
		}, nil),
	}
	for _, t := range tools {
		t.Handler = h.noted(t.Handler)
	}
	return tools
}

// noted notes the calls of a handler; the row may replace it.
func (h *host) noted(handle toolpost.Handler) toolpost.Handler {
	if h.tool != nil {
		handle = h.tool
	}
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var arguments any
		if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
			h.Errorf("the arguments of %s: %v", call.Name, err)
		}
		h.note(&h.calls, "%s %s", call.Name, encode(arguments))
		return handle(ctx, call)
	}
}

// listed are tools that answer as the recorded host did.
func (h *host) listed(tools []line) toolpost.Tools {
	var all toolpost.Tools
	for _, t := range tools {
		tool := &toolpost.Tool{Handler: h.noted(func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			for _, q := range h.recording.asked("mcp_message", "tools/call") {
				if q.text("request", "message", "params", "name") == call.Name {
					a := h.answered(q.text("request_id"))
					return toolpost.RawResult(json.RawMessage(encode(a.at("response", "response", "mcp_response", "result")))), nil
				}
			}
			return nil, fmt.Errorf("the recording has no call of %s", call.Name)
		})}
		tool.Name, tool.Description, tool.Raw = t.text("name"), t.text("description"), json.RawMessage(encode(t))
		for to, name := range map[**schema.Schema]string{&tool.Input: "inputSchema", &tool.Output: "outputSchema"} {
			if t[name] == nil {
				continue
			}
			var err error
			if *to, err = schema.Parse([]byte(encode(t[name]))); err != nil {
				h.Errorf("%v in %s", err, encode(t))
			}
		}
		all = append(all, tool)
	}
	return all
}

// checkAsked compares the calls, permissions and hooks with those of the
// recording.
func (h *host) checkAsked() {
	var calls, asked, hooked []string
	for _, q := range h.recording.asked("mcp_message", "tools/call") {
		calls = append(calls, q.text("request", "message", "params", "name")+" "+encode(q.at("request", "message", "params", "arguments")))
	}
	for _, q := range h.recording.asked("can_use_tool", "") {
		asked = append(asked, q.text("request", "tool_name")+" "+encode(q.at("request", "input")))
	}
	for _, q := range h.recording.asked("hook_callback", "") {
		hooked = append(hooked, q.text("request", "input", "hook_event_name"))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range []struct {
		what      string
		want, got []string
	}{{"calls", calls, h.calls}, {"permissions", asked, h.asked}, {"hooks", hooked, h.hooked}} {
		if !slices.Equal(c.want, c.got) {
			h.Errorf("%s: %q, not %q", c.what, c.got, c.want)
		}
	}
}

// checkOutcome compares messages and result with those of the recording.
func (h *host) checkOutcome(all []message.Message, err error) {
	switch {
	case h.fails != "" && (err == nil || !strings.Contains(err.Error(), h.fails)):
		h.Errorf("error %v does not say %q", err, h.fails)
	case h.fails == "" && err != nil:
		h.Error(err)
	}
	if h.early {
		return
	}
	var want, got []string
	for _, m := range h.messages() {
		want = append(want, m.text("uuid"))
	}
	for _, m := range all {
		got = append(got, m.Head().UUID)
	}
	if !slices.Equal(want, got) {
		h.Errorf("the messages are %q, not %q", got, want)
	}
	h.checkResponse(all, err)
}

func (h *host) checkResponse(all []message.Message, failure error) {
	last := h.result()
	response, err := claude.Collect(func(yield func(message.Message, error) bool) {
		for _, m := range all {
			if !yield(m, nil) {
				return
			}
		}
	})
	if last == nil {
		if !errors.Is(err, claude.ErrNoResult) && !(len(all) == 0 && errors.Is(err, claude.ErrNoMessages)) {
			h.Errorf("without a result: %v", err)
		}
		return
	}
	if err != nil {
		h.Error(err)
		return
	}
	var refused *claude.ResultError
	if failed := last["is_error"] == true; errors.As(failure, &refused) != failed || response.IsError != failed {
		h.Errorf("is_error is %v, but the response says %v and the error is %v", failed, response.IsError, failure)
	}
	if refused != nil && (refused.Subtype != last.text("subtype") || refused.TerminalReason != last.text("terminal_reason") ||
		refused.SessionID != last.text("session_id") || !equalNumber(last["api_error_status"], refused.APIStatus)) {
		h.Errorf("the error is %+v, not %s", refused, encode(last))
	}
	text, told := last["result"].(string)
	if told && response.Result != text && last["structured_output"] == nil || response.Subtype != last.text("subtype") || response.SessionID != last.text("session_id") {
		h.Errorf("the response is %+v, not %s", response, encode(last))
	}
	if want := last["structured_output"]; want != nil {
		var got any
		if err := json.Unmarshal([]byte(response.StructuredOutput), &got); err != nil || !reflect.DeepEqual(got, want) {
			h.Errorf("the structured output is %s, not %s (%v)", response.StructuredOutput, encode(want), err)
		}
	}
	if denials, _ := last["permission_denials"].([]any); len(denials) != len(response.PermissionDenials) {
		h.Errorf("the denials are %v, not %v", response.PermissionDenials, denials)
	}
}

func equalNumber(v any, n int) bool {
	f, _ := v.(float64) // 0 if there is none
	return f == float64(n)
}

// The tools of single rows.

func protocolError(context.Context, *toolpost.Call) (*toolpost.Result, error) {
	return nil, &toolpost.ProtocolError{Code: -32603, Message: "boom: internal failure", Data: []byte(`{"k":"v"}`)}
}

func progress(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	for i := range 3 {
		if err := call.Progress(ctx, float64(i+1), 3, fmt.Sprint("step ", i+1)); err != nil {
			return nil, err
		}
	}
	return toolpost.TextResult("5"), nil
}

func untilCancelled(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	if err := call.Progress(ctx, 1, 2, "begun"); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return toolpost.TextResult("5"), nil
	case <-time.After(time.Minute):
		return nil, errors.New("the CLI's cancellation did not reach the tool")
	}
}

// askBack asks the CLI, which declares that it cannot be asked.
func askBack(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	for _, method := range []string{"roots/list", "elicitation/create"} {
		if err := call.Ask(ctx, method, object{}, nil); !errors.Is(err, toolpost.ErrNoCaller) {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
	}
	if err := call.Log(ctx, "info", "", "log line"); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return toolpost.TextResult("5"), nil
}

// The sessions of single rows.

func turn(t *testing.T, s *claude.Session, prompt, text string) {
	t.Helper()
	all, err := collect(s.Turn(t.Context(), prompt))
	want(t, all, err, text)
}

func turnAndStatus(t *testing.T, s *claude.Session) {
	turn(t, s, "go", "done")
	status(t, s)
}

func status(t *testing.T, s *claude.Session) {
	t.Helper()
	servers, err := s.Control().MCPStatus(t.Context())
	if err != nil || len(servers) != 1 || servers[0].Status != "connected" {
		t.Errorf("the servers are %v (%v)", servers, err)
	}
}

// dropped tools are found out: in these recordings a malformed tool, which the
// SDK has adapted or left out now, made the CLI drop it, or all of the server.
// The CLI's turn goes on.
func dropped(tool string) func(t *testing.T, s *claude.Session) {
	return func(t *testing.T, s *claude.Session) {
		if _, err := s.Send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		_, err := collect(s.Messages(t.Context())) // not of a turn, which an error would interrupt
		var dropped *claude.ToolsDroppedError
		if !errors.As(err, &dropped) || !slices.Contains(dropped.Missing, "mcp__sch__"+tool) {
			t.Errorf("error %v does not tell that %s is dropped", err, tool)
		}
		all, err := collect(func(yield func(message.Message, error) bool) {
			for m, err := range s.Messages(t.Context()) {
				if !yield(m, err) || err != nil || m.Head().Type == "result" {
					return
				}
			}
		})
		want(t, all, err, "done")
		status(t, s)
	}
}

func dropping(o *claude.Options) { o.AllowDropped = true }

func interruptAndContinue(t *testing.T, s *claude.Session) {
	events := 0
	var failure *claude.ResultError
	for m, err := range s.Turn(t.Context(), "talk slowly") {
		if err != nil {
			if !errors.As(err, &failure) || failure.TerminalReason != "aborted_streaming" {
				t.Errorf("the interrupted turn ended with %v", err)
			}
			break
		}
		if _, ok := m.(*message.StreamEvent); ok {
			events++
		}
		if events == 12 {
			events++
			if waiting, err := s.Interrupt(t.Context()); err != nil || len(waiting) > 0 {
				t.Errorf("waiting %v, error %v", waiting, err)
			}
		}
	}
	if failure == nil {
		t.Error("the interrupted turn ended without an error")
	}
	turn(t, s, "continue", "After the interrupt.")
}

func controlRequests(t *testing.T, s *claude.Session) {
	ctx, c := t.Context(), s.Control()
	turn(t, s, "hi", "ok")
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused := func(what, code, text string, err error) {
		t.Helper()
		var refusal *claude.RequestError
		if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(refusal.Message, text) {
			t.Errorf("%s: %v is not the refusal %q %q", what, err, code, text)
		}
	}
	status(t, s)
	usage, err := c.ContextUsage(ctx)
	check("context usage", err)
	if err == nil && (usage.MaxTokens == 0 || len(usage.Categories) == 0) {
		t.Errorf("the context usage is %+v", usage)
	}
	check("set model", c.SetModel(ctx, "claude-opus-4-5"))
	for _, want := range []claude.PermissionMode{claude.ModePlan, claude.ModeDefault} {
		mode, err := c.SetPermissionMode(ctx, want)
		check(string(want), err)
		if mode != want {
			t.Errorf("the mode is %s, want %s", mode, want)
		}
	}
	check("thinking", c.Request(ctx, "set_max_thinking_tokens", object{"max_thinking_tokens": 2000}, nil))
	check("off", c.Request(ctx, "mcp_toggle", object{"serverName": "calc", "enabled": false}, nil))
	check("on", c.Request(ctx, "mcp_toggle", object{"serverName": "calc", "enabled": true}, nil))
	refused("reconnect", "", "SDK servers", c.Request(ctx, "mcp_reconnect", object{"serverName": "calc"}, nil))
	check("settings", c.Request(ctx, "get_settings", nil, nil))
	cost, err := c.SessionCost(ctx)
	check("cost", err)
	if !strings.Contains(cost, "$0.0007") {
		t.Errorf("the cost is %q", cost)
	}
	check("models", c.Request(ctx, "list_models", nil, nil))
	refused("rewind", "", "not enabled", c.Request(ctx, "rewind_files", object{"user_message_id": "00000000-0000-0000-0000-000000000000"}, nil))
	check("stop task", c.StopTask(ctx, "nope"))
	_, err = s.Interrupt(ctx)
	check("interrupt", err)
	check("rules", c.Request(ctx, "list_permission_rules", nil, nil))
	refused("call", "", "does not support SDK", c.Request(ctx, "mcp_call", object{"tool": "mcp__calc__add", "arguments": object{"a": 1, "b": 2}}, nil))
	refused("unknown", "unsupported_request", "no_such_request", c.Request(ctx, "no_such_request", nil, nil))
	servers := object{"calc": object{"name": "calc", "type": "sdk"}, "calc2": object{"name": "calc2", "type": "sdk"}}
	check("set servers", c.Request(ctx, "mcp_set_servers", object{"servers": servers}, nil))
	turn(t, s, "again", "ok")
}
