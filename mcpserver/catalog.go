package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

var errNotObject = errors.New("it is not a JSON object")

// tools is one Set as it is listed.
type tools struct {
	listing listing
	headers map[string][]binding // of the tools that mirror arguments in headers
}

// newTools encodes the definitions. A tool that cannot be encoded is left out
// of the list and reported.
func newTools(set *toolpost.Set, log *slog.Logger) *tools {
	t := &tools{headers: map[string][]binding{}}
	var keys []string
	var items []json.RawMessage
	list, err := set.Tools(context.Background())
	if err != nil { // a Set is listed already
		log.Error("tools are not listed", "err", err)
	}
	for _, tool := range list {
		item, err := tool.MarshalJSON()
		if err == nil && (!wire.IsObject(item) || !wire.Valid(item)) {
			err = errNotObject
		}
		if err != nil {
			log.Warn("tool is not listed", "tool", tool.Name, "err", err)
			continue
		}
		keys, items = append(keys, tool.Name), append(items, item)
		if b := bindings(tool.Input.Raw()); b != nil {
			t.headers[tool.Name] = b
		}
	}
	t.listing = newListing("tools", keys, items)
	return t
}

// features are Features as they are listed and found.
type features struct {
	*toolpost.Features
	set                           bool // by the user, not by New
	prompts, resources, templates listing
	promptByName                  map[string]*toolpost.Prompt
	resourceByURI                 map[string]*toolpost.Resource // or by URI template
	templateOf                    []*toolpost.Resource          // the templates, in order
}

// maxTemplates is how many templates are served. A read compares its URI with
// all of them.
const maxTemplates = 1000

func newFeatures(f *toolpost.Features, log *slog.Logger) *features {
	n := &features{Features: f, promptByName: map[string]*toolpost.Prompt{}, resourceByURI: map[string]*toolpost.Resource{}}
	var prompts, resources, templates collector
	for _, p := range f.Prompts {
		if prompts.add(log, p.Definition, "name", p.Name) {
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
		if !into.add(log, r.Definition, key, r.URI) {
			continue
		}
		n.resourceByURI[r.URI] = r
		if r.Template {
			n.templateOf = append(n.templateOf, r)
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
	for _, p := range f.Prompts {
		if p.Complete != nil {
			return true
		}
	}
	for _, r := range f.Resources {
		if r.Complete != nil {
			return true
		}
	}
	return false
}

// A collector gathers the definitions of one list.
type collector struct {
	seen  map[string]bool
	keys  []string
	items []json.RawMessage
}

// add adds a definition with its identity set to key. What is not JSON, or
// has the identity of an earlier one, is left out and reported.
func (c *collector) add(log *slog.Logger, definition json.RawMessage, name, key string) bool {
	if len(definition) == 0 {
		definition = json.RawMessage("{}")
	}
	if !wire.IsObject(definition) || !wire.Valid(definition) {
		log.Warn("definition is not listed", name, key, "err", errNotObject)
		return false
	}
	if c.seen[key] {
		log.Warn("definition is not listed", name, key, "err", "there is one before it")
		return false
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.keys = append(c.keys, key)
	c.items = append(c.items, wire.Set(definition, name, wire.Quote(key)))
	return true
}

func (c *collector) listing(name string) listing { return newListing(name, c.keys, c.items) }
