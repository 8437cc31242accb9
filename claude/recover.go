package claude

import (
	"bytes"
	"encoding/json"
	"strings"
)

// fit reads a value as models write them when they do not quite follow the
// schema: inside of a member that is too much, or without the wrapping.
func (o *answerSchema) fit(raw json.RawMessage) (json.RawMessage, bool) {
	for _, candidate := range []json.RawMessage{raw, inside(raw)} {
		if candidate == nil {
			continue
		}
		if value, err := o.read(candidate); err == nil {
			return value, true
		}
		if o.wrapped {
			if value, err := o.validate(candidate); err == nil {
				return value, true
			}
		}
	}
	return nil, false
}

// inside returns the value of an object's only member if its name is one that
// models put around arguments. It may be JSON text in a string. Else nil.
func inside(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || len(members) != 1 {
		return nil
	}
	for _, name := range []string{"parameters", "parameter", "output"} {
		value, ok := members[name]
		if !ok {
			continue
		}
		var text string
		if json.Unmarshal(value, &text) == nil && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return value
	}
	return nil
}

// find returns the value in a text that is JSON, has JSON in a fenced block, or
// somewhere.
func (o *answerSchema) find(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return o.fit(json.RawMessage(text))
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "```")
		if !ok {
			break
		}
		block, end, _ := strings.Cut(after, "```")
		block = strings.TrimPrefix(block, "json")
		if json.Valid([]byte(block)) {
			if value, ok := o.fit(json.RawMessage(strings.TrimSpace(block))); ok {
				return value, true
			}
		}
		rest = end
	}
	return o.findBare([]byte(text))
}

// findBare tries what begins at the first few brackets.
func (o *answerSchema) findBare(text []byte) (json.RawMessage, bool) {
	const most = 20 // a text with more brackets before the value is no answer
	for range most {
		at := bytes.IndexAny(text, "{[")
		if at < 0 {
			break
		}
		text = text[at:]
		var raw json.RawMessage
		if json.NewDecoder(bytes.NewReader(text)).Decode(&raw) == nil {
			if value, ok := o.fit(raw); ok {
				return value, true
			}
		}
		text = text[1:]
	}
	return nil, false
}
