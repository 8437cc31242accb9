package gemini

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A part is what is read of one part of a response.
type part struct {
	Text             *string `json:"text"`
	Thought          bool    `json:"thought"`
	ThoughtSignature string  `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	InlineData *struct {
		MIMEType string `json:"mimeType"`
		Data     []byte `json:"data"`
	} `json:"inlineData"`
}

// parts are the parts of a response so far. Texts without a signature or another
// member that follow each other are one part, which is the last one while run is
// not nil.
type parts struct {
	tools *toolset
	body  []byte // of the request
	seed  string // of ids, made of the body once one is needed
	all   []model.Part
	run   *strings.Builder
}

// add adds a part. The delta is nil if there is nothing to show.
func (ps *parts) add(raw json.RawMessage) (*model.Delta, error) {
	if len(ps.all) >= provider.MaxParts {
		return nil, provider.ErrTooManyParts
	}
	var p part
	var members map[string]json.RawMessage
	if _, err := dataOf(raw); err != nil {
		return nil, err // it could not be sent back
	}
	if err := errors.Join(decode(raw, &p), json.Unmarshal(raw, &members)); err != nil {
		return nil, err
	}
	switch {
	case p.FunctionCall != nil:
		return ps.addCall(raw, &p)
	case p.Text != nil && isPlain(members):
		return ps.addPlain(&p), nil
	}
	ps.close()
	part := model.Part{Type: model.TypeOpaque, Text: dataName(members), Raw: raw}
	var delta *model.Delta
	switch {
	case p.Text != nil:
		part.Type, part.Text = textType(&p), *p.Text
		if part.Text != "" {
			delta = &model.Delta{Part: len(ps.all), Type: part.Type, Text: part.Text}
		}
	case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
		part.Type, part.Text, part.MIMEType, part.Data = model.TypeImage, "", p.InlineData.MIMEType, p.InlineData.Data
		delta = &model.Delta{Part: len(ps.all), Type: part.Type}
	}
	ps.all = append(ps.all, part)
	return delta, nil
}

// isPlain reports whether a part with a text has no other members.
func isPlain(members map[string]json.RawMessage) bool {
	_, thought := members["thought"]
	return len(members) == 1 || len(members) == 2 && thought
}

// dataName returns the first member with data in alphabetical order, by which an
// opaque part is called.
func dataName(members map[string]json.RawMessage) string {
	var names []string
	for name := range members {
		if name != "thought" && name != "thoughtSignature" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

func textType(p *part) model.PartType {
	if p.Thought {
		return model.TypeThinking
	}
	return model.TypeText
}

// addPlain adds a text that may be merged with others. An empty one is nothing.
func (ps *parts) addPlain(p *part) *model.Delta {
	if *p.Text == "" {
		return nil
	}
	if last := len(ps.all) - 1; ps.run == nil || ps.all[last].Type != textType(p) {
		ps.close()
		ps.run = new(strings.Builder)
		ps.all = append(ps.all, model.Part{Type: textType(p)})
	}
	ps.run.WriteString(*p.Text)
	return &model.Delta{Part: len(ps.all) - 1, Type: textType(p), Text: *p.Text}
}

// close ends the part that texts are merged into.
func (ps *parts) close() {
	if ps.run == nil {
		return
	}
	last := &ps.all[len(ps.all)-1]
	last.Text, ps.run = ps.run.String(), nil
	thought := ""
	if last.Type == model.TypeThinking {
		thought = `,"thought":true`
	}
	last.Raw = slices.Concat([]byte(`{"text":`), wire.Quote(last.Text), []byte(thought+"}"))
}

// addCall adds a function call.
func (ps *parts) addCall(raw json.RawMessage, p *part) (*model.Delta, error) {
	f := p.FunctionCall
	if f.Name == "" {
		return nil, errors.New("the model called a function without a name")
	}
	ps.close()
	call := model.Part{Type: model.TypeCall, ID: f.ID, Name: ps.tools.OwnName(f.Name), Arguments: f.Args, Raw: raw}
	switch text := textOf(f.Args); {
	case len(f.Args) == 0 || string(f.Args) == "null":
		call.Arguments = json.RawMessage(`{}`)
	case wire.IsObject(json.RawMessage(text)): // written as text, which Google would not take back
		call.Arguments = json.RawMessage(text)
		function := wire.Set(wire.Get(raw, "functionCall"), "args", call.Arguments)
		call.Raw = wire.Set(raw, "functionCall", function)
	case !wire.IsObject(f.Args): // the model reads in the result what it wrote
		function := wire.Set(wire.Get(raw, "functionCall"), "args", arguments(f.Args))
		call.Raw = wire.Set(raw, "functionCall", function)
	}
	if call.ID == "" || slices.ContainsFunc(ps.all, func(p model.Part) bool { return p.ID == call.ID }) {
		// The body of the request contains the whole conversation, so that no other
		// request of it has the same ids.
		ps.seed = cmp.Or(ps.seed, provider.DerivedID("", string(ps.body), 0))
		call.ID = provider.DerivedID("call_", ps.seed, len(ps.all))
	}
	ps.tools.DecodeCall(&call, f.Name)
	ps.all = append(ps.all, call)
	return &model.Delta{Part: len(ps.all) - 1, Type: model.TypeCall, Name: call.Name, Text: string(call.Arguments)}, nil
}

// textOf returns the text of a JSON string, "" for another value.
func textOf(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text)
	return text
}

// finish returns the parts, all of the origin.
func (ps *parts) finish(origin *model.Origin) []model.Part {
	ps.close()
	for i := range ps.all {
		ps.all[i].Origin = origin
	}
	return ps.all
}
