package anthropic

import (
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// partType returns the type of the part that a block becomes.
func partType(kind string) string {
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
	r.Stop = stopOf(a.stop, len(r.Message.Calls()) > 0)
	if r.Stop == model.StopRefusal {
		r.TakeBack = true
		if r.Refusal = a.refusal; r.Refusal == "" {
			r.Refusal = "the provider refused to answer and gave no reason"
		}
	}
	return r
}

// stopOf returns the neutral form of a stop reason.
func stopOf(reason string, calls bool) string {
	switch {
	case reason == "max_tokens", reason == "model_context_window_exceeded":
		return model.StopLength
	case reason == "refusal":
		return model.StopRefusal
	case calls:
		return model.StopCalls
	case reason == "pause_turn", reason == "compaction":
		return model.StopPause
	}
	return model.StopEnd
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
	if written != "" {
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
	cut := last && stopOf(a.stop, true) == model.StopLength
	switch arguments := tree.Get("input"); {
	case cut && (broken || written == ""):
		p.Invalid = provider.CutOff
	case broken, !isObject(arguments):
		p.Invalid = "The arguments are not a JSON object: " + strconv.Quote(jsontree.Clip(written, 200)) + ". Call the tool again with valid JSON."
	default:
		p.Arguments = json.RawMessage(arguments.Raw)
		a.request.tools.DecodeCall(p, name)
	}
}
