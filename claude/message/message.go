// Package message decodes the lines of the Claude CLI's stream into Go types.
// Nothing is lost: every message keeps its raw bytes, and unknown parts are
// values too.
//
//	line ──▶ Parser ──▶ *Assistant, *Result, *Init … or *Unknown
//	           │
//	           └─ unknown parts: logged once per kind, and counted
package message

import "encoding/json"

// A Message is one line of the stream: *Assistant, *User, *Result, *Init,
// *StreamEvent, … or *Unknown.
type Message interface {
	Head() *Header
}

// A Header contains what all messages have.
type Header struct {
	Type      string                     `json:"type"`
	Subtype   string                     `json:"subtype,omitempty"`
	SessionID string                     `json:"session_id,omitempty"`
	UUID      string                     `json:"uuid,omitempty"`
	Extra     map[string]json.RawMessage `json:",embed"` // unknown members; of an Unknown, all other members
	Raw       json.RawMessage            `json:"-"`      // the whole line
	Warnings  []string                   `json:"-"`      // numbers that were malformed and are 0 here
}

// Head returns h.
func (h *Header) Head() *Header { return h }

// An Unknown is a message of an unknown type or subtype.
type Unknown struct{ Header }

// A System is a message that has no type of its own here, such as the progress of a
// hook, or a line by which the CLI and its host control each other: its Type and Subtype
// name it, and Extra and Raw have its members.
type System struct{ Header }
