package toolpost

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
)

// A ToolMessage is a result in the form in which an agent loop passes it to a
// model. Its JSON is {"tool_call_id", "content", "is_error", "output_ref"},
// where content is a string or an array of parts.
type ToolMessage struct {
	CallID    string
	Text      string // used if Parts is nil
	Parts     []Part
	IsError   bool
	OutputRef string
}

// Message returns r as the message that answers the call. Text remains text,
// JSON becomes its text, and other parts remain parts. An error begins with
// "Error executing tool: ".
func (r *Result) Message(callID string) *ToolMessage {
	m := &ToolMessage{CallID: callID, IsError: r.IsError(), OutputRef: r.ref}
	parts := r.Parts()
	switch {
	case len(parts) == 0:
		m.Text = string(r.Structured())
	case len(parts) == 1 && parts[0].Type == "text":
		m.Text = parts[0].Text
	default:
		m.Parts = parts
	}
	if !m.IsError {
		return m
	}
	const prefix = "Error executing tool: "
	if m.Parts == nil {
		m.Text = prefix + m.Text
	} else {
		m.Parts = append([]Part{{Type: "text", Text: prefix}}, m.Parts...)
	}
	return m
}

// MarshalJSON writes the message in the form that [ToolMessage] describes.
func (m *ToolMessage) MarshalJSON() ([]byte, error) {
	var w wire.ObjectWriter
	w.AnyText("tool_call_id", m.CallID)
	if m.Parts == nil {
		w.AnyText("content", m.Text)
	} else {
		parts, err := codec.Encode(m.Parts)
		w.Encoded("content", parts, err)
	}
	w.True("is_error", m.IsError)
	w.Text("output_ref", m.OutputRef)
	return w.End()
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *ToolMessage) UnmarshalJSON(data []byte) error {
	var read struct {
		CallID    string          `json:"tool_call_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
		OutputRef string          `json:"output_ref"`
	}
	if err := codec.Decode(data, &read); err != nil {
		return err
	}
	got := ToolMessage{CallID: read.CallID, IsError: read.IsError, OutputRef: read.OutputRef}
	var content any = &got.Text
	if len(read.Content) > 0 && read.Content[0] == '[' {
		content = &got.Parts
	}
	if len(read.Content) > 0 {
		if err := codec.Decode(read.Content, content); err != nil {
			return err
		}
	}
	*m = got
	return nil
}
