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

	OriginalCWD           string   `json:"original_cwd"`
	AdditionalDirectories []string `json:"additional_directories"`
	APIKeySource          string   `json:"apiKeySource"`
	OutputStyle           string   `json:"output_style"`
	Agents                []string `json:"agents"`
	Skills                []string `json:"skills"`
	SlashCommands         []string `json:"slash_commands"`
	TerminalSlashCommands []string `json:"terminal_slash_commands"`
	Plugins               []struct {
		Name    string `json:"name"`
		Path    string `json:"path"`
		Source  string `json:"source"`
		Version string `json:"version"`
	} `json:"plugins"`
	PluginErrors     json.RawMessage `json:"plugin_errors"`
	Capabilities     []string        `json:"capabilities"`
	Betas            []string        `json:"betas"`
	Effort           string          `json:"effort"`
	UserMessageUUIDs []string        `json:"user_message_uuids"` // of the prompts of the turn

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

// A SessionState reports whether the CLI is working.
type SessionState struct {
	Header
	State       string `json:"state"` // idle, running or requires_action
	SDKHostOnly bool   `json:"sdk_host_only"`
}

// An APIRetry reports that a request to the API failed and will be repeated.
type APIRetry struct {
	Header
	Attempt      int64  `json:"attempt"`
	MaxRetries   int64  `json:"max_retries"`
	RetryDelayMS int64  `json:"retry_delay_ms"`
	ErrorStatus  int64  `json:"error_status"` // of HTTP; 0 if there was no answer
	Error        string `json:"error"`        // such as rate_limit

	// NoResponse reports how long the CLI has waited for the API; nil if there was an answer.
	NoResponse *struct {
		WaitedMS    int64 `json:"waited_ms"`
		RetryWaitMS int64 `json:"retry_wait_ms"`
	} `json:"no_response"`
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
