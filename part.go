package toolpost

import "encoding/json"

// A Part is one content block of a result (MCP 2026-07-28, ContentBlock).
// Type says which fields are meant; blocks of other types are kept in Raw.
type Part struct {
	Type     string `json:"type"` // text, image, audio, resource_link, resource
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"` // image and audio; base64 on the wire
	MIMEType string `json:"mimeType,omitempty"`
	URI      string `json:"uri,omitempty"`
	Name     string `json:"name,omitempty"`

	// Raw is the whole block as it was received or as it is to be sent; the
	// other fields are then only a view of it.
	Raw json.RawMessage `json:"-"`
}

type wirePart Part

// MarshalJSON writes Raw if it is set. A text block always has its text.
func (p Part) MarshalJSON() ([]byte, error) {
	switch {
	case p.Raw != nil:
		return p.Raw, nil
	case p.Type == "text":
		return encode(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{p.Type, p.Text})
	}
	return encode(wirePart(p))
}

// UnmarshalJSON keeps the block in Raw. A block with malformed fields keeps
// only its type.
func (p *Part) UnmarshalJSON(data []byte) error {
	var w wirePart
	if err := decode(data, &w); err != nil {
		w = wirePart{Type: w.Type}
	}
	w.Raw = append(json.RawMessage(nil), data...)
	*p = Part(w)
	return nil
}
