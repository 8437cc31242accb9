package upstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// features lists what there is beside tools. What cannot be listed is left out.
func (r *lister) features(ctx context.Context) {
	f := r.l.features
	f.Instructions = r.s.instructions
	r.raw = append(r.raw, json.RawMessage(f.Instructions))
	complete := r.s.can("completions")
	if r.s.can("prompts") {
		r.each(ctx, "prompts/list", "prompts", "name", func(name string, raw json.RawMessage) {
			p := &toolpost.Prompt{Name: name, Definition: raw, Get: promptHandler(r.u, name)}
			if complete {
				p.Complete = completer(r.u, "ref/prompt", "name", name)
			}
			f.Prompts = append(f.Prompts, p)
		})
	}
	if !r.s.can("resources") {
		return
	}
	f.ReadUnlisted = readHandler(r.u)
	resource := func(template bool) func(string, json.RawMessage) {
		return func(uri string, raw json.RawMessage) {
			res := &toolpost.Resource{URI: uri, Template: template, Definition: raw, Read: readHandler(r.u)}
			if complete {
				res.Complete = completer(r.u, "ref/resource", "uri", uri)
			}
			f.Resources = append(f.Resources, res)
		}
	}
	r.each(ctx, "resources/list", "resources", "uri", resource(false))
	r.each(ctx, "resources/templates/list", "resourceTemplates", "uriTemplate", resource(true))
	if r.s.canDo("resources", "subscribe") {
		f.Subscribe = subscriber(r.u)
	}
}

// each calls add with every item that has its key, the first of each.
func (r *lister) each(ctx context.Context, method, list, key string, add func(string, json.RawMessage)) {
	items, err := r.pages(ctx, method, list)
	if err != nil {
		r.skip("", "%v", fmt.Errorf("%s: %s", method, advice(err)))
		return
	}
	seen := map[string]bool{}
	for _, raw := range items {
		r.raw = append(r.raw, raw)
		switch name := wire.Unquote(wire.Get(raw, key)); {
		case name == "":
			r.skip("", "%s: an item without %s is left out", method, key)
		case seen[name]:
			r.skip("", "%s lists %s more than once; the first counts", method, name)
		default:
			seen[name] = true
			add(name, raw)
		}
	}
}
