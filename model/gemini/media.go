package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// signature returns the value of unsigned in base64, as signatures are written.
func signature() string { return base64.StdEncoding.EncodeToString([]byte(unsigned)) }

// user returns the parts of the user's message i: first the results in the order
// of their calls, because calls without ids are recognized by it.
func (h *history) user(i int, m *model.Message) ([]json.RawMessage, error) {
	var parts, beside []json.RawMessage
	for _, call := range h.calls {
		j := slices.IndexFunc(m.Parts, func(p model.Part) bool { return p.Type == model.TypeResult && p.Result.CallID == call.part })
		response, media, err := h.result(i, j, call, m.Parts[j].Result)
		if err != nil {
			return nil, err
		}
		parts = append(parts, response)
		beside = append(beside, media...)
	}
	h.calls = nil
	parts = append(parts, beside...)
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Type == model.TypeResult {
			continue
		}
		raw, err := h.fromUser(i, j, p)
		if err != nil {
			return nil, fmt.Errorf("message %d, part %d: %w", i, j, err)
		}
		if raw != nil {
			parts = append(parts, raw)
		}
	}
	if len(parts) == 0 {
		h.losses.Add(i, 0, "the message is empty; the model reads a note about that")
		note, err := encodeText("(The message is empty.)")
		return []json.RawMessage{note}, err
	}
	return parts, nil
}

// result returns the response of a function. Models that accept no media in it
// receive them as parts that follow all responses.
func (h *history) result(i, j int, call sentCall, m *toolpost.ToolMessage) (response json.RawMessage, beside []json.RawMessage, err error) {
	if !h.rules.responseMedia {
		if m, beside, err = mediaBeside(call.name, m); err != nil {
			return nil, nil, err
		}
		if len(beside) > 0 {
			h.losses.Add(i, j, "the model accepts no media in results; they follow the results")
		}
	}
	part, lost := newResponse(call, m, h.rules.responseMedia)
	if lost > 0 {
		h.losses.Add(i, j, "%d media of types that the model cannot read are described in text", lost)
	}
	response, err = codec.Encode(part)
	return response, beside, err
}

// mediaBeside returns the result of a tool without the media that models read,
// and these as parts.
func mediaBeside(name string, m *toolpost.ToolMessage) (text *toolpost.ToolMessage, media []json.RawMessage, err error) {
	own := *m
	own.Parts = slices.Clone(m.Parts)
	for k, p := range own.Parts {
		if len(p.Data) == 0 || !slices.Contains(responseMedia(), p.MIMEType) {
			continue
		}
		own.Parts[k] = toolpost.Part{Type: "text", Text: fmt.Sprintf("[%s, which follows the results]", p.MIMEType)}
		title, err := encodeText(fmt.Sprintf("From the result of %s, %s:", name, p.MIMEType))
		if err != nil {
			return nil, nil, err
		}
		data, err := encodeInline(p.MIMEType, p.Data)
		if err != nil {
			return nil, nil, err
		}
		media = append(media, title, data)
	}
	return &own, media, nil
}

// fromUser returns a part of a user's message, nil if nothing is left.
func (h *history) fromUser(i, j int, p *model.Part) (json.RawMessage, error) {
	switch {
	case h.isReceived(i, j, p, roleUser):
		return p.Raw, nil
	case p.Type == model.TypeText:
		return encodeText(p.Text)
	case p.Type == model.TypeImage, p.Type == model.TypeDocument:
		return h.media(i, j, p)
	}
	h.losses.AddForeign(i, j, p)
	return nil, nil
}

// media returns an image or a document: inline if the model reads its type, as
// text if it is one, otherwise described.
func (h *history) media(i, j int, p *model.Part) (json.RawMessage, error) {
	switch {
	case isInline(p.MIMEType):
		return encodeInline(p.MIMEType, p.Data)
	case p.Type == model.TypeDocument && isText(p.MIMEType) && utf8.Valid(p.Data):
		h.losses.Add(i, j, "the document is sent as text")
		return encodeText(strings.TrimPrefix(p.Name+":\n", ":\n") + string(p.Data))
	}
	h.losses.Add(i, j, "the model cannot read the type %q; the part is described in text", p.MIMEType)
	return encodeText(provider.DescribeMedia(p))
}

// isInline reports whether models read the type inline.
func isInline(mimeType string) bool {
	switch mimeType {
	case provider.PNG, provider.JPEG, provider.WebP, "image/heic", "image/heif", provider.PDF:
		return true
	}
	return strings.HasPrefix(mimeType, "audio/") || strings.HasPrefix(mimeType, "video/")
}

// isText reports whether documents of the type are text.
func isText(mimeType string) bool {
	mimeType, _, _ = strings.Cut(mimeType, ";")
	return strings.HasPrefix(mimeType, "text/") || strings.HasSuffix(mimeType, "json") ||
		strings.HasSuffix(mimeType, "xml") || strings.HasSuffix(mimeType, "yaml")
}

func encodeInline(mimeType string, data []byte) (json.RawMessage, error) {
	return codec.Encode(inlinePart{blob{data, mimeType}})
}
