package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/schema"
)

// unwrapParts replaces strings that hold JSON by what they hold, where the
// schema refuses the string and takes that.
func (t *Tool) unwrapParts(decoded json.RawMessage) (repaired json.RawMessage, notes []string) {
	if !bytes.Contains(decoded, []byte(`"{`)) && !bytes.Contains(decoded, []byte(`"[`)) {
		return decoded, nil
	}
	validator := t.Original.Input.Validator()
	invalid, _ := validator.Validate(decoded).(*schema.ValidationError)
	if invalid == nil {
		return decoded, nil
	}
	for _, p := range invalid.Problems {
		start, end := locate(decoded, p.Pointer)
		inside := quotedJSON(decoded[start:end])
		if inside == nil || inside[0] != '{' && inside[0] != '[' {
			continue
		}
		candidate := bytes.Join([][]byte{decoded[:start], inside, decoded[end:]}, nil)
		if left, _ := validator.Validate(candidate).(*schema.ValidationError); left == nil || !about(left, p.Pointer) {
			decoded = candidate
			notes = append(notes, fmt.Sprintf("%s was a string that holds JSON; it is read as that JSON", t.codec.Seen(p.Pointer)))
		}
	}
	return decoded, notes
}

func about(invalid *schema.ValidationError, pointer string) bool {
	for _, p := range invalid.Problems {
		if p.Pointer == pointer {
			return true
		}
	}
	return false
}

// quotedJSON returns the JSON that a JSON string holds, nil if there is none.
func quotedJSON(raw []byte) json.RawMessage {
	if len(raw) == 0 || raw[0] != '"' {
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	text = bytes.TrimSpace(text)
	if err != nil || len(text) == 0 || !json.Valid(text) {
		return nil
	}
	return text
}

// locate returns where the value is that a JSON pointer names. It is empty if
// there is none.
func locate(raw []byte, pointer string) (start, end int) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if pointer != "" {
		for token := range strings.SplitSeq(pointer[1:], "/") {
			if !enter(d, unescapePointer(token)) {
				return 0, 0
			}
		}
	}
	v, err := d.ReadValue()
	if err != nil {
		return 0, 0
	}
	end = int(d.InputOffset())
	return end - len(v), end
}

// enter moves to the member or item that token names.
func enter(d *jsontext.Decoder, token string) bool {
	open, err := d.ReadToken()
	if err != nil || open.Kind() != '{' && open.Kind() != '[' {
		return false
	}
	for i := 0; ; i++ {
		name := strconv.Itoa(i)
		if open.Kind() == '{' {
			t, err := d.ReadToken()
			if err != nil || t.Kind() != '"' {
				return false
			}
			name = t.String()
		}
		if name == token {
			return d.PeekKind() != ']' && d.PeekKind() != 0
		}
		if d.SkipValue() != nil {
			return false
		}
	}
}
