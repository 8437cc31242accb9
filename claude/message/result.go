package message

import "encoding/json"

// A Result ends a turn. Usage is that of the turn's main agent. ModelUsage and
// TotalCostUSD are totals of the session so far, over all agents: use the last
// ones, and do not add them up.
type Result struct {
	Header           `json:",embed"`
	IsError          bool            `json:"is_error"`
	Result           *string         `json:"result"`            // the answer's text; nil if the turn has none
	StructuredOutput json.RawMessage `json:"structured_output"` // an object; nil if there is none
	Errors           []string        `json:"errors"`
	NumTurns         int64           `json:"num_turns"`
	StopReason       string          `json:"stop_reason"`

	// TerminalReason is why the turn ended: completed, max_turns, budget_exhausted,
	// aborted_streaming, aborted_tools, tool_deferred, tool_deferred_unavailable,
	// background_requested, stop_hook_prevented, hook_stopped, prompt_too_long,
	// blocking_limit, rapid_refill_breaker, image_error, model_error, api_error,
	// malformed_tool_use_exhausted, structured_output_retry_exhausted or turn_setup_failed.
	TerminalReason string `json:"terminal_reason"`

	TotalCostUSD              float64               `json:"total_cost_usd"`
	Usage                     Usage                 `json:"usage"`
	ModelUsage                map[string]ModelUsage `json:"modelUsage"`
	ModelUsageSinceLastResult map[string]ModelUsage `json:"model_usage_since_last_result"`

	APIErrorStatus       int64           `json:"api_error_status"` // of HTTP; 0 if none
	APIErrorType         string          `json:"api_error_type"`
	APIError             json.RawMessage `json:"api_error"`
	StartupFailureReason string          `json:"startup_failure_reason"`
	InvalidConfigFile    json.RawMessage `json:"invalid_config_file"`
	CredentialExpiresAt  string          `json:"credential_expires_at"`

	PermissionDenials []PermissionDenial `json:"permission_denials"`
	DeferredToolUse   *DeferredToolUse   `json:"deferred_tool_use"`
	LocalCommand      string             `json:"local_command"`

	UserMessageUUID  string   `json:"user_message_uuid"`
	UserMessageUUIDs []string `json:"user_message_uuids"` // of the answered prompts
	Origin           *Origin  `json:"origin"`             // nil if the turn answers a person's prompt
	ResumeReason     string   `json:"resume_reason"`
	ResultIndex      int64    `json:"result_index"`
	QueuedTurnCount  int64    `json:"queued_turn_count"`

	DurationMS          int64 `json:"duration_ms"`
	DurationAPIMS       int64 `json:"duration_api_ms"`
	TTFTMS              int64 `json:"ttft_ms"` // to the first token
	TTFTStreamMS        int64 `json:"ttft_stream_ms"`
	TimeToRequestMS     int64 `json:"time_to_request_ms"`
	FirstContentFrameMS int64 `json:"first_content_frame_ms"`
	RequestSentWallMS   int64 `json:"request_sent_wall_ms"`

	SafetyStops            int64           `json:"safety_stops"`
	SubagentStats          json.RawMessage `json:"subagent_stats"`
	FirstRequestTokens     int64           `json:"first_request_input_tokens"`
	FirstRequestCacheRead  int64           `json:"first_request_cache_read_input_tokens"`
	FastModeState          string          `json:"fast_mode_state"`
	FastModeDisabledReason string          `json:"fast_mode_disabled_reason"`
}

// A PermissionDenial is a call that was denied.
type PermissionDenial struct {
	ToolName  string          `json:"tool_name"`
	ToolUseID string          `json:"tool_use_id"`
	ToolInput json.RawMessage `json:"tool_input"`
}

// A DeferredToolUse is a call that a hook deferred.
type DeferredToolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// finish keeps a structured output only if it is an object.
func (m *Result) finish(*decoder) error {
	if len(m.StructuredOutput) > 0 && m.StructuredOutput[0] != '{' {
		m.StructuredOutput = nil
	}
	return nil
}
