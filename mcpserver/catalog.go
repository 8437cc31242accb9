package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"strings"

	"github.com/toolpost/toolpost"
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
		if err == nil && !validObject(item) {
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
	patterns                      []pattern
}

// A pattern matches the URIs of a resource template.
type pattern struct {
	expr     *regexp.Regexp
	resource *toolpost.Resource
}

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
		}
		if !into.add(log, r.Definition, key, r.URI) {
			continue
		}
		n.resourceByURI[r.URI] = r
		if r.Template {
			n.patterns = append(n.patterns, pattern{templatePattern(r.URI), r})
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
	for _, p := range f.patterns {
		if p.expr.MatchString(uri) {
			return p.resource
		}
	}
	return nil
}

// completes tells whether anything offers completion.
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
	if !validObject(definition) {
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
	c.items = append(c.items, put(definition, name, quote(key)))
	return true
}

func (c *collector) listing(name string) listing { return newListing(name, c.keys, c.items) }

// templatePattern matches the URIs that a template (RFC 6570) can expand to.
// It is generous: the reader of the resource takes the URI apart.
func templatePattern(template string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for template != "" {
		literal, rest, ok := strings.Cut(template, "{")
		b.WriteString(regexp.QuoteMeta(literal))
		expression, after, closed := strings.Cut(rest, "}")
		switch {
		case !ok:
		case !closed:
			b.WriteString(regexp.QuoteMeta("{" + rest))
		case strings.ContainsAny(expression[:min(1, len(expression))], "+#/?&;"), strings.HasSuffix(expression, "*"):
			b.WriteString(".*")
		default:
			b.WriteString("[^/?#]*")
		}
		template = after
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}
