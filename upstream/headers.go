package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// describe sets the headers by which modern requests say what is in their
// body (MCP 2026-07-28, Transports).
func describe(h http.Header, x *exchange) {
	if x.method == "" {
		return // an answer
	}
	h.Set("Mcp-Method", x.method)
	switch x.method {
	case "tools/call", "prompts/get", "resources/read":
		h.Set("Mcp-Name", headerValue(x.name))
	}
	for _, b := range x.bindings {
		if v, ok := primitive(b.find(x.arguments())); ok {
			h.Set("Mcp-Param-"+b.header, headerValue(v))
		}
	}
}

// arguments returns the arguments that are sent.
func (c *content) arguments() json.RawMessage {
	for _, m := range c.set {
		if m.name == "arguments" {
			return m.value
		}
	}
	return nil
}

// A binding is an argument that is sent as a header too (x-mcp-header).
type binding struct {
	path   []string
	header string
}

func (b *binding) find(arguments json.RawMessage) json.RawMessage {
	for _, name := range b.path {
		arguments = wire.Get(arguments, name)
	}
	return arguments
}

// bindingsOf finds the bindings of an input schema. A tool whose bindings are
// not valid must not be used over HTTP.
func bindingsOf(schema json.RawMessage) ([]binding, error) {
	if !bytes.Contains(schema, []byte(`"x-mcp-header"`)) {
		return nil, nil
	}
	return appendBindings(nil, nil, schema)
}

// appendBindings adds the bindings of the property at path, which has a schema.
func appendBindings(found []binding, path []string, schema json.RawMessage) (_ []binding, err error) {
	var header, kind string
	bound := false
	for name, value := range wire.Members(schema) {
		switch {
		case name == "type":
			kind = wire.Unquote(value)
		case name == "x-mcp-header" && len(path) > 0:
			bound, header = true, wire.Unquote(value)
		case name == "properties":
			for property, schema := range wire.Members(value) {
				if found, err = appendBindings(found, append(slices.Clip(path), property), schema); err != nil {
					return nil, err
				}
			}
		}
	}
	if !bound {
		return found, nil
	}
	b := binding{path, header}
	if err := b.check(kind, found); err != nil {
		return nil, fmt.Errorf("x-mcp-header of property %s: %w", strings.Join(path, "."), err)
	}
	return append(found, b), nil
}

const tokenChars = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (b *binding) check(kind string, others []binding) error {
	if kind != "string" && kind != "integer" && kind != "boolean" {
		return fmt.Errorf("the property's type is %q, want string, integer or boolean", kind)
	}
	if b.header == "" || strings.IndexFunc(b.header, func(r rune) bool { return !strings.ContainsRune(tokenChars, r) }) >= 0 {
		return fmt.Errorf("%q is not a header name", b.header)
	}
	for _, o := range others {
		if strings.EqualFold(o.header, b.header) {
			return fmt.Errorf("the header %q is used twice", b.header)
		}
	}
	return nil
}

// primitive returns the text of a string, a boolean or an exact integer.
func primitive(raw json.RawMessage) (string, bool) {
	text := string(bytes.TrimSpace(raw))
	switch {
	case text == "true", text == "false":
		return text, true
	case strings.HasPrefix(text, `"`):
		var s string
		return s, json.Unmarshal(raw, &s) == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	const exact = 1<<53 - 1
	if err != nil || n != float64(int64(n)) || n > exact || n < -exact {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// headerValue encodes what a header cannot hold as it is.
func headerValue(s string) string {
	const begin, end = "=?base64?", "?="
	plain := strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7E }) < 0 &&
		strings.Trim(s, " \t") == s && !(strings.HasPrefix(s, begin) && strings.HasSuffix(s, end))
	if plain {
		return s
	}
	return begin + base64.StdEncoding.EncodeToString([]byte(s)) + end
}
