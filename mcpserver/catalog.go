package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

// A catalog is one Set with its encoded lists and its lookup tables.
type catalog struct {
	*features
	of      []*toolpost.Tool
	tools   listing
	headers map[string][]wire.Binding // of the tools that mirror arguments in headers
	lister  *strictLister             // which made the list
}

// newCatalog encodes the definitions. A tool that cannot be encoded is left out
// of the list and reported. Before is the catalog of the Set before, nil if there
// is none.
func newCatalog(set *toolpost.Set, f *features, before *catalog, log *reports) *catalog {
	list, err := set.Tools(context.Background())
	if err != nil { // a Set is listed already
		log.log.Error("tools are not listed", "err", err)
	}
	if before != nil && slices.Equal(before.of, list) {
		return &catalog{f, list, before.tools, before.headers, before.lister}
	}
	t := &catalog{features: f, of: list, headers: map[string][]wire.Binding{}, lister: &strictLister{log, map[string][sha256.Size]byte{}}}
	if before != nil {
		t.lister = before.lister
	}
	listed := collector{kind: wire.KindTool, log: log}
	for _, tool := range list {
		if err := t.lister.add(&listed, tool); err != nil {
			log.reportOmitted(wire.KindTool, tool.Name, err)
			continue
		}
		bound, err := wire.Bindings(tool.Input.Raw())
		if err != nil {
			log.report(slog.LevelWarn, "arguments are not compared with headers", wire.KindTool, tool.Name, err.Error())
		}
		if bound != nil {
			t.headers[tool.Name] = bound
		}
	}
	t.tools = listed.listing("tools")
	return t
}

// differs reports whether the lists that a topic is about are others.
func (t *catalog) differs(other *catalog, about topic) bool {
	for _, l := range lists {
		if l.changed == about.method && t.list(l.method).sum != other.list(l.method).sum {
			return true
		}
	}
	return false
}

// list returns the list that a method returns.
func (t *catalog) list(method string) listing {
	if method == listTools {
		return t.tools
	}
	return t.lists[method]
}

// features are Features with their encoded lists and their lookup tables.
type features struct {
	*toolpost.Features
	of            *toolpost.Features // the same, nil if there are none: then no list is announced
	lists         map[string]listing // by the method that returns them
	declared      json.RawMessage    // of extensions, nil for none
	info          json.RawMessage    // of the server behind the toolset; nil if it is not known
	promptByName  map[string]*toolpost.Prompt
	resourceByURI map[string]*toolpost.Resource // or by URI template
	templateOf    []*toolpost.Resource          // the templates, in order
}

// maxTemplates is how many templates are served. A read compares its URI with
// all of them.
const maxTemplates = 1000

func newFeatures(f *toolpost.Features, log *reports) *features {
	n := &features{of: f, promptByName: map[string]*toolpost.Prompt{}, resourceByURI: map[string]*toolpost.Resource{}}
	f = cmp.Or(f, &toolpost.Features{})
	n.Features, n.declared = f, bytes.TrimSpace(extension.Declared(f.Capabilities))
	n.info = validInfo(f.ServerInfo)
	prompts, resources := collector{kind: wire.KindPrompt, log: log}, collector{kind: wire.KindResource, log: log}
	templates := collector{kind: wire.KindTemplate, log: log}
	for _, p := range f.Prompts {
		if prompts.define(p.Definition, "name", p.Name) {
			n.promptByName[p.Name] = p
		}
	}
	for _, r := range f.Resources {
		into, key := &resources, "uri"
		if r.Template {
			into, key = &templates, "uriTemplate"
			if err := n.admits(r); err != nil {
				log.reportOmitted(wire.KindTemplate, r.URI, err)
				continue
			}
		}
		if into.define(r.Definition, key, r.URI) {
			n.resourceByURI[r.URI] = r
			if r.Template {
				n.templateOf = append(n.templateOf, r)
			}
		}
	}
	n.lists = map[string]listing{
		listPrompts:   prompts.listing("prompts"),
		listResources: resources.listing("resources"),
		listTemplates: templates.listing("resourceTemplates"),
	}
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
func (c *collector) define(definition json.RawMessage, name, key string) bool {
	err := errNotObject
	if len(definition) == 0 || wire.IsObject(definition) {
		err = c.add(key, wire.Set(definition, name, wire.Quote(key)))
	}
	if err != nil {
		c.log.reportOmitted(c.kind, key, err)
	}
	return err == nil
}
