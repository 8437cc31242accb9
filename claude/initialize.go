package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// initialize is the body of the first control request. It carries what the
// command line should not: an argument is at most 128 KiB long on Linux, and
// visible to others.
func (o *Options) initialize(ts *tools) (map[string]any, error) {
	settings, err := o.settings()
	if err != nil {
		return nil, err
	}
	body, options := map[string]any{}, map[string]bool{"subtype": true}
	set := func(name string, given bool, value any) {
		options[name] = true
		if given {
			body[name] = value
		}
	}
	names, manifests, hooks := ts.names(), ts.manifests(), hookMatchers(o)
	set("sdkMcpServers", len(names) > 0, names)
	set("sdkMcpServerManifests", len(manifests) > 0, manifests)
	set("mcpServers", len(o.MCPServers) > 0, o.MCPServers)
	set("hooks", len(hooks) > 0, hooks)
	set("systemPrompt", !o.ClaudeCodePrompt, promptParts(o.SystemPrompt))
	set("appendSystemPrompt", o.AppendSystemPrompt != "", o.AppendSystemPrompt)
	set("settings", inline(settings), json.RawMessage(settings))
	set("managedSettings", len(o.ManagedSettings) > 0, o.ManagedSettings)
	set("agents", len(o.Agents) > 0, o.Agents)
	set("skills", o.Skills != nil && !slices.Contains(o.Skills, "all"), o.Skills)
	set("title", o.Title != "", o.Title)
	set("forwardSubagentText", o.SubagentText, true)
	set("supportedDialogKinds", len(o.DialogKinds) > 0, o.DialogKinds)
	set("jsonSchema", o.Output != nil, o.schema())
	for name, value := range o.Initialize {
		if options[name] {
			return nil, fmt.Errorf("the field %q of Initialize has its own option; set that option", name)
		}
		body[name] = value
	}
	return body, nil
}

// promptParts splits a system prompt at the line from which on it is not the same in
// all sessions; the CLI takes that line as a part of its own.
func promptParts(prompt string) []string {
	const boundary = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
	if fixed, rest, ok := strings.Cut(prompt, "\n"+boundary+"\n"); ok {
		return []string{fixed, boundary, rest}
	}
	return []string{prompt}
}

// schema is that of the structured output.
func (o *Options) schema() any {
	if out := o.output(); out != nil {
		return out.sent
	}
	return nil
}

// A Subagent is an agent to which the model may delegate a task.
type Subagent struct {
	Description     string         `json:"description"` // when to use it, for the model
	Prompt          string         `json:"prompt"`      // its system prompt
	Tools           []string       `json:"tools,omitempty"`
	DisallowedTools []string       `json:"disallowedTools,omitempty"`
	Model           string         `json:"model,omitempty"`      // the session's model if empty
	MCPServers      []string       `json:"mcpServers,omitempty"` // names of servers of the session
	Skills          []string       `json:"skills,omitempty"`
	MaxTurns        int            `json:"maxTurns,omitempty"`
	Background      bool           `json:"background,omitempty"` // always runs in the background
	Memory          string         `json:"memory,omitempty"`     // where it stores what it learns: user, project or local; nothing is stored if empty
	Effort          string         `json:"effort,omitempty"`
	PermissionMode  PermissionMode `json:"permissionMode,omitempty"`
	InitialPrompt   string         `json:"initialPrompt,omitempty"` // its first prompt, if it is Options.Agent
	OmitClaudeMD    bool           `json:"omitClaudeMd,omitempty"`  // does not read the project's instructions

	OwnServers        map[string]*MCPServer `json:"-"`                           // servers for it alone, by name
	AutoCompactWindow int                   `json:"autoCompactWindow,omitempty"` // tokens at which it shortens its conversation, below the session's
	Observer          string                `json:"observer,omitempty"`          // agents that watch its work and report, by name, separated by commas
	ObserverMessage   string                `json:"observerMessage,omitempty"`   // added to what the observers read
}

// MarshalJSON returns the agent in the form of the CLI, with both kinds of servers
// in one list.
func (a *Subagent) MarshalJSON() ([]byte, error) {
	var servers []any
	for _, name := range a.MCPServers {
		servers = append(servers, name)
	}
	for _, name := range slices.Sorted(maps.Keys(a.OwnServers)) {
		servers = append(servers, map[string]*MCPServer{name: a.OwnServers[name]})
	}
	type plain Subagent // has no MarshalJSON
	return json.Marshal(struct {
		*plain
		MCPServers []any `json:"mcpServers,omitempty"`
	}{(*plain)(a), servers})
}

// An MCPServer is a server that the CLI starts or connects to: it has either a
// Command or a URL.
type MCPServer struct {
	Command string            // started; MCP runs over its input and output
	Args    []string          // of Command
	Env     map[string]string // of Command

	URL     string            // connected to, over streamable HTTP
	SSE     bool              // the URL is of the older HTTP+SSE transport
	Headers map[string]string // for all requests

	Timeout    time.Duration // for each call; Options.ToolTimeout if 0
	AlwaysLoad bool          // the model sees its tools from the start; otherwise it must search for them first
}

// MarshalJSON returns the server in the form of the CLI's configuration.
func (s *MCPServer) MarshalJSON() ([]byte, error) {
	type config struct {
		Type       string            `json:"type"`
		Command    string            `json:"command,omitempty"`
		Args       []string          `json:"args,omitempty"`
		Env        map[string]string `json:"env,omitempty"`
		URL        string            `json:"url,omitempty"`
		Headers    map[string]string `json:"headers,omitempty"`
		Timeout    int64             `json:"timeout,omitempty"`
		AlwaysLoad bool              `json:"alwaysLoad,omitempty"`
	}
	c := config{"stdio", s.Command, s.Args, s.Env, s.URL, s.Headers, milliseconds(s.Timeout), s.AlwaysLoad}
	switch {
	case s.SSE:
		c.Type = "sse"
	case s.URL != "":
		c.Type = "http"
	}
	return json.Marshal(c)
}

// milliseconds rounds up: 0 would mean the default.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
