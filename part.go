package toolpost

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Part is one content block of a result (MCP 2026-07-28, ContentBlock). Type
// determines which fields are used; blocks of unknown types are kept in Raw.
type Part struct {
	Type     string `json:"type"` // text, image, audio, resource_link, resource
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"` // image, audio, and binary resources; base64 on the wire
	MIMEType string `json:"mimeType,omitempty"`
	URI      string `json:"uri,omitempty"`
	Name     string `json:"name,omitempty"`

	// Raw is the whole block as it was received or as it is to be sent. If it
	// is set, the other fields only repeat its content.
	Raw json.RawMessage `json:"-"`
}

type wirePart Part

// A wireResource is the resource inside a block of that type.
type wireResource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     []byte  `json:"blob,omitempty"`
}

// MarshalJSON writes Raw if it is set. Otherwise it writes the members that a
// block of the type requires, even if they are empty.
func (p Part) MarshalJSON() ([]byte, error) {
	switch {
	case p.Raw != nil:
		return p.Raw, nil
	case p.Type == "text":
		return codec.Encode(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{p.Type, p.Text})
	case p.Type == "image", p.Type == "audio":
		return codec.Encode(struct {
			Type     string `json:"type"`
			Data     []byte `json:"data"`
			MIMEType string `json:"mimeType"`
		}{p.Type, p.Data, p.MIMEType})
	case p.Type == "resource":
		r := wireResource{URI: p.URI, MIMEType: p.MIMEType, Blob: p.Data}
		if len(p.Data) == 0 || p.Text != "" {
			r.Text = &p.Text
		}
		return codec.Encode(struct {
			Type     string       `json:"type"`
			Resource wireResource `json:"resource"`
		}{p.Type, r})
	case p.Type == "resource_link" && p.Name == "":
		p.Name = p.URI // a link has a name
	}
	return codec.Encode(wirePart(p))
}

// UnmarshalJSON keeps the block in Raw. For a block with malformed fields it
// sets only Type.
func (p *Part) UnmarshalJSON(data []byte) error {
	var w struct {
		wirePart `json:",inline"`
		Resource *wireResource `json:"resource"`
	}
	if err := codec.Decode(data, &w); err != nil {
		w.wirePart = wirePart{Type: w.Type}
	} else if r := w.Resource; r != nil {
		w.URI, w.MIMEType, w.Data = r.URI, r.MIMEType, r.Blob
		if r.Text != nil {
			w.Text = *r.Text
		}
	}
	w.Raw = append(json.RawMessage(nil), data...)
	*p = Part(w.wirePart)
	return nil
}

// textParts reads an array of blocks of text; it returns nil if another is among
// them. The blocks share the bytes of the array.
func textParts(array json.RawMessage) []Part {
	if array[0] != '[' {
		return nil
	}
	one := array[1 : len(array)-1]
	if text, ok := wire.TextBlock(one); ok {
		return []Part{{Type: "text", Text: unquote(text), Raw: one}}
	}
	parts := []Part{}
	for block := range wire.Elements(array) {
		p, ok := textPart(block)
		if !ok {
			return nil
		}
		parts = append(parts, p)
	}
	return parts
}

// textPart reads a block of text that has no member of another block, and none
// twice.
func textPart(block json.RawMessage) (Part, bool) {
	var kind, text json.RawMessage
	for name, value := range wire.Members(block) {
		switch name {
		case "type":
			if kind != nil {
				return Part{}, false
			}
			kind = value
		case "text":
			if text != nil || value[0] != '"' {
				return Part{}, false
			}
			text = value
		case "data", "mimeType", "uri", "name", "resource":
			return Part{}, false
		}
	}
	return Part{Type: "text", Text: unquote(text), Raw: block}, string(kind) == `"text"`
}

// unquote returns the text of a JSON string, as [wire.Unquote] does. Long ones
// are copied once, from escape to escape.
func unquote(quoted json.RawMessage) string {
	if len(quoted) < 1000 || !utf8.Valid(quoted) {
		return wire.Unquote(quoted)
	}
	var b strings.Builder
	b.Grow(len(quoted))
	rest := quoted[1 : len(quoted)-1]
	for {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 {
			b.Write(rest)
			return b.String()
		}
		b.Write(rest[:at])
		if plain := strings.IndexByte(`"\/bfnrt`, rest[at+1]); plain >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[plain])
			rest = rest[at+2:]
			continue
		}
		end := at + len(`\u0000`)
		for bytes.HasPrefix(rest[end:], []byte(`\u`)) { // two may be one character
			end += len(`\u0000`)
		}
		b.WriteString(wire.Unquote(slices.Concat([]byte{'"'}, rest[at:end], []byte{'"'})))
		rest = rest[end:]
	}
}

// writeParts writes the array of parts.
func writeParts(b *bytes.Buffer, parts []Part) error {
	size := 100
	for _, p := range parts {
		size += len(p.Raw) + len(",")
	}
	b.Grow(size)
	separator := byte('[')
	for _, p := range parts {
		raw, err := p.MarshalJSON()
		if err == nil && !wire.Valid(raw) {
			err = errors.New("a content block is not JSON")
		}
		if err != nil {
			return err
		}
		b.WriteByte(separator)
		b.Write(raw)
		separator = ','
	}
	if len(parts) == 0 {
		b.WriteByte('[')
	}
	b.WriteByte(']')
	return nil
}
