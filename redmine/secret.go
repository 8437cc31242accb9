package redmine

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/secret"
)

// secrets hides our credentials, even where somebody wrote them into an issue.
type secrets struct{ *strings.Replacer }

func newSecrets(all ...string) secrets { return secrets{secret.Replacer("[secret]", all...)} }

// inText hides secrets in a text.
func (s secrets) inText(text string) string { return s.Replace(text) }

// inJSON hides secrets in the strings of JSON. Numbers stay: an id may look like
// a password.
func (s secrets) inJSON(raw []byte) json.RawMessage {
	if s.inText(string(raw)) == string(raw) {
		return raw
	}
	var out bytes.Buffer
	for len(raw) > 0 {
		at := bytes.IndexByte(raw, '"')
		if at < 0 {
			break
		}
		end := at + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		var text string
		if err := json.Unmarshal(raw[at:end+1], &text); err != nil {
			panic(err) // raw is made by encoding/json
		}
		out.Write(raw[:at])
		out.Write(bytes.TrimSuffix(encode(s.inText(text)), []byte("\n")))
		raw = raw[end+1:]
	}
	out.Write(raw)
	return out.Bytes()
}

// inError keeps what should happen next.
func (s secrets) inError(err error) error {
	if err == nil {
		return nil
	}
	text := s.inText(err.Error())
	var o *toolpost.OutcomeError
	switch {
	case text == err.Error():
		return err
	case errors.As(err, &o):
		return &toolpost.OutcomeError{Outcome: o.Outcome, Text: text}
	}
	return errors.New(text)
}
