package redmine

import (
	"encoding/json"
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
)

// secrets hides our credentials, even where somebody wrote them into an issue.
type secrets struct{ *secret.Values }

func newSecrets(all ...string) secrets { return secrets{secret.NewValues("[secret]", all...)} }

// inText hides secrets in a text.
func (s secrets) inText(text string) string { return s.Replace(text) }

var jsonString = lazyregexp.New(`"(?:[^"\\]|\\.)*"?`) // the end of broken JSON too

// inJSON hides secrets in the strings of JSON, however they are escaped. Numbers
// stay: an id may look like a password.
func (s secrets) inJSON(raw []byte) json.RawMessage {
	return jsonString.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return []byte(s.inText(string(quoted)))
		}
		if hidden := s.inText(text); hidden != text {
			return wire.Quote(hidden)
		}
		return quoted
	})
}

// inError keeps what should happen next.
func (s secrets) inError(err error) error {
	if err == nil {
		return nil
	}
	text := s.inText(err.Error())
	var o *toolpost.ToolError
	switch {
	case text == err.Error():
		return err
	case errors.As(err, &o):
		return &toolpost.ToolError{Tool: o.Tool, Outcome: o.Outcome, Text: text}
	}
	return errors.New(text)
}
