package claude

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/schema"
)

func allowAll(context.Context, *PermissionRequest) (*Decision, error) {
	return &Decision{Allow: true}, nil
}

func TestArgs(t *testing.T) {
	always := []string{"--output-format=stream-json", "--input-format=stream-json", "--verbose"}
	tests := []struct {
		name    string
		opts    Options
		allowed []string
		want    []string
	}{
		{"defaults", Options{}, nil, nil},
		{"model", Options{
			Model: "sonnet", FallbackModel: "haiku,opus", Thinking: "adaptive", MaxThinkingTokens: 7,
			Effort: "high", Betas: []string{"a", "b"},
		}, nil, []string{
			"--model=sonnet", "--fallback-model=haiku,opus", "--thinking=adaptive", "--max-thinking-tokens=7",
			"--effort=high", "--betas=a,b",
		}},
		{"no tools, no settings", Options{Tools: []string{}, SettingSources: []string{}}, nil,
			[]string{"--tools=", "--setting-sources="}},
		{"tools", Options{
			Tools: []string{"Read", "Bash"}, AllowedTools: []string{"Bash(echo a, b)"}, DisallowedTools: []string{"Write", "Edit"},
			Skills: []string{"pdf"}, StrictMCPConfig: true, Permission: allowAll, PermissionMode: ModeDefault,
			PluginDirs: []string{"p"}, AddDirs: []string{"x", "y"},
		}, []string{"mcp__tools__add"}, []string{
			"--tools=Read,Bash", "--allowedTools=mcp__tools__add", "--allowedTools=Bash(echo a, b)", "--allowedTools=Skill(pdf)",
			"--disallowedTools=Write", "--disallowedTools=Edit", "--strict-mcp-config", "--permission-prompt-tool=stdio",
			"--permission-mode=default", "--plugin-dir=p", "--add-dir=x", "--add-dir=y",
		}},
		{"all skills", Options{Skills: []string{"all"}}, nil, []string{"--allowedTools=Skill"}},
		{"bypass", Options{PermissionMode: ModeBypass}, nil,
			[]string{"--permission-mode=bypassPermissions", "--allow-dangerously-skip-permissions"}},
		{"bypass later", Options{AllowBypass: true}, nil, []string{"--allow-dangerously-skip-permissions"}},
		{"continue", Options{Continue: true, Fork: true, NoPersistence: true}, nil,
			[]string{"--continue", "--fork-session", "--no-session-persistence"}},
		{"resume", Options{Resume: "s", ResumeAt: "m", Fork: true, SessionID: "id"}, nil,
			[]string{"--resume=s", "--resume-session-at=m", "--fork-session", "--session-id=id"}},
		{"settings file", Options{Settings: "my.json", SettingSources: []string{"user", "project"}}, nil,
			[]string{"--settings=my.json", "--setting-sources=user,project"}},
		{"settings", Options{Settings: ` {"env":{"TOKEN":"secret"}}`}, nil,
			[]string{"--await-initialize", "--initialize-fields=settings"}},
		{"servers", Options{MCPServers: map[string]*MCPServer{"a": {URL: "http://a", Headers: map[string]string{"Authorization": "secret"}}}}, nil,
			[]string{"--await-initialize"}},
		{"limits", Options{MaxTurns: 3, MaxBudgetUSD: 0.000001, TaskBudget: 9}, nil,
			[]string{"--max-turns=3", "--max-budget-usd=0.000001", "--task-budget=9"}},
		{"stream", Options{PartialMessages: true, HookEvents: true, ReplayUserMessages: true}, nil,
			[]string{"--include-partial-messages", "--include-hook-events", "--replay-user-messages"}},
		{"more", Options{Args: []string{"--debug-file=d"}}, nil, []string{"--debug-file=d"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := append(flags(&tt.opts, tt.allowed), tt.opts.Args...)
			if diff := cmp.Diff(append(slices.Clone(always), tt.want...), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestArgsInjection looks for values that could be read as flags.
func TestArgsInjection(t *testing.T) {
	const evil = "--dangerously-skip-permissions"
	all := []string{evil}
	o := Options{
		Model: evil, FallbackModel: evil, Thinking: evil, Effort: evil, Betas: all, SystemPrompt: evil, AppendSystemPrompt: evil,
		Tools: all, AllowedTools: all, DisallowedTools: all, Skills: all, PluginDirs: all, AddDirs: all, PermissionMode: evil,
		Resume: evil, ResumeAt: evil, SessionID: evil, Title: evil, Settings: evil, SettingSources: []string{evil},
	}
	args := flags(&o, all)
	if len(args) < 20 {
		t.Fatalf("only %d arguments: %q", len(args), args)
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, evil) || !strings.HasPrefix(arg, "--") {
			t.Errorf("the argument %q is a value", arg)
		}
	}
}

func TestEnvironment(t *testing.T) {
	o := Options{Checkpoints: true, MaxRetries: -1, ToolTimeout: 1500*time.Millisecond + 1, Env: []string{"CLAUDE_CODE_ENTRYPOINT=mine", "HOME"}}
	want := []string{
		"CLAUDE_CODE_ENTRYPOINT=sdk-go", "CLAUDE_CODE_SDK_READS_SESSION_STATE=1", "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true",
		"CLAUDE_CODE_MAX_RETRIES=0", "MCP_TOOL_TIMEOUT=1501", "CLAUDE_CODE_ENTRYPOINT=mine", "HOME",
	}
	if diff := cmp.Diff(want, environment(&o)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := environment(&Options{MaxRetries: 2}); !slices.Contains(got, "CLAUDE_CODE_MAX_RETRIES=2") {
		t.Errorf("2 retries are %q", got)
	}
}

// TestInitialize compares bodies of the first request as JSON.
func TestInitialize(t *testing.T) {
	tests := []struct {
		name string
		opts Options
		want string
	}{
		{"defaults", Options{}, `{"systemPrompt":[""]}`},
		{"own prompt", Options{SystemPrompt: "You are.", AppendSystemPrompt: "And more."},
			`{"systemPrompt":["You are."],"appendSystemPrompt":"And more."}`},
		{"a prompt of two parts", Options{SystemPrompt: "Always.\n__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__\nToday."},
			`{"systemPrompt":["Always.","__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__","Today."]}`},
		{"Claude Code's prompt", Options{ClaudeCodePrompt: true, AppendSystemPrompt: "And more."}, `{"appendSystemPrompt":"And more."}`},
		{"servers", Options{ClaudeCodePrompt: true, MCPServers: map[string]*MCPServer{
			"a": {Command: "run", Args: []string{"-x"}, Env: map[string]string{"K": "v"}, AlwaysLoad: true, Timeout: 2 * time.Second},
			"b": {URL: "http://b", Headers: map[string]string{"H": "v"}},
			"c": {URL: "http://c", SSE: true},
		}}, `{"mcpServers":{
			"a":{"type":"stdio","command":"run","args":["-x"],"env":{"K":"v"},"timeout":2000,"alwaysLoad":true},
			"b":{"type":"http","url":"http://b","headers":{"H":"v"}},
			"c":{"type":"sse","url":"http://c"}}}`},
		{"settings", Options{ClaudeCodePrompt: true, Settings: `{"model":"x"}`}, `{"settings":{"model":"x"}}`},
		{"agents", Options{ClaudeCodePrompt: true, Agents: map[string]*Subagent{"r": {Description: "d", Prompt: "p", Tools: []string{"Read"}, MaxTurns: 2, Background: true}}},
			`{"agents":{"r":{"description":"d","prompt":"p","tools":["Read"],"maxTurns":2,"background":true}}}`},
		{"an agent with servers", Options{ClaudeCodePrompt: true, Agents: map[string]*Subagent{"r": {
			Description: "d", Prompt: "p", MCPServers: []string{"tools"}, OwnServers: map[string]*MCPServer{"b": {URL: "http://b"}, "a": {Command: "run"}},
			AutoCompactWindow: 9, Observer: "o", ObserverMessage: "m",
		}}}, `{"agents":{"r":{"description":"d","prompt":"p","mcpServers":["tools",{"a":{"type":"stdio","command":"run"}},{"b":{"type":"http","url":"http://b"}}],
			"autoCompactWindow":9,"observer":"o","observerMessage":"m"}}}`},
		{"managed settings", Options{ClaudeCodePrompt: true, ManagedSettings: map[string]any{"permissions": map[string]any{"deny": []string{"Bash"}}}},
			`{"managedSettings":{"permissions":{"deny":["Bash"]}}}`},
		{"others", Options{ClaudeCodePrompt: true, Title: "t", Skills: []string{}, SubagentText: true},
			`{"title":"t","skills":[],"forwardSubagentText":true}`},
		{"all skills", Options{ClaudeCodePrompt: true, Skills: []string{"all"}}, `{}`},
		{"output", Options{ClaudeCodePrompt: true, Output: outputOf[struct{ A int }]().schema},
			`{"jsonSchema":{"type":"object","properties":{"A":{"type":"integer"}},"required":["A"],"additionalProperties":false}}`},
		{"hooks", Options{ClaudeCodePrompt: true,
			Restrict: map[string]map[string]any{"Bash": {"x": false}, "Agent": {"y": 1}},
			Hooks: []Hook{
				{Event: Stop, Handle: noHook},
				{Event: PreToolUse, Matcher: "Edit|Write", Timeout: 1500 * time.Millisecond, FailClosed: true, Handle: noHook},
			}}, `{"hooks":{
			"Stop":[{"hookCallbackIds":["hook_0"]}],
			"PreToolUse":[{"matcher":"Agent|Bash","hookCallbackIds":["restrict"],"onFailure":"block"},
				{"matcher":"Edit|Write","hookCallbackIds":["hook_1"],"timeout":1.5,"onFailure":"block"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.opts.check(); err != nil {
				t.Fatal(err)
			}
			body, err := tt.opts.initialize(&tools{})
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, body, tt.want)
		})
	}
}

// TestLongPrompt: an argument of more than 128 KiB cannot be given to a process.
func TestLongPrompt(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	o := Options{SystemPrompt: long, AppendSystemPrompt: long, Settings: `{"x":"` + long + `"}`, Output: schema.MustParse(`{"type":"object","description":"` + long + `"}`)}
	for _, arg := range flags(&o, nil) {
		if len(arg) > 1000 {
			t.Errorf("an argument of %d bytes begins with %.40q", len(arg), arg)
		}
	}
	body, err := o.initialize(&tools{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(body)
	if err != nil || len(raw) < 4*len(long) {
		t.Errorf("the first request has %d bytes, %v", len(raw), err)
	}
}

func noHook(context.Context, *HookInput) (*HookOutput, error) { return nil, nil }

func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "missing")
	tests := []struct {
		name string
		opts Options
		want string // "" if nothing is wrong
	}{
		{"defaults", Options{}, ""},
		{"fork", Options{Resume: "s", Fork: true, SessionID: "0190b3f4-7c1e-4b8e-9d55-3f2f5a0c9e11", ResumeAt: "m"}, ""},
		{"two prompts", Options{ClaudeCodePrompt: true, SystemPrompt: "x"}, "put the text in AppendSystemPrompt"},
		{"misspelled thinking", Options{Thinking: "adaptiv"}, `the Thinking is "adaptiv", which the CLI does not know; did you mean adaptive?`},
		{"misspelled effort", Options{Effort: "xhihg"}, "did you mean xhigh?"},
		{"words of a newer CLI", Options{Effort: "quantum", Thinking: "backwards", PermissionMode: "yolo", SettingSources: []string{"galaxies"}}, ""},
		{"known effort", Options{Effort: "xhigh", Thinking: "disabled"}, ""},
		{"thinking", Options{Thinking: "disabled", MaxThinkingTokens: 1}, "leave one of them out"},
		{"fallback", Options{Model: "a", FallbackModel: "a"}, "name another"},
		{"continue and resume", Options{Continue: true, Resume: "s"}, "leave out Continue"},
		{"fork of nothing", Options{Fork: true}, "set Resume to its id"},
		{"resume at", Options{Continue: true, ResumeAt: "m"}, "ResumeAt needs Resume"},
		{"session id of an old one", Options{Resume: "s", SessionID: "0190b3f4-7c1e-4b8e-9d55-3f2f5a0c9e11"}, "set Fork"},
		{"session id", Options{SessionID: "mine"}, "is not a UUID"},
		{"turns", Options{MaxTurns: -1}, "MaxTurns is below 0"},
		{"budget", Options{MaxBudgetUSD: -0.5}, "MaxBudgetUSD is -0.5"},
		{"no number", Options{MaxBudgetUSD: math.NaN()}, "MaxBudgetUSD is NaN"},
		{"tool timeout", Options{ToolTimeout: -1}, "ToolTimeout is below 0"},
		{"mode", Options{PermissionMode: "acceptEdit"}, "did you mean acceptEdits?"},
		{"source", Options{SettingSources: []string{"Project"}}, "did you mean project?"},
		{"agent", Options{Agents: map[string]*Subagent{"a": {Prompt: "p"}}}, "needs a name, a Description"},
		{"server of an agent", Options{Agents: map[string]*Subagent{"a": {Description: "d", Prompt: "p", OwnServers: map[string]*MCPServer{"s": {}}}}}, `the sub-agent "a": the MCP server "s" needs a Command or a URL`},
		{"settings", Options{Settings: `{"a":`}, "check the syntax"},
		{"settings list", Options{Settings: `[1]`}, `Settings is "[1]", which is neither a JSON object`},
		{"no settings", Options{Settings: file}, "nor an existing file"},
		{"settings file", Options{Settings: "../options_test.go", Dir: "testdata"}, ""},
		{"a directory of another machine", Options{Dir: file}, ""},
		{"a word", Options{Args: []string{"tell me"}}, "is not a flag"},
		{"format", Options{Args: []string{"--output-format=text"}}, "would break the stream"},
		{"version", Options{Args: []string{"--version"}}, "would break the stream"},
		{"servers by flag", Options{Args: []string{"--mcp-config={}"}}, "set MCPServers"},
		{"zero byte", Options{Model: "a\x00b"}, `the argument "--model" contains a zero byte`},
		{"zero byte in a flag", Options{Args: []string{"--debug-file=\x00"}}, `the argument "--debug-file" contains a zero byte`},
		{"nil server", Options{Servers: []*Server{nil}}, "create it with NewServer"},
		{"empty server", Options{Servers: []*Server{{}}}, "create it with NewServer"},
		{"environment", Options{Env: []string{"=x"}}, "has no name"},
		{"server without address", Options{MCPServers: map[string]*MCPServer{"s": {}}}, "needs a Command or a URL"},
		{"server with both", Options{MCPServers: map[string]*MCPServer{"s": {Command: "c", URL: "u"}}}, "and not both"},
		{"server over SSE", Options{MCPServers: map[string]*MCPServer{"s": {Command: "c", SSE: true}}}, "has no URL; set it"},
		{"hook without event", Options{Hooks: []Hook{{}}}, "has no Event"},
		{"hook of no event", Options{Hooks: []Hook{{Event: "PreTooluse", Handle: noHook}}}, `the Event of hook 0 is "PreTooluse", which the CLI does not know; did you mean PreToolUse?`},
		{"hook by its name", Options{Hooks: []Hook{{Event: "TaskCreated", Handle: noHook}}}, ""},
		{"hook with a space", Options{Hooks: []Hook{{Event: "Pre Tool-Use", Handle: noHook}}}, "did you mean PreToolUse?"},
		{"hook in another form", Options{Hooks: []Hook{{Event: "subagent_stop", Handle: noHook}}}, "did you mean SubagentStop?"},
		{"hook of a newer CLI that sounds like another", Options{Hooks: []Hook{{Event: "PostSkillShellCommand", Handle: noHook}, {Event: "TaskUpdated", Handle: noHook}, {Event: "PreTool", Handle: noHook}}}, ""},
		{"misspelled effort of an agent", Options{Agents: map[string]*Subagent{"a": {Description: "d", Prompt: "p", Effort: "hihg"}}}, `the sub-agent "a": the Effort is "hihg"`},
		{"misspelled mode of an agent", Options{Agents: map[string]*Subagent{"a": {Description: "d", Prompt: "p", PermissionMode: "plna"}}}, "did you mean plan?"},
		{"misspelled memory of an agent", Options{Agents: map[string]*Subagent{"a": {Description: "d", Prompt: "p", Memory: "projekt"}}}, "did you mean project?"},
		{"agent with words of a newer CLI", Options{Agents: map[string]*Subagent{"a": {Description: "d", Prompt: "p", Effort: "ultra", PermissionMode: "manual", Memory: "team"}}}, ""},
		{"hook of a newer CLI", Options{Hooks: []Hook{{Event: "OfTomorrow", Handle: noHook}}}, ""},
		{"hook without function", Options{Hooks: []Hook{{Event: Stop}}}, "has no Handle"},
		{"hook that is not called", Options{Hooks: []Hook{{Event: "SessionStart", Handle: noHook}}}, "would never be called"},
		{"restriction", Options{Restrict: map[string]map[string]any{"Bash": {"f": func() {}}}}, "is not JSON"},
		{"output", Options{Output: schema.MustParse(`false`)}, "the output schema cannot be expressed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.opts.check()
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		})
	}
	several := Options{MaxTurns: -1, Fork: true, Tools: []string{}}
	if err := several.check(); err == nil || !strings.Contains(err.Error(), "MaxTurns") || !strings.Contains(err.Error(), "Fork") {
		t.Errorf("not all is told: %v", err)
	}
}

func sameJSON(t *testing.T, got any, want string) {
	t.Helper()
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var g, w any
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
