package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

// tools is one Set as it is listed.
type tools struct {
	listing listing
	headers map[string][]wire.Binding // of the tools that mirror arguments in headers
}

// newTools encodes the definitions. A tool that cannot be encoded is left out
// of the list and reported.
func newTools(set *toolpost.Set, log *slog.Logger) *tools {
	t := &tools{headers: map[string][]wire.Binding{}}
	list, err := set.Tools(context.Background())
	if err != nil { // a Set is listed already
		log.Error("tools are not listed", "err", err)
	}
	var listed collector
	for _, tool := range list {
		item, err := tool.MarshalJSON()
		if err == nil {
			err = listed.add(tool.Name, item)
		}
		if err != nil {
			log.Warn("tool is not listed", "tool", tool.Name, "err", err)
			continue
		}
		bound, err := wire.Bindings(tool.Input.Raw())
		if err != nil {
			log.Warn("arguments are not compared with headers", "tool", tool.Name, "err", err)
		}
		if bound != nil {
			t.headers[tool.Name] = bound
		}
	}
	t.listing = listed.listing("tools")
	return t
}

// features are Features as they are listed and found.
type features struct {
	*toolpost.Features
	set                           bool // by the user, not by New
	prompts, resources, templates listing
	declared                      json.RawMessage // of extensions, nil for none
	promptByName                  map[string]*toolpost.Prompt
	resourceByURI                 map[string]*toolpost.Resource // or by URI template
	templateOf                    []*toolpost.Resource          // the templates, in order
}

// maxTemplates is how many templates are served. A read compares its URI with
// all of them.
const maxTemplates = 1000

func newFeatures(f *toolpost.Features, log *slog.Logger) *features {
	n := &features{Features: f, declared: bytes.TrimSpace(extension.Declared(f.Capabilities)), promptByName: map[string]*toolpost.Prompt{}, resourceByURI: map[string]*toolpost.Resource{}}
	var prompts, resources, templates collector
	for _, p := range f.Prompts {
		if prompts.define(log, p.Definition, "name", p.Name) {
			n.promptByName[p.Name] = p
		}
	}
	for _, r := range f.Resources {
		into, key := &resources, "uri"
		if r.Template {
			into, key = &templates, "uriTemplate"
			if err := n.admits(r); err != nil {
				log.Warn("resource template is not listed", key, clip(r.URI), "err", err)
				continue
			}
		}
		if into.define(log, r.Definition, key, r.URI) {
			n.resourceByURI[r.URI] = r
			if r.Template {
				n.templateOf = append(n.templateOf, r)
			}
		}
	}
	n.prompts = prompts.listing("prompts")
	n.resources = resources.listing("resources")
	n.templates = templates.listing("resourceTemplates")
	return n
}

// resource returns the resource that a URI names, nil if there is none.
func (f *features) resource(uri string) *toolpost.Resource {
	if r := f.resourceByURI[uri]; r != nil && !r.Template {
		return r
	}
	for _, r := range f.templateOf {
		if r.Matches(uri) {
			return r
		}
	}
	return nil
}

// admits reports why a template cannot be served, nil if it can.
func (f *features) admits(r *toolpost.Resource) error {
	if len(f.templateOf) >= maxTemplates {
		return fmt.Errorf("there are more than %d templates", maxTemplates)
	}
	return r.Validate()
}

// completes reports whether anything offers completion.
func (f *features) completes() bool {
	return slices.ContainsFunc(f.Prompts, func(p *toolpost.Prompt) bool { return p.Complete != nil }) ||
		slices.ContainsFunc(f.Resources, func(r *toolpost.Resource) bool { return r.Complete != nil })
}

// define adds a definition whose member name has the value key. A definition
// that cannot be added is reported.
func (c *collector) define(log *slog.Logger, definition json.RawMessage, name, key string) bool {
	err := errNotObject
	if len(definition) == 0 || wire.IsObject(definition) {
		err = c.add(key, wire.Set(definition, name, wire.Quote(key)))
	}
	if err != nil {
		log.Warn("definition is not listed", name, clip(key), "err", err)
	}
	return err == nil
}
