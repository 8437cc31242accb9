package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// A listing is everything that the server offers at one moment.
type listing struct {
	tools    []*toolpost.Tool
	features *toolpost.Features
	skipped  []toolpost.Finding
	sum      [sha256.Size]byte // of all that it was made of
}

func emptyListing() *listing { return &listing{features: &toolpost.Features{}} }

const mostPages = 1000

// A lister asks for lists and keeps what was said.
type lister struct {
	u   *Upstream
	s   *session
	l   *listing
	raw []json.RawMessage
}

// list asks the server of u for everything.
func list(u *Upstream, s *session) (*listing, error) {
	ctx, cancel := context.WithTimeout(u.ctx, u.cfg.ConnectTimeout)
	defer cancel()
	r := &lister{u: u, s: s, l: emptyListing()}
	if s.capabilities().Tools != nil {
		items, err := r.pages(ctx, "tools/list", "tools")
		if err != nil {
			return nil, err
		}
		r.tools(items)
	}
	r.features(ctx)
	hash := sha256.New()
	for _, raw := range r.raw {
		fmt.Fprintf(hash, "%d:%s", len(raw), raw)
	}
	hash.Sum(r.l.sum[:0])
	return r.l, nil
}

func (r *lister) skip(name, format string, args ...any) {
	r.l.skipped = append(r.l.skipped, toolpost.Finding{Tool: name, Message: fmt.Sprintf(format, args...)})
}

// pages returns the items of all pages. Cursors that lead nowhere end it.
func (r *lister) pages(ctx context.Context, method, key string) ([]json.RawMessage, error) {
	var items []json.RawMessage
	var params object
	seen := map[string]bool{}
	for range mostPages {
		raw, err := r.s.ask(ctx, method, params)
		if err != nil {
			return nil, err
		}
		page, err := parseObject(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: the answer is %w", method, err)
		}
		var some []json.RawMessage
		if err := json.Unmarshal(page.get(key), &some); err != nil {
			return nil, fmt.Errorf("%s: the answer has no list of %s", method, key)
		}
		items = append(items, some...)
		cursor := page.text("nextCursor")
		switch {
		case cursor == "":
			return items, nil
		case seen[cursor]:
			r.skip("", "%s gives the cursor %.40q again; what would follow is left out", method, cursor)
			return items, nil
		}
		seen[cursor] = true
		params = object{{"cursor", quote(cursor)}}
	}
	r.skip("", "%s has more than %d pages; what would follow is left out", method, mostPages)
	return items, nil
}

func (r *lister) tools(items []json.RawMessage) {
	seen := map[string]bool{}
	for i, raw := range items {
		r.raw = append(r.raw, raw)
		o, _ := parseObject(raw)
		name := o.text("name")
		switch t, err := r.tool(name, raw, o); {
		case err != nil && name == "":
			r.skip("", "tool %d of %d is left out: %v", i+1, len(items), err)
		case err != nil:
			r.skip(name, "left out: %v", err)
		case seen[name]:
			r.skip(name, "the server lists this name more than once; the first counts")
		default:
			seen[name] = true
			r.l.tools = append(r.l.tools, t)
		}
	}
}

func (r *lister) tool(name string, raw json.RawMessage, o object) (*toolpost.Tool, error) {
	if name == "" {
		return nil, errors.New("it has no name")
	}
	d, badOutput, err := definition(name, raw, o)
	if err != nil {
		return nil, err
	}
	if badOutput != nil {
		r.skip(name, "its outputSchema is left out: it is %v", badOutput)
	}
	var bindings []binding
	if r.s.transport == HTTP {
		if bindings, err = bindingsOf(d.Input.Raw()); err != nil {
			return nil, err
		}
	}
	again := isTrue(d.Annotations.ReadOnly) || isTrue(d.Annotations.Idempotent)
	return &toolpost.Tool{
		Definition: d,
		Handler:    toolHandler(r.u, name, bindings, again),
		Policy:     toolpost.Policy{Unchecked: true},
	}, nil
}

// definition reads an MCP Tool object. An output schema that is none is left
// out, and badOutput tells why.
func definition(name string, raw json.RawMessage, o object) (d toolpost.Definition, badOutput, err error) {
	d = toolpost.Definition{Name: name, Title: o.text("title"), Description: o.text("description"), Source: raw}
	if d.Input, err = objectSchema(o.get("inputSchema")); err != nil {
		return d, nil, fmt.Errorf("its inputSchema is %w", err)
	}
	if out := o.get("outputSchema"); out != nil {
		d.Output, badOutput = objectSchema(out)
	}
	if meta := o.get("_meta"); meta != nil {
		if _, err := parseObject(meta); err == nil {
			d.Meta = meta
		}
	}
	if json.Unmarshal(o.get("annotations"), &d.Annotations) != nil {
		d.Annotations = toolpost.Annotations{}
	}
	return d, badOutput, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// objectSchema parses a schema that describes an object, or may do so.
func objectSchema(raw json.RawMessage) (*schema.Schema, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%s, %w", orMissing(raw), errNotObject)
	}
	if kind := o.get("type"); kind != nil && !strings.Contains(string(kind), `"object"`) {
		return nil, fmt.Errorf(`of type %s, want "object"`, excerpt(kind, 40))
	}
	return schema.Parse(raw)
}

func orMissing(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	return excerpt(raw, 40)
}
