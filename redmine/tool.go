package redmine

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// An entry is a tool of a group.
type entry struct{ *toolpost.Tool }

// An effect is what a tool does to Redmine.
type effect int

const (
	reads effect = iota
	adds
	changes
	removes
)

// tool makes a tool. Its text has at most four lines, and neither brackets nor
// underscores, which some clients do not take.
func tool[In any](s *Server, name, title, description string, e effect, fn func(ctx context.Context, in In) (*toolpost.Result, error)) entry {
	no, yes := false, true
	hints := toolpost.Annotations{ReadOnly: &no, Destructive: &no, Idempotent: &no, OpenWorld: &no}
	switch e {
	case reads:
		hints.ReadOnly, hints.Idempotent = &yes, &yes
	case changes:
		hints.Destructive = &yes
	case removes:
		hints.Destructive, hints.Idempotent = &yes, &yes
	}
	checked := func(ctx context.Context, in In) (*toolpost.Result, error) {
		if err := s.Check(ctx); err != nil {
			return nil, err
		}
		return fn(ctx, in)
	}
	t := toolpost.New(name, description, checked, &toolpost.Options{
		Title: title, Annotations: hints, Policy: toolpost.Policy{Timeout: 5 * time.Minute},
	})
	return entry{lenient(t)}
}

// lenient lets numbers stand where the schema says text, as models and older
// clients write ids.
func lenient(t *toolpost.Tool) *toolpost.Tool {
	next := t.Handler
	t.Policy.Unchecked = true // next checks what is made of the arguments
	t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		inner := *call
		inner.Arguments = asText(call.Arguments, texts(t))
		return next(ctx, &inner)
	}
	return t
}

// texts are the properties of t that are texts, or lists of them.
func texts(t *toolpost.Tool) map[string]bool {
	var input struct {
		Properties map[string]struct {
			Type  string                `json:"type"`
			Items struct{ Type string } `json:"items"`
		} `json:"properties"`
	}
	raw, err := json.Marshal(t.Input)
	if err != nil || json.Unmarshal(raw, &input) != nil {
		return nil
	}
	found := map[string]bool{}
	for name, p := range input.Properties {
		found[name] = p.Type == "string" || p.Type == "array" && p.Items.Type == "string"
	}
	return found
}

// asText quotes the numbers of the properties that are texts.
func asText(raw json.RawMessage, texts map[string]bool) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var members map[string]any
	if d.Decode(&members) != nil {
		return raw
	}
	changed := false
	for name, value := range members {
		if !texts[name] {
			continue
		}
		switch v := value.(type) {
		case json.Number:
			members[name], changed = v.String(), true
		case []any:
			for i := range v {
				if n, ok := v[i].(json.Number); ok {
					v[i], changed = n.String(), true
				}
			}
		}
	}
	if !changed {
		return raw
	}
	if out, err := json.Marshal(members); err == nil {
		return out
	}
	return raw
}

// answer returns v for programs and text for people and models; neither has our
// credentials in it.
func (s *Server) answer(text string, v any) (*toolpost.Result, error) {
	var structured bytes.Buffer
	e := json.NewEncoder(&structured)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	hidden := s.client.hide.Replace(strings.TrimSuffix(structured.String(), "\n"))
	part := toolpost.Part{Type: "text", Text: s.client.hide.Replace(text)}
	return toolpost.WithContent(toolpost.Parts(), []toolpost.Part{part}, json.RawMessage(hidden))
}
