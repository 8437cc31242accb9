// Package message types the lines of the Claude CLI's stream. Nothing is lost:
// every message keeps its raw bytes, and what is not known yet is a value.
//
//	line ──▶ Parser ──▶ *Assistant, *Result, *Init … or *Unknown
//	           │
//	           └─ what it did not know: logged once per kind, and counted
package message

import "encoding/json"

// A Message is one line of the stream: *Assistant, *User, *Result, *Init,
// *StreamEvent, … or *Unknown.
type Message interface {
	Head() *Header
}

// A Header is what all messages have.
type Header struct {
	Type      string                     `json:"type"`
	Subtype   string                     `json:"subtype,omitempty"`
	SessionID string                     `json:"session_id,omitempty"`
	UUID      string                     `json:"uuid,omitempty"`
	Extra     map[string]json.RawMessage `json:",embed"` // members that are not known here; of an Unknown, all others
	Raw       json.RawMessage            `json:"-"`      // the whole line
	Warnings  []string                   `json:"-"`      // numbers that were none, and are 0 now
}

// Head returns h.
func (h *Header) Head() *Header { return h }

// An Unknown is a message of a type or subtype that is not known here.
type Unknown struct{ Header }
