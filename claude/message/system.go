package message

import "encoding/json"

// An Init describes the configuration of the session. It is sent at the start
// of every turn.
type Init struct {
	Header         `json:",embed"`
	Tools          []string    `json:"tools"`
	MCPServers     []MCPServer `json:"mcp_servers"`
	Model          string      `json:"model"`
	PermissionMode string      `json:"permissionMode"`
	CWD            string      `json:"cwd"`
	Version        string      `json:"claude_code_version"`

	OriginalCWD           string          `json:"original_cwd"`
	AdditionalDirectories []string        `json:"additional_directories"`
	APIKeySource          string          `json:"apiKeySource"`
	OutputStyle           string          `json:"output_style"`
	Agents                []string        `json:"agents"`
	Skills                []string        `json:"skills"`
	SlashCommands         []string        `json:"slash_commands"`
	TerminalSlashCommands []string        `json:"terminal_slash_commands"`
	Plugins               []Plugin        `json:"plugins"`
	PluginErrors          json.RawMessage `json:"plugin_errors"`
	Capabilities          []string        `json:"capabilities"`
	Betas                 []string        `json:"betas"`
	Effort                string          `json:"effort"`
	UserMessageUUIDs      []string        `json:"user_message_uuids"` // of the prompts of the turn

	MemoryPaths             json.RawMessage `json:"memory_paths"`
	MessagingSocketPath     string          `json:"messaging_socket_path"`
	ViewMode                string          `json:"view_mode"`
	FastModeState           string          `json:"fast_mode_state"`
	FastModeDisabledReason  string          `json:"fast_mode_disabled_reason"`
	PerTurnEffortActive     bool            `json:"per_turn_effort_active"`
	UltrathinkAvailable     bool            `json:"ultrathink_available"`
	UltrathinkTypedRaises   bool            `json:"ultrathink_typed_raises"`
	AnalyticsDisabled       bool            `json:"analytics_disabled"`
	ProductFeedbackDisabled bool            `json:"product_feedback_disabled"`
	ServedByAnthropic       bool            `json:"served_by_anthropic"`
}

// An MCPServer is the state of one MCP server.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"` // connected, failed, needs-auth, pending, disabled
	Source string `json:"source,omitempty"`
}

// A Plugin is a plugin of the CLI.
type Plugin struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Source  string `json:"source"`
	Version string `json:"version"`
}

// A SessionState reports whether the CLI is working: idle, running or
// requires_action.
type SessionState struct {
	Header
	State       string `json:"state"`
	SDKHostOnly bool   `json:"sdk_host_only"`
}

// A Status reports what the CLI is doing: compacting, requesting, or nothing
// that it reports.
type Status struct {
	Header
	Status           string   `json:"status"`
	PermissionMode   string   `json:"permissionMode"`
	CompactResult    string   `json:"compact_result"` // success or failed
	CompactError     string   `json:"compact_error"`
	UserMessageUUIDs []string `json:"user_message_uuids"` // of the prompts in progress
}

// An APIRetry reports that a request to the API failed and will be repeated.
type APIRetry struct {
	Header
	Attempt      int64       `json:"attempt"`
	MaxRetries   int64       `json:"max_retries"`
	RetryDelayMS int64       `json:"retry_delay_ms"`
	ErrorStatus  int64       `json:"error_status"` // of HTTP; 0 if there was no answer
	Error        string      `json:"error"`        // such as rate_limit
	NoResponse   *NoResponse `json:"no_response"`
}

// A NoResponse reports how long the CLI has waited for the API.
type NoResponse struct {
	WaitedMS    int64 `json:"waited_ms"`
	RetryWaitMS int64 `json:"retry_wait_ms"`
}

// A PermissionDenied reports that a call was denied without a request to
// anyone.
type PermissionDenied struct {
	Header
	ToolName           string `json:"tool_name"`
	ToolUseID          string `json:"tool_use_id"`
	Message            string `json:"message"`
	DecisionReason     string `json:"decision_reason"`
	DecisionReasonType string `json:"decision_reason_type"`
	AgentID            string `json:"agent_id"`
}

// An Informational is a text for people.
type Informational struct {
	Header
	Content             string `json:"content"`
	Level               string `json:"level"` // info, notice, suggestion or warning
	Tag                 string `json:"tag"`
	ToolUseID           string `json:"tool_use_id"`
	PreventContinuation bool   `json:"prevent_continuation"`
}

// A Notification is a short text that is shown to people for a while.
type Notification struct {
	Header
	Key       string `json:"key"`
	Text      string `json:"text"`
	Priority  string `json:"priority"` // low, medium, high or immediate
	Color     string `json:"color"`
	TimeoutMS int64  `json:"timeout_ms"`
}

// A ThinkingTokens estimates how much the model has thought so far.
type ThinkingTokens struct {
	Header
	EstimatedTokens      int64  `json:"estimated_tokens"`
	EstimatedTokensDelta int64  `json:"estimated_tokens_delta"`
	UserMessageUUID      string `json:"user_message_uuid"`
}

// A LocalCommandOutput is the output of a slash command.
type LocalCommandOutput struct {
	Header
	Content string `json:"content"`
}

// A CommandsChanged lists the slash commands after a change.
type CommandsChanged struct {
	Header
	Commands []SlashCommand `json:"commands"`
}

// A SlashCommand is a command that a person calls with /name.
type SlashCommand struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	ArgumentHint string   `json:"argumentHint"`
	Aliases      []string `json:"aliases"`
}

// A PluginInstall reports the progress of installing plugins.
type PluginInstall struct {
	Header
	Status string `json:"status"` // started, installed, failed or completed
	Name   string `json:"name"`
	Error  string `json:"error"`
}

// A WorkerShuttingDown reports that the CLI is about to end.
type WorkerShuttingDown struct {
	Header
	Reason string `json:"reason"`
}
