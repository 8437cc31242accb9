package claude

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// presenter makes of a tool what the CLI reads without loss. Its strict reader
// loses all tools of a server over a fault in a member that the model never
// sees, so those are left out. It shows the model every tool, so tools that are for MCP
// Apps only are left out too.
func presenter(deferred bool) func(*toolpost.Tool) *toolpost.Tool {
	return func(t *toolpost.Tool) *toolpost.Tool {
		if wire.ForAppsOnly(t.Meta) {
			return nil
		}
		t.Raw = nil
		t.Output = nil // results have no structured content that would fit it
		t.Meta = about(t, deferred)
		t.Policy.Polled = true // not in the log: the stream has every call
		t.Handler = present(t.Handler)
		return t
	}
}

// The members of a tool's _meta that the CLI heeds.
const (
	metaAlwaysLoad = "anthropic/alwaysLoad"
	metaMaxResult  = "anthropic/maxResultSizeChars"
)

// about returns the _meta of a tool. What the tool says itself stays.
func about(t *toolpost.Tool, deferred bool) json.RawMessage {
	meta, own := t.Meta, []string(nil)
	if !wire.IsObject(meta) {
		meta = nil
	}
	add := func(name, value string) {
		if wire.Get(meta, name) == nil {
			own = append(own, string(wire.Quote(name))+":"+value)
		}
	}
	if !deferred {
		add(metaAlwaysLoad, "true")
	}
	if t.Policy.MaxOutput > 0 {
		add(metaMaxResult, strconv.Itoa(t.Policy.MaxOutput))
	}
	if own == nil {
		return meta
	}
	return wire.Append(meta, own...)
}

// present gives a call the model's id for it, and makes its result plain.
func present(next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		inner := *call
		if id := wire.Unquote(wire.Get(wire.Get(call.Params, "_meta"), "claudecode/toolUseId")); id != "" {
			inner.ID = id
		}
		r, err := next(ctx, &inner)
		switch {
		case err != nil && err.Error() == "":
			return nil, toolpost.Failed.Errorf(unexplained)
		case err != nil:
			return nil, err
		case r == nil:
			r = toolpost.NewResult()
		}
		return plain(r)
	}
}

// What the model reads where a tool says nothing.
const (
	unexplained = "the tool failed and did not say why"
	nothing     = "(no output)"
)

// plain makes of a result what reaches the model whole. The CLI shows it
// structured content in place of all text, of an error only the text, and of a
// block that it does not know nothing but a complaint.
func plain(r *toolpost.Result) (*toolpost.Result, error) {
	old := r.Parts()
	parts := make([]toolpost.Part, 0, len(old)+1)
	changed := r.Structured() != nil
	text, other := false, false
	for _, p := range old {
		switch p.Type {
		case "text":
			if p.Text == "" { // the API refuses it
				changed = true
				continue
			}
			text = true
		case "image", "audio", "resource", "resource_link":
			other = true
		default:
			raw, err := p.MarshalJSON()
			if err != nil {
				return nil, err
			}
			p, text, changed = toolpost.Part{Type: "text", Text: string(raw)}, true, true
		}
		parts = append(parts, p)
	}
	say := func(s string) {
		parts, changed = append(parts, toolpost.Part{Type: "text", Text: s}), true
	}
	switch {
	case text:
	case r.Structured() != nil:
		say(string(r.Structured()))
	case r.IsError():
		say(unexplained)
	case !other:
		say(nothing)
	}
	if !changed {
		return r, nil
	}
	return r.WithContent(parts, nil)
}
