package redmine

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolpost/toolpost"
)

// secrets are our credentials, which are shown to nobody, not even where somebody
// wrote them into an issue.
type secrets struct {
	replace *strings.Replacer
	encoded [][]byte // as they are within JSON
}

// shortestSecret is that which is looked for, in bytes: Redmine takes no shorter
// passwords as it comes, and what is shorter is part of too much else.
const shortestSecret = 8

func newSecrets(all ...string) secrets {
	var s secrets
	var pairs []string
	for _, text := range all {
		if len(text) >= shortestSecret {
			pairs = append(pairs, text, "[secret]")
			quoted := encode(text)
			s.encoded = append(s.encoded, quoted[1:len(quoted)-len("\"\n")])
		}
	}
	s.replace = strings.NewReplacer(pairs...)
	return s
}

func (s secrets) inText(text string) string { return s.replace.Replace(text) }

// inJSON hides what is in the texts of JSON. Numbers stay: an id may look like a
// password.
func (s secrets) inJSON(raw []byte) json.RawMessage {
	found := false
	for _, secret := range s.encoded {
		found = found || bytes.Contains(raw, secret)
	}
	if !found {
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
	var o *toolpost.Outcome
	switch {
	case text == err.Error():
		return err
	case errors.As(err, &o):
		return &toolpost.Outcome{Kind: o.Kind, Text: text}
	}
	return errors.New(text)
}
