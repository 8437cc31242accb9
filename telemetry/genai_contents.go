package telemetry

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/model"
)

// maxContent is the longest content in a span, in bytes of JSON. A longer one is
// left out: collectors refuse spans of some megabytes.
const maxContent = 256 << 10

// A contentPart is a part of a message in the form of the conventions
// (gen-ai-input-messages.json).
type contentPart struct {
	Type      string          `json:"type"` // text, reasoning, tool_call, tool_call_response, or another
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  any             `json:"response,omitempty"`
	MIMEType  string          `json:"mime_type,omitempty"`
}

// A contentMessage is a message in that form.
type contentMessage struct {
	Role         string        `json:"role"`
	Parts        []contentPart `json:"parts"`
	FinishReason string        `json:"finish_reason,omitempty"`
}

// content returns an attribute with a value as JSON without secrets, or nothing if
// it is too long.
func content(name string, value any) []attribute.KeyValue {
	raw, err := json.Marshal(value)
	if err != nil || len(raw) > maxContent {
		return nil
	}
	clear, _ := secret.RedactJSON(raw, nil)
	return []attribute.KeyValue{attribute.String(name, string(clear))}
}

func requestContents(r *model.Request) []attribute.KeyValue {
	var messages []contentMessage
	for _, m := range r.Messages {
		messages = append(messages, contentOf(m))
	}
	attrs := content(attrInput, messages)
	if r.System != "" {
		attrs = append(attrs, content(attrSystem, []contentPart{{Type: "text", Content: r.System}})...)
	}
	return attrs
}

func responseContents(r *model.Response) []attribute.KeyValue {
	if r.Message == nil {
		return nil
	}
	m := contentOf(r.Message)
	m.FinishReason = finishReason(r.Stop)
	return content(attrOutput, []contentMessage{m})
}

// contentOf returns a message without the data of images and documents.
func contentOf(m *model.Message) contentMessage {
	c := contentMessage{Role: string(m.Role), Parts: []contentPart{}}
	for _, p := range m.Parts {
		part := contentPart{Type: string(p.Type), MIMEType: p.MIMEType}
		switch p.Type {
		case model.TypeText:
			part.Content = p.Text
		case model.TypeThinking:
			part.Type, part.Content = "reasoning", p.Text
		case model.TypeCall:
			part.ID, part.Name, part.Arguments = p.ID, p.Name, p.Arguments
		case model.TypeResult:
			c.Role = "tool"
			part.Type = "tool_call_response"
			if p.Result != nil {
				part.ID, part.Response = p.Result.CallID, texts(p.Result.Text, p.Result.Parts)
			}
		}
		c.Parts = append(c.Parts, part)
	}
	return c
}

// resultContent returns the texts of a result of a tool.
func resultContent(r *toolpost.Result) []attribute.KeyValue {
	if structured := r.Structured(); structured != nil && json.Valid(structured) {
		return content(attrResult, structured)
	}
	return content(attrResult, texts("", r.Parts()))
}

// texts joins the texts of a result.
func texts(text string, parts []toolpost.Part) string {
	for _, p := range parts {
		text += p.Text
	}
	return text
}
