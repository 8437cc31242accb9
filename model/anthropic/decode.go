package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// partType returns the type of the part that a block becomes.
func partType(kind string) model.PartType {
	switch kind {
	case "text":
		return model.TypeText
	case "thinking", "redacted_thinking":
		return model.TypeThinking
	case "tool_use":
		return model.TypeCall
	}
	return model.TypeOpaque
}

// finish yields the complete response, or returns the error that ended it.
func (a *accumulator) finish(yield func(*model.Delta, error) bool) error {
	if end, _ := provider.Ending(a.stop); end == provider.EndFailed {
		return malformedError("the response ended because of an error: " + a.stop)
	}
	response := a.response()
	if a.stop == "" && response.Stop == model.StopCalls { // they may not be all, or refused
		return &streamError{}
	}
	yield(&model.Delta{Response: response}, nil)
	return nil
}

// response returns the complete response.
func (a *accumulator) response() *model.Response {
	r := &model.Response{ID: a.id, Model: a.name, Usage: a.usage, Losses: a.request.losses,
		Message: &model.Message{Role: model.RoleAssistant}}
	ids, origin := map[string]bool{}, a.origin
	for i, b := range a.blocks {
		p := model.Part{Type: partType(b.kind), Origin: &origin}
		if p.Type == model.TypeCall {
			a.decodeCall(b, &p, i == len(a.blocks)-1)
			if p.ID == "" || ids[p.ID] {
				p.ID = provider.DerivedID(idPrefix, a.id+" "+p.ID, i)
			}
			ids[p.ID] = true
		} else {
			b.decode(&p)
		}
		r.Message.Parts = append(r.Message.Parts, p)
	}
	a.request.output.decode(r.Message)
	r.Stop = stopOf(a.stop, r.Message)
	if r.Stop == model.StopRefusal {
		r.Refusal = a.refusal
		_, known := provider.Ending(a.stop)
		switch r.TakeBack = known; {
		case !known:
			r.Refusal = provider.Incomplete(a.stop)
		case r.Refusal == "":
			r.Refusal = "the provider refused to answer and gave no reason"
		}
	}
	return r
}

// stopOf returns the neutral form of a stop reason. A response that paused can be
// continued only if it ends with work of the provider; otherwise it was cut.
func stopOf(reason string, m *model.Message) model.StopReason {
	end, _ := provider.Ending(reason)
	switch {
	case end == model.StopLength, end == model.StopRefusal:
		return end
	case len(m.Calls()) > 0:
		return model.StopCalls
	case end == model.StopPause && len(m.Text()) > 0 && !hasOpaque(m):
		return model.StopLength
	}
	return end
}

// hasOpaque reports whether a message has a block that only the provider understands,
// such as a call that it runs itself.
func hasOpaque(m *model.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.Type == model.TypeOpaque })
}

// decode reads a block that is not a call.
func (b *streamedBlock) decode(p *model.Part) {
	tree := b.setRaw(p, nil)
	switch b.kind {
	case "text":
		p.Text = textOf(tree.Get("text"))
	case "thinking":
		p.Text = textOf(tree.Get("thinking"))
	case "redacted_thinking":
	default:
		p.Text = b.kind
	}
}

// setRaw sets the raw form of a part, and returns it as a tree. A block that is
// not strict JSON, which no request may contain, is not kept.
func (b *streamedBlock) setRaw(p *model.Part, input json.RawMessage) *jsontree.Value {
	raw := b.raw(input)
	tree, err := jsontree.Parse(raw, maxLevels)
	if err == nil {
		p.Raw = raw
		return tree
	}
	if tree, err = jsontree.ParseLenient(raw, maxLevels); err != nil {
		return nil
	}
	return tree
}

// decodeCall reads a call. The last block of a response may be cut off.
func (a *accumulator) decodeCall(b *streamedBlock, p *model.Part, last bool) {
	written := b.input.String()
	var input json.RawMessage
	many := provider.HasManyValues([]byte(written))
	if written != "" && !many {
		input = inputObject([]byte(written))
	}
	tree := b.setRaw(p, input)
	p.ID = textOf(tree.Get("id"))
	name := textOf(tree.Get("name"))
	p.Name = a.request.tools.OwnName(name)
	if p.Name == "" {
		p.Name = "unnamed"
	}
	broken := string(input) != written
	end, _ := provider.Ending(a.stop)
	cut := last && end == model.StopLength
	switch arguments := tree.Get("input"); {
	case many:
		p.Invalid = provider.ManyValues
	case cut && (broken || written == ""):
		p.Invalid = provider.CutOff
	case broken, !isObject(arguments):
		p.Invalid = "The arguments are not a JSON object: " + strconv.Quote(jsontree.Clip(written, 200)) + ". Call the tool again with valid JSON."
	default:
		p.Arguments = json.RawMessage(arguments.Raw)
		a.request.tools.DecodeCall(p, name)
	}
}
