package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A resultBlock is the result of a call.
type resultBlock struct {
	ToolUseID string         `json:"tool_use_id"`
	IsError   bool           `json:"is_error,omitempty"`
	Content   []contentBlock `json:"content,omitempty"`
	Type      string         `json:"type"`
}

// A contentBlock is a text, an image or a document.
type contentBlock struct {
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
	Title  string  `json:"title,omitempty"`
	Type   string  `json:"type"`
}

// A source is the content of an image or a document.
type source struct {
	Data      string `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"`
}

// resultMedia returns the media types that the result of a call may contain.
func resultMedia(m *toolpost.ToolMessage) []string {
	if m.IsError {
		return nil // an error is text
	}
	return provider.ImagesAndPDF()
}

// newResult returns the result of the call with the id.
func newResult(id string, m *toolpost.ToolMessage) resultBlock {
	result := resultBlock{ToolUseID: id, IsError: m.IsError, Type: "tool_result"}
	parts, _ := model.ResultParts(m, resultMedia(m)...)
	for _, p := range parts {
		switch {
		case p.Data == nil && isBlank(p.Text): // it is refused
		case p.Data == nil:
			result.Content = append(result.Content, contentBlock{Text: p.Text, Type: "text"})
		case p.MIMEType == provider.PDF:
			result.Content = append(result.Content, *newDocument(p))
		default:
			result.Content = append(result.Content, newImage(p))
		}
	}
	return result
}

func newImage(p model.Part) contentBlock {
	return contentBlock{Source: &source{base64.StdEncoding.EncodeToString(p.Data), p.MIMEType, "base64"}, Type: "image"}
}

// newDocument returns a document, nil if the provider does not accept it.
func newDocument(p model.Part) *contentBlock {
	text := string(p.Data)
	switch {
	case p.MIMEType == provider.PDF:
		return &contentBlock{Source: &source{base64.StdEncoding.EncodeToString(p.Data), provider.PDF, "base64"}, Type: "document"}
	case strings.HasPrefix(p.MIMEType, "text/") && utf8.ValidString(text) && !isBlank(text):
		return &contentBlock{Source: &source{text, "text/plain", "text"}, Type: "document"}
	}
	return nil
}

// blockJSON returns a block as JSON.
func blockJSON[T resultBlock | contentBlock](b T) json.RawMessage {
	raw, _ := json.Marshal(b) // these types have a form in JSON, whatever they contain
	return raw
}
