package upstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost"
)

// features lists what there is beside tools. What cannot be listed is left out.
func (r *lister) features(ctx context.Context) {
	can, f := r.s.capabilities(), r.l.features
	f.Instructions = r.s.client.InitializeResult().Instructions
	r.raw = append(r.raw, json.RawMessage(f.Instructions))
	complete := can.Completions != nil
	if can.Prompts != nil {
		r.each(ctx, "prompts/list", "prompts", "name", func(name string, raw json.RawMessage) {
			p := &toolpost.Prompt{Name: name, Definition: raw, Get: promptHandler(r.u, name)}
			if complete {
				p.Complete = completer(r.u, "ref/prompt", "name", name)
			}
			f.Prompts = append(f.Prompts, p)
		})
	}
	if can.Resources == nil {
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
	if can.Resources.Subscribe {
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
		o, _ := parseObject(raw)
		switch name := o.text(key); {
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
