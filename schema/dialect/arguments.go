package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema"
)

// maxRepairs is how often arguments are repaired and looked at again. Each time
// as many parts are repaired as a [schema.ValidationError] names.
const maxRepairs = 10

// repairable reports whether arguments could hold what fitArguments looks for. It
// saves the validation of most arguments that nothing else validates.
func (t *Tool) repairable(arguments json.RawMessage) bool {
	if t.choosy {
		return true
	}
	for rest := []byte(arguments); ; {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if text := bytes.TrimLeft(rest, " "); len(text) > 0 && (text[0] == '{' || text[0] == '[' || text[0] == '\\') {
			return true
		}
	}
}

// fitArguments returns arguments that fit the schema of the original: these, or
// what is made of them where the schema refuses a string. The error is an
// [toolpost.ArgumentsError] about what they were.
func (t *Tool) fitArguments(arguments json.RawMessage) (fitted json.RawMessage, notes []string, err error) {
	first := error(nil)
	r := repairs{fitted: arguments, schema: t.Original.Input.Raw(), seen: t.codec.Seen}
	for range maxRepairs {
		valid, err := t.Original.Input.ValidateInput(r.fitted)
		if err == nil {
			return valid, r.notes, nil
		}
		if first == nil {
			first = &toolpost.ArgumentsError{Tool: t.Original.Name, Err: err}
		}
		invalid, _ := err.(*schema.ValidationError)
		if invalid == nil || !r.all(invalid.Problems) {
			break
		}
	}
	return nil, nil, first
}

// repairs are those of one call.
type repairs struct {
	fitted json.RawMessage
	notes  []string
	schema json.RawMessage
	doc    *document // the schema, once it was asked for
	seen   func(pointer string) string
}

// all repairs the strings that problems are about. It returns false if there was
// nothing to repair.
func (r *repairs) all(problems []schema.Problem) bool {
	before := len(r.notes)
	for _, p := range problems {
		start, end := locate(r.fitted, p.Pointer)
		if start == end || r.fitted[start] != '"' || p.Pointer == "" {
			continue
		}
		was := r.fitted[start:end]
		if choice := r.choice(p.Pointer, was); choice != nil {
			r.notes = append(r.notes, fmt.Sprintf("%s was %s; it is read as %s", r.seen(p.Pointer), clip(string(was), 80), clip(string(choice), 80)))
			r.put(start, end, choice)
		} else if inside := quotedJSON(was); inside != nil && (inside[0] == '{' || inside[0] == '[') {
			r.notes = append(r.notes, r.seen(p.Pointer)+" was a string that contains JSON; it is read as that JSON")
			r.put(start, end, inside)
		}
	}
	return len(r.notes) > before
}

func (r *repairs) put(start, end int, value []byte) {
	r.fitted = bytes.Join([][]byte{r.fitted[:start], value, r.fitted[end:]}, nil)
}

// choice returns the only listed value that was is in another case, nil if
// there is none.
func (r *repairs) choice(pointer string, was []byte) []byte {
	text, err := jsontext.AppendUnquote(nil, was)
	if err != nil {
		return nil
	}
	if r.doc == nil {
		r.doc = inspect(r.schema)
	}
	path := strings.Split(pointer[1:], "/")
	for i, token := range path {
		path[i] = jsontree.UnescapePointer(token)
	}
	only := ""
	for _, listed := range r.doc.choices(path) {
		switch {
		case !strings.EqualFold(listed, string(text)) || listed == only:
		case only != "" || listed == string(text):
			return nil
		default:
			only = listed
		}
	}
	if only == "" {
		return nil
	}
	quoted, _ := jsontext.AppendQuote(nil, only) // its only error is the replacement of bad UTF-8
	return quoted
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
	root, broken := jsontree.ParseLenient(raw, maxLevels)
	if broken != nil {
		return 0, 0
	}
	if v := root.At(pointer); v != nil {
		return v.Start, v.Start + len(v.Raw)
	}
	return 0, 0
}
