package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

const maxLevels = 500 // of foreign JSON

// messages returns the messages in the provider's form: neighbours of the same
// role are one message, results come first, and none is empty.
func (b *builder) messages() []*message {
	var all []*message
	for i, m := range b.r.Messages {
		var results, others []block
		for j := range m.Parts {
			if found, ok := b.part(i, j); ok && found.kind == "tool_result" {
				results = append(results, found)
			} else if ok {
				others = append(others, found)
			}
		}
		blocks := append(results, others...)
		if len(blocks) == 0 && m.Role == model.RoleUser {
			blocks = []block{{raw: textBlock("(The message is empty.)"), kind: "text"}}
			b.losses.Add(i, 0, "the message is empty; the model reads a note about that")
		}
		switch {
		case len(blocks) == 0:
		case len(all) > 0 && all[len(all)-1].role == m.Role:
			all[len(all)-1].blocks = append(all[len(all)-1].blocks, blocks...)
		default:
			all = append(all, &message{m.Role, blocks})
		}
	}
	return all
}

// part returns a part as a block; ok is false if there is nothing to send.
func (b *builder) part(i, j int) (_ block, ok bool) {
	m := b.r.Messages[i]
	p := &m.Parts[j]
	id := ""
	if p.Type == model.TypeCall {
		id = b.ids.Choose(p.ID)
	}
	if b.orphans[position{i, j}] {
		b.losses.Add(i, j, "%s is left out, because its call or result is missing", provider.PartName(p))
		return block{}, false
	}
	if b.m.origin.Accepts(p.Origin) && len(p.Raw) > 0 {
		kind, problem := inspectRaw(m.Role, p, id)
		if problem == "" {
			return block{p.Raw, kind, true}, true
		}
		if p.Type != model.TypeText || !isBlank(p.Text) {
			b.losses.AddDamaged(i, j, p, problem)
		}
	}
	switch p.Type {
	case model.TypeText:
		return block{raw: textBlock(p.Text), kind: "text"}, !isBlank(p.Text)
	case model.TypeCall:
		return block{raw: b.callBlock(i, j, id), kind: "tool_use"}, true
	case model.TypeResult:
		return b.result(i, j), true
	case model.TypeImage, model.TypeDocument:
		return b.media(i, j), true
	}
	b.losses.AddForeign(i, j, p)
	return block{}, false
}

// inspectRaw returns the type of a part's block, and the reason why it cannot be
// sent back.
func inspectRaw(role model.Role, p *model.Part, id string) (kind, problem string) {
	tree, broken := jsontree.Parse(p.Raw, maxLevels)
	if broken != nil {
		return "", broken.Error()
	}
	kind = textOf(tree.Get("type"))
	own, err := (&checker{ids: map[string]bool{}}).checkBlock(role, tree)
	switch {
	case err != nil:
		return "", err.Error()
	case own != id:
		return "", fmt.Sprintf("its id is %q, not %q", own, id)
	case tree.Get("cache_control") != nil:
		return "", "it has cache_control, which only requests have"
	}
	return kind, ""
}

func textBlock(text string) json.RawMessage {
	var o provider.Object
	o.AddText("type", "text")
	o.AddText("text", text)
	return o.JSON()
}

// callBlock returns a call of a tool that another provider's model wrote.
func (b *builder) callBlock(i, j int, id string) json.RawMessage {
	p := &b.r.Messages[i].Parts[j]
	input := json.RawMessage("{}")
	if len(p.Arguments) > 0 {
		if input = inputObject(p.Arguments); string(input) != string(p.Arguments) {
			b.losses.Add(i, j, "the arguments of the call are not an object; the model reads them as a text")
		}
	}
	var o provider.Object
	o.AddText("type", "tool_use")
	o.AddText("id", id)
	o.AddText("name", b.tools.WireName(p.Name, maxName))
	o.Add("input", input)
	return o.JSON()
}

// inputObject returns the arguments of a call if they are an object. Otherwise
// it returns an object that contains them as a text, in the form that Anthropic
// documents for invalid JSON.
func inputObject(arguments []byte) json.RawMessage {
	if tree, err := jsontree.Parse(arguments, maxLevels); err == nil && tree.Kind == jsontree.KindObject {
		return arguments
	}
	var o provider.Object
	o.AddText("INVALID_JSON", string(arguments))
	return o.JSON()
}

// result returns the result of a call.
func (b *builder) result(i, j int) block {
	m := b.r.Messages[i].Parts[j].Result
	b.losses.AddMedia(i, j, m, resultMedia(m))
	return block{raw: blockJSON(newResult(b.ids.Of(m.CallID), m)), kind: "tool_result"}
}

// media returns an image or a document of the user. One that the provider does
// not accept, or that the assistant wrote, is described in text.
func (b *builder) media(i, j int) block {
	m := b.r.Messages[i]
	p := &m.Parts[j]
	switch {
	case m.Role != model.RoleUser || len(p.Data) == 0:
	case p.Type == model.TypeImage && slices.Contains(provider.Images(), p.MIMEType):
		return block{raw: blockJSON(newImage(*p)), kind: "image"}
	case p.Type == model.TypeDocument:
		if d := newDocument(*p); d != nil {
			d.Title = p.Name
			return block{raw: blockJSON(*d), kind: "document"}
		}
	}
	b.losses.Add(i, j, "the %s of type %q is described in text", p.Type, p.MIMEType)
	return block{raw: textBlock(provider.DescribeMedia(p)), kind: "text"}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// textOf returns the text of a JSON string, "" of anything else.
func textOf(v *jsontree.Value) string {
	if v == nil {
		return ""
	}
	return v.Text
}

func isObject(v *jsontree.Value) bool { return v != nil && v.Kind == jsontree.KindObject }
