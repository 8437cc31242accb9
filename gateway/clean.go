package gateway

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema"
)

// removeHidden returns the definition of a tool without unsafe icons and without
// hidden characters in its titles and descriptions and those of its schemas. A
// clean definition keeps its bytes.
func removeHidden(d toolpost.Definition) toolpost.Definition {
	d.Title, d.Description = cleartext.Clean(d.Title), cleartext.Clean(d.Description)
	d.Annotations.Title = cleartext.Clean(d.Annotations.Title)
	d.Raw = visibleText(d.Raw)
	d.Input, d.Output = visibleSchema(d.Input), visibleSchema(d.Output)
	return d
}

// lostText reports whether now lacks something that before has.
func lostText(now, before *toolpost.Definition) bool {
	return now.Title != before.Title || now.Description != before.Description || now.Input != before.Input || now.Output != before.Output ||
		!bytes.Equal(now.Raw, before.Raw)
}

func visibleSchema(s *schema.Schema) *schema.Schema {
	if s == nil {
		return nil
	}
	raw := visibleText(s.Raw())
	if bytes.Equal(raw, s.Raw()) {
		return s
	}
	if clean, err := schema.Parse(raw); err == nil { // only texts differ
		return clean
	}
	return s
}

// hides reports whether text has hidden characters.
func hides(text string) bool { return cleartext.Clean(text) != text }

// visibleText returns a JSON value without hidden characters in the texts that
// are for people and models: titles, descriptions, comments, and the members
// called also. It leaves out icons whose address a client must not open.
// Everything else keeps its bytes.
func visibleText(raw json.RawMessage, also ...string) json.RawMessage {
	if !mayHide(raw) && !bytes.Contains(raw, []byte(`"icons"`)) {
		return raw
	}
	c := textCleaner{raw: raw, d: jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	c.texts = append(also, "description", "title", "$comment")
	c.value()
	if c.err != nil || c.copied == 0 {
		return raw
	}
	return append(c.out, raw[c.copied:]...)
}

// mayHide reports whether a JSON value has a character beyond visible ASCII, as
// it is or escaped.
func mayHide(raw []byte) bool {
	for i, c := range raw {
		if c >= 0x7f || c == '\\' && i+1 < len(raw) && bytes.IndexByte([]byte("ubfr"), raw[i+1]) >= 0 {
			return true
		}
	}
	return false
}

// A textCleaner walks through a JSON value and copies it.
type textCleaner struct {
	raw    []byte
	d      *jsontext.Decoder
	out    []byte
	copied int // bytes of raw that out has
	texts  []string
	err    error
}

// value walks through a schema, or a definition that has some.
func (c *textCleaner) value() {
	switch c.d.PeekKind() {
	case '{':
		c.members(c.keyword)
	case '[':
		c.token()
		for c.err == nil && c.d.PeekKind() != ']' {
			c.value()
		}
		c.token()
	default:
		c.skip()
	}
}

func (c *textCleaner) members(each func(name string)) {
	if c.d.PeekKind() != '{' {
		c.skip()
		return
	}
	c.token()
	for c.err == nil && c.d.PeekKind() == '"' {
		each(c.token())
	}
	c.token()
}

func (c *textCleaner) keyword(name string) {
	s := shape.Of(name)
	switch {
	case c.d.PeekKind() == '"' && slices.Contains(c.texts, name):
		c.text()
	case name == "icons" && c.d.PeekKind() == '[':
		c.icons()
	case name == "enum" || name == "const" || name == "default" || name == "examples" || name == "_meta":
		c.skip() // values, which mean what they are
	case s == shape.Table || s == shape.Dependencies:
		c.members(func(string) { c.value() })
	default:
		c.value()
	}
}

func (c *textCleaner) text() {
	raw := c.skip()
	if c.err != nil {
		return
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // its only error is a replacement
	if !hides(string(text)) {
		return
	}
	clean, _ := jsontext.AppendQuote(nil, cleartext.Clean(string(text)))
	c.replace(raw, clean)
}

// replace writes a value in the place of raw, which was read last.
func (c *textCleaner) replace(raw, value []byte) {
	end := int(c.d.InputOffset())
	c.out = append(append(c.out, c.raw[c.copied:end-len(raw)]...), value...)
	c.copied = end
}

func (c *textCleaner) token() string {
	if c.err != nil {
		return ""
	}
	t, err := c.d.ReadToken()
	if err != nil {
		c.err = err
		return ""
	}
	return t.String()
}

func (c *textCleaner) skip() jsontext.Value {
	if c.err != nil {
		return nil
	}
	raw, err := c.d.ReadValue()
	c.err = err
	return raw
}

// icons walks over the icons of a definition and leaves out those whose address
// a client must not open.
func (c *textCleaner) icons() {
	raw := c.skip()
	var all []json.RawMessage
	if c.err != nil || json.Unmarshal(raw, &all) != nil {
		return
	}
	kept := []json.RawMessage{}
	for _, icon := range all {
		if safeIcon(icon) {
			kept = append(kept, icon)
		}
	}
	if len(kept) == len(all) {
		return
	}
	list, err := json.Marshal(kept)
	if err != nil {
		c.err = err
		return
	}
	c.replace(raw, list)
}

// safeIcon reports whether an icon is an image at an https address or one in
// itself, as MCP wants it.
func safeIcon(icon json.RawMessage) bool {
	var o struct {
		Src string `json:"src"`
	}
	if jsonx.Unmarshal(icon, &o) != nil { // it refuses a second src, and ignores SRC
		return false
	}
	u, err := url.Parse(o.Src)
	return err == nil && (u.Scheme == "https" && u.Host != "" || u.Scheme == "data" && strings.HasPrefix(strings.ToLower(u.Opaque), "image/"))
}

// safeURI reports whether a resource may have this address: one without hidden
// characters that runs no script when a person follows it.
func safeURI(uri string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(uri)), ":")
	return !hides(uri) && scheme != "javascript" && scheme != "vbscript"
}
