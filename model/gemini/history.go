package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A history writes messages as contents.
type history struct {
	*generator
	tools  *toolset
	turns  []turn
	calls  []sentCall // of the message before
	losses provider.Losses
}

// A turn is one content of the request.
type turn struct {
	role  string
	parts []json.RawMessage
}

// A sentCall is a call in the form in which the model receives it again.
type sentCall struct {
	part     string // the id of the neutral part
	id, name string // of the provider; the id is empty if the provider sent none
}

// unsigned is the value that Google documents in place of a thought signature for
// calls that another model made: since Gemini 3, the first call of a step is
// refused without a signature.
const unsigned = "skip_thought_signature_validator"

// write returns the array of contents. Messages of one role that follow each
// other, also after a message of which nothing is left, are one content.
func (h *history) write(messages []*model.Message) (json.RawMessage, error) {
	for i, m := range messages {
		var parts []json.RawMessage
		var err error
		role := roleUser
		if m.Role == model.RoleAssistant {
			role = roleModel
			parts, err = h.assistant(i, m)
		} else {
			parts, err = h.user(i, m)
		}
		if err != nil {
			return nil, err
		}
		last := len(h.turns) - 1
		switch {
		case len(parts) == 0:
		case last >= 0 && h.turns[last].role == role:
			h.turns[last].parts = append(h.turns[last].parts, parts...)
		default:
			h.turns = append(h.turns, turn{role, parts})
		}
	}
	var contents []json.RawMessage
	for _, t := range h.turns {
		var content provider.Object
		content.AddText("role", t.role)
		content.Add("parts", provider.Array(t.parts))
		contents = append(contents, content.JSON())
	}
	return provider.Array(contents), nil
}

// assistant returns the parts of the model's message i, and remembers its calls.
func (h *history) assistant(i int, m *model.Message) ([]json.RawMessage, error) {
	h.calls = nil
	var parts []json.RawMessage
	for j := range m.Parts {
		p := &m.Parts[j]
		raw, err := h.fromModel(i, j, p)
		if err != nil {
			return nil, fmt.Errorf("message %d, part %d: %w", i, j, err)
		}
		if raw != nil {
			parts = append(parts, raw)
		}
	}
	return parts, nil
}

// fromModel returns a part of a model's message: as it was received if the
// provider accepts that, otherwise rebuilt. It returns nil if nothing is left.
func (h *history) fromModel(i, j int, p *model.Part) (json.RawMessage, error) {
	if h.isReceived(i, j, p, roleModel) {
		if p.Type == model.TypeCall {
			return h.receivedCall(i, j, p), nil
		}
		return p.Raw, nil
	}
	switch p.Type {
	case model.TypeText:
		return encodeText(p.Text)
	case model.TypeCall:
		return h.rebuiltCall(i, j, p)
	case model.TypeImage, model.TypeDocument:
		h.losses.Add(i, j, "media that the model did not make itself is described in text")
		return encodeText(provider.DescribeMedia(p))
	}
	h.losses.AddForeign(i, j, p)
	return nil, nil
}

// checkRaw returns an error unless raw is one JSON object.
func checkRaw(raw json.RawMessage) error {
	if !json.Valid(raw) || raw[0] != '{' {
		return fmt.Errorf("the raw form is not a JSON object: %.60q", raw)
	}
	return nil
}

// isReceived reports whether the raw form of a part is sent back. One that was
// damaged, for example in a stored session, is not.
func (h *history) isReceived(i, j int, p *model.Part, role string) bool {
	if len(p.Raw) == 0 || !h.origin.Accepts(p.Origin) {
		return false
	}
	err := checkRaw(p.Raw)
	var data *partData
	if err == nil {
		data, err = dataOf(p.Raw)
	}
	if err == nil {
		err = data.check(role, false)
	}
	if err == nil && (data.FunctionResponse != nil || (data.FunctionCall != nil) != (p.Type == model.TypeCall)) {
		err = fmt.Errorf("it is not a part of the type %s", p.Type)
	}
	if err != nil {
		h.losses.AddDamaged(i, j, p, err)
	}
	return err == nil
}

// receivedCall returns a call as it was received. The first call of a step that
// has no signature, such as one of Gemini 2.5, gets what stands for one if the
// model needs it.
func (h *history) receivedCall(i, j int, p *model.Part) json.RawMessage {
	var read partData
	if err := decode(p.Raw, &read); err != nil || read.FunctionCall == nil {
		return p.Raw // isReceived has read it
	}
	raw := p.Raw
	if len(h.calls) == 0 && h.rules.signed && read.ThoughtSignature == "" {
		h.losses.Add(i, j, "the call was received without a signature; it is sent with the value that replaces one")
		raw = slices.Concat([]byte(`{"thoughtSignature":`), wire.Quote(signature()), []byte{','}, raw[1:])
	}
	h.calls = append(h.calls, sentCall{p.ID, read.FunctionCall.ID, read.FunctionCall.Name})
	return raw
}

// rebuiltCall returns the call of another provider. Its id is not sent: it is not
// one of Google's.
func (h *history) rebuiltCall(i, j int, p *model.Part) (json.RawMessage, error) {
	name := h.tools.nameFor(p.Name)
	args := arguments(p.Arguments)
	if len(p.Arguments) > 0 && len(args) != len(p.Arguments) {
		h.losses.Add(i, j, "the arguments are not an object; they are sent as a text in one")
	}
	call := struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args,omitempty"`
	}{name, args}
	var sign *string
	if len(h.calls) == 0 && h.rules.signed {
		s := signature()
		sign = &s
		h.losses.Add(i, j, "the call is from %s; it is sent with the value that replaces a signature", provider.OriginName(p.Origin))
	}
	if name != p.Name && h.tools.Name(p.Name) == "" {
		h.losses.Add(i, j, "the name %q of a tool that is not offered is sent as %q", p.Name, name)
	}
	h.calls = append(h.calls, sentCall{p.ID, "", name})
	return codec.Encode(struct {
		ThoughtSignature *string `json:"thoughtSignature,omitempty"`
		FunctionCall     any     `json:"functionCall"`
	}{sign, call})
}

// arguments returns the arguments of a call of another provider. Arguments that
// are not an object, as a model may have written them, become a text in one.
func arguments(raw json.RawMessage) json.RawMessage {
	switch {
	case len(strings.TrimSpace(string(raw))) == 0:
		return json.RawMessage(`{}`)
	case checkRaw(raw) == nil:
		return raw
	}
	return slices.Concat([]byte(`{"arguments":`), wire.Quote(string(raw)), []byte{'}'})
}

// encodeText returns a text as a part, nil if it is empty, which Vertex AI refuses.
func encodeText(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	return codec.Encode(textPart{text})
}
