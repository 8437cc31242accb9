// Package message types the lines of the Claude CLI's stream. Nothing is lost:
// every message keeps its raw bytes, and what is not known yet is a value.
package message

import (
	"encoding/json"
	"errors"
)

// A Message is one line of the stream: *Assistant, *User, *Result, *Init,
// *StreamEvent, … or *Unknown.
type Message interface {
	Head() *Header
}

// A Header is what all messages have.
type Header struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype,omitempty"`
	SessionID string          `json:"session_id,omitempty"`
	UUID      string          `json:"uuid,omitempty"`
	Raw       json.RawMessage `json:"-"` // the whole line
}

// Head returns h.
func (h *Header) Head() *Header { return h }

// An Unknown is a message of a type or subtype that is not known here.
type Unknown struct{ Header }

// A ParseError reports a message of a known type with a missing or malformed
// field.
type ParseError struct {
	Type, Subtype, Field string
	Line                 json.RawMessage // the whole line
	Err                  error
}

func (e *ParseError) Error() string { return "" }

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

// An Init tells the session's set-up. It comes at the start of every turn.
type Init struct {
	Header
	Tools          []string    `json:"tools"`
	MCPServers     []MCPServer `json:"mcp_servers"`
	Model          string      `json:"model"`
	PermissionMode string      `json:"permissionMode"`
	CWD            string      `json:"cwd"`
	Version        string      `json:"claude_code_version"`
}

// An MCPServer is the state of one MCP server.
type MCPServer struct {
	Name   string `json:"name"`
	Status string `json:"status"` // connected, failed, needs-auth, pending, disabled
	Source string `json:"source,omitempty"`
}

// An Assistant is one content block of the model's answer, or several.
type Assistant struct {
	Header
	ParentToolUseID string // the call of the sub-agent that wrote it; empty for the main agent
	Content         []Block
}

// A Block is one content block: *Text, *Thinking, *ToolUse, *ToolResult, … or
// *UnknownBlock.
type Block interface {
	Kind() string
}

// An UnknownBlock is a content block of a type that is not known here.
type UnknownBlock struct {
	Type string
	Raw  json.RawMessage
}

// Kind returns the block's type.
func (b *UnknownBlock) Kind() string { return b.Type }

// A Result ends a turn.
type Result struct {
	Header
	IsError          bool     `json:"is_error"`
	UserMessageUUIDs []string `json:"user_message_uuids"`
	Origin           *Origin  `json:"origin"` // nil if a person's prompt is answered
}

// An Origin tells what a turn was started by.
type Origin struct {
	Kind string `json:"kind"`
}

// A SessionState tells whether the CLI works: idle, running or requires_action.
type SessionState struct {
	Header
	State string `json:"state"`
}

// A ControlRequest is a request of the CLI to this process.
type ControlRequest struct {
	Header
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Kind      string          // the request's subtype
}

// A ControlResponse answers a request of this process.
type ControlResponse struct {
	Header
	Response struct {
		Subtype   string          `json:"subtype"` // success or error
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"` // nil if there is none
		Error     string          `json:"error"`
		ErrorCode string          `json:"error_code"`
	} `json:"response"`
}

// A ControlCancel takes back a request of the CLI.
type ControlCancel struct {
	Header
	RequestID string `json:"request_id"`
}

// A Parser types lines. It remembers what unknown things it met.
type Parser struct{}

// Parse types one line, which it keeps. It is a *ParseError if a known type
// lacks a field or has one of another type.
func (p *Parser) Parse(line []byte) (Message, error) { return nil, errors.ErrUnsupported }

// A TaskStarted tells that a sub-agent or another background task began.
type TaskStarted struct {
	Header
	TaskID string `json:"task_id"`
}

// A TaskNotification tells that a background task ended.
type TaskNotification struct {
	Header
	TaskID string `json:"task_id"`
}

// A KeepAlive says nothing but that the CLI is there.
type KeepAlive struct{ Header }
