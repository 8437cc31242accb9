package toolpost

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/codec"
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
