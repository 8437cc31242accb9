package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Binding is an argument that HTTP requests of 2026-07-28 repeat in a header,
// for proxies that do not read the body (x-mcp-header).
type Binding struct {
	Path   []string // of the argument
	Header string
}

// maxBound is how deep the properties of a schema may nest that has bindings.
const maxBound = 64

// Bindings returns the bindings of an input schema. A tool whose bindings are
// not valid must not be used over HTTP.
func Bindings(schema []byte) ([]Binding, error) {
	if !bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
		return nil, nil
	}
	return appendBindings(nil, nil, schema)
}

// appendBindings adds the bindings of the property at path, which has a schema.
func appendBindings(found []Binding, path []string, schema json.RawMessage) (_ []Binding, err error) {
	if len(path) > maxBound {
		return nil, fmt.Errorf("properties nest more than %d levels deep", maxBound)
	}
	var header, kind string
	bound := false
	for name, value := range Members(schema) {
		switch {
		case name == "type":
			kind = Unquote(value)
		case name == "x-mcp-header" && len(path) > 0:
			bound, header = true, Unquote(value)
		case name == "properties":
			for property, schema := range Members(value) {
				if found, err = appendBindings(found, append(slices.Clip(path), property), schema); err != nil {
					return nil, err
				}
			}
		}
	}
	if !bound {
		return found, nil
	}
	if err := checkBinding(header, kind, found); err != nil {
		return nil, fmt.Errorf("x-mcp-header of property %s: %w", strings.Join(path, "."), err)
	}
	return append(found, Binding{path, paramHeader + header}), nil
}

const (
	paramHeader = "Mcp-Param-"
	tokenChars  = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func checkBinding(header, kind string, others []Binding) error {
	if kind != "string" && kind != "integer" && kind != "boolean" {
		return fmt.Errorf("the property's type is %q, want string, integer or boolean", kind)
	}
	if header == "" || strings.Trim(header, tokenChars) != "" {
		return fmt.Errorf("%q is not a header name", header)
	}
	if slices.ContainsFunc(others, func(o Binding) bool { return strings.EqualFold(o.Header, paramHeader+header) }) {
		return fmt.Errorf("the header %q is used twice", header)
	}
	return nil
}

// Find returns the argument, nil if there is none.
func (b *Binding) Find(arguments json.RawMessage) json.RawMessage {
	for _, name := range b.Path {
		arguments = Get(arguments, name)
	}
	return arguments
}

// HeaderText returns the text that a header has for a string, a boolean or an
// integer that every JSON library keeps exactly.
func HeaderText(raw json.RawMessage) (string, bool) {
	text := string(bytes.TrimSpace(raw))
	switch {
	case text == "true", text == "false":
		return text, true
	case strings.HasPrefix(text, `"`):
		return Unquote([]byte(text)), true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != float64(int64(n)) || n > maxSafe || n < -maxSafe {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// Headers carry other text than ASCII between these.
const encodedBegin, encodedEnd = "=?base64?", "?="

// EncodeHeader encodes what a header cannot hold as it is.
func EncodeHeader(s string) string {
	plain := strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7E }) < 0 &&
		strings.Trim(s, " \t") == s && !(strings.HasPrefix(s, encodedBegin) && strings.HasSuffix(s, encodedEnd))
	if plain {
		return s
	}
	return encodedBegin + base64.StdEncoding.EncodeToString([]byte(s)) + encodedEnd
}

// DecodeHeader undoes EncodeHeader. It reports whether the encoding is valid.
func DecodeHeader(s string) (string, bool) {
	inner, begins := strings.CutPrefix(s, encodedBegin)
	inner, ends := strings.CutSuffix(inner, encodedEnd)
	if !begins || !ends {
		return s, true
	}
	b, err := base64.StdEncoding.DecodeString(inner)
	return string(b), err == nil
}
