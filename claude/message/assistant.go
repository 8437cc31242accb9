package message

import "encoding/json"

// An Assistant contains one or more content blocks of the model's answer; all
// with the same MessageID form one answer. Usage is what was known when the
// answer began; the Result has the final numbers.
type Assistant struct {
	Header       `json:",embed"`
	Agent        `json:",embed"`
	Content      []Block         `json:"-"` // message.content, and so on
	Model        string          `json:"-"` // "<synthetic>" if the CLI wrote the answer, as it does for failures
	MessageID    string          `json:"-"`
	StopReason   string          `json:"-"` // end_turn, max_tokens, stop_sequence, tool_use, pause_turn, compaction, refusal or model_context_window_exceeded
	StopSequence string          `json:"-"`
	Usage        Usage           `json:"-"`
	Message      json.RawMessage `json:"message"` // as the API sent it

	RequestID   string `json:"request_id"`
	Timestamp   string `json:"timestamp"`
	ToolUseMeta []struct {
		ID                string `json:"id"`
		DisplayName       string `json:"display_name"`
		ServerDisplayName string `json:"server_display_name"`
		ToolName          string `json:"tool_name"`
	} `json:"tool_use_meta"` // how to display the calls
	Aborted            bool            `json:"aborted"`
	Supersedes         []string        `json:"supersedes"` // UUIDs of messages that this one replaces
	UserMessageUUID    string          `json:"user_message_uuid"`
	UserMessageUUIDs   []string        `json:"user_message_uuids"` // of the prompts that are answered
	ResumeReason       string          `json:"resume_reason"`
	ResumedIncomplete  bool            `json:"resumed_from_incomplete_thinking"`
	ThinkingDisplay    string          `json:"thinking_display"`
	ThinkingDurationMS int64           `json:"thinking_duration_ms"`
	ContextUsage       json.RawMessage `json:"context_usage"`
	UsageReport        json.RawMessage `json:"usage_report"`

	// Error is empty if nothing failed, else authentication_failed, oauth_org_not_allowed,
	// account_on_hold, verification_required, cloud_credential_error, billing_error,
	// rate_limit, overloaded, invalid_request, model_not_found, max_output_tokens,
	// server_error or unknown.
	Error             string          `json:"error"`
	IsAPIErrorMessage bool            `json:"is_api_error_message"`
	APIErrorStatus    int64           `json:"api_error_status"` // of HTTP; 0 if none
	APIErrorType      string          `json:"api_error_type"`
	APIError          json.RawMessage `json:"api_error"`
	APIErrorParams    json.RawMessage `json:"api_error_params"`
}

// An Agent identifies the agent that a message comes from. All fields are empty
// for the main agent.
type Agent struct {
	ParentToolUseID string `json:"parent_tool_use_id"` // the call that started the sub-agent
	AgentID         string `json:"agent_id"`
	SubagentType    string `json:"subagent_type"`
	TaskDescription string `json:"task_description"`
}

// IsMain reports whether the message is from the main agent.
func (a *Agent) IsMain() bool { return a.ParentToolUseID == "" && a.AgentID == "" }

// Text returns the text of the answer: its text blocks joined by newlines,
// without thinking and calls.
func (m *Assistant) Text() string { return textOf(m.Content) }

func (m *Assistant) finish(d *decoder) error {
	var answer struct {
		Content      []Block `json:"content"`
		Model        string  `json:"model"`
		ID           string  `json:"id"`
		StopReason   string  `json:"stop_reason"`
		StopSequence string  `json:"stop_sequence"`
		Usage        Usage   `json:"usage"`
	}
	if err := d.part(m.Message, "message", &answer, "content"); err != nil {
		return err
	}
	m.Content, m.Model, m.MessageID = answer.Content, answer.Model, answer.ID
	m.StopReason, m.StopSequence, m.Usage = answer.StopReason, answer.StopSequence, answer.Usage
	return nil
}

// A User is a message to the model: results of tools, and prompts that the CLI
// wrote or repeats.
type User struct {
	Header  `json:",embed"`
	Agent   `json:",embed"`
	Content []Block         `json:"-"`       // message.content; text that came as a string is one *Text
	Message json.RawMessage `json:"message"` // in the form of the API

	Timestamp      string          `json:"timestamp"`
	ToolUseResult  json.RawMessage `json:"tool_use_result"` // the tool's result in the CLI's own form
	ToolResultMeta []struct {
		ID                 string `json:"id"` // of the call
		PermissionDecision struct {
			Decision   string `json:"decision"`
			Source     string `json:"source"`
			ReasonType string `json:"reason_type"`
		} `json:"permission_decision"`
		NonExecutionKind string `json:"non_execution_kind"` // why the tool did not run; empty if it did
	} `json:"tool_result_meta"` // how the calls were permitted
	IsSynthetic     bool            `json:"isSynthetic"` // written by the CLI
	IsReplay        bool            `json:"isReplay"`
	Origin          *Origin         `json:"origin"`
	Priority        string          `json:"priority"`
	ShouldQuery     *bool           `json:"shouldQuery"`
	ClientComposed  bool            `json:"client_composed"`
	PastedContent   json.RawMessage `json:"pasted_content"`
	InlinePastes    []string        `json:"inline_pastes"`
	FileAttachments json.RawMessage `json:"file_attachments"`
}

// An Origin identifies what started a turn.
type Origin struct {
	Kind       string `json:"kind"`              // human, task-notification, peer, channel, coordinator, observer, observer-activity, auto-continuation or unclassified
	Subkind    string `json:"subkind,omitempty"` // of a task-notification: scheduled-trigger, peer-send-message, projects-relay, session-inbox or external-event
	Producer   string `json:"producer,omitempty"`
	Server     string `json:"server,omitempty"`
	From       string `json:"from,omitempty"`
	Name       string `json:"name,omitempty"`
	RunID      string `json:"runId,omitempty"`
	FireReason string `json:"fireReason,omitempty"`
}

// Text returns the text blocks joined by newlines.
func (m *User) Text() string { return textOf(m.Content) }

func (m *User) finish(d *decoder) error {
	var told struct {
		Content []Block `json:"content"`
	}
	err := d.part(m.Message, "message", &told, "content")
	m.Content = told.Content
	return err
}
