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

	"github.com/go-json-experiment/json/jsontext"
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

// argument returns the arguments that are sent.
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
	c := &collector{d: jsontext.NewDecoder(bytes.NewReader(schema), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if err := c.schema(nil); err != nil {
		return nil, err
	}
	return c.found, nil
}

// A collector finds bindings in one pass over a schema.
type collector struct {
	d     *jsontext.Decoder
	found []binding
}

// schema reads the schema of the property at path.
func (c *collector) schema(path []string) error {
	if c.d.PeekKind() != '{' {
		return c.d.SkipValue()
	}
	_, _ = c.d.ReadToken()
	var mark, kind string
	marked := false
	for c.d.PeekKind() == '"' {
		name, err := c.d.ReadToken()
		if err != nil {
			return err
		}
		switch key := name.String(); {
		case key == "properties":
			err = c.properties(path)
		case key == "type":
			kind, err = c.text()
		case key == "x-mcp-header" && len(path) > 0:
			marked = true
			mark, err = c.text()
		default:
			err = c.d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	if _, err := c.d.ReadToken(); err != nil || !marked {
		return err
	}
	b := binding{slices.Clone(path), mark}
	if err := b.check(kind, c.found); err != nil {
		return fmt.Errorf("x-mcp-header of property %s: %w", strings.Join(path, "."), err)
	}
	c.found = append(c.found, b)
	return nil
}

func (c *collector) properties(path []string) error {
	if c.d.PeekKind() != '{' {
		return c.d.SkipValue()
	}
	_, _ = c.d.ReadToken()
	for c.d.PeekKind() == '"' {
		name, err := c.d.ReadToken()
		if err != nil {
			return err
		}
		if err := c.schema(append(path, name.String())); err != nil {
			return err
		}
	}
	_, err := c.d.ReadToken()
	return err
}

// text reads a value. It is "" if it is not a string.
func (c *collector) text() (string, error) {
	if c.d.PeekKind() != '"' {
		return "", c.d.SkipValue()
	}
	t, err := c.d.ReadToken()
	return t.String(), err
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
