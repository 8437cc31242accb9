package upstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A listing is everything that the server offers at one moment.
type listing struct {
	tools    []*toolpost.Tool
	features *toolpost.Features
	skipped  []toolpost.Finding
	sum      [sha256.Size]byte // of all that it was made of
	known    *Known            // what it was made of; nil before the first
	byName   map[string]*toolpost.Tool
}

const maxPages = 1000

// A lister lists everything that a server offers.
type lister struct {
	u *Upstream
	*hello
	pages func(ctx context.Context, method, list string) ([][]byte, error) // returns the items of a list
	l     *listing
	hash  hash.Hash // of all definitions
	size  int       // bytes of all definitions
	found []string  // capabilities that are not declared, and whose lists have something
}

func newLister(u *Upstream, h *hello, t Transport) *lister {
	known := &Known{
		Transport: t, Version: h.version, Server: h.server, Info: h.info, Instructions: h.instructions, Capabilities: h.capabilities,
		Lists: map[string][][]byte{},
	}
	return &lister{u: u, hello: h, l: &listing{features: &toolpost.Features{}, known: known}, hash: sha256.New()}
}

// Limits of what one server may list.
const (
	maxListed   = 64 << 20 // bytes of all its lists together
	maxItems    = 10_000   // of one list
	largestItem = 1 << 20  // bytes of one definition
	deepestItem = 64       // levels of one definition
)

// How long a server may take for its other lists after that of its tools: when
// it connects, and when the lists have changed.
const (
	slowList    = 2 * time.Second
	slowestList = 10 * time.Second
)

// list asks the server for everything. The listing is not complete if the lists
// other than that of its tools take longer than patience.
func (u *Upstream) list(s *session, patience time.Duration) (l *listing, complete bool, err error) {
	ctx, cancel := context.WithTimeout(u.ctx, u.cfg.ConnectTimeout)
	defer cancel()
	r := newLister(u, &s.hello, s.transport)
	r.pages = func(ctx context.Context, method, list string) ([][]byte, error) {
		return r.ask(ctx, s, method, list)
	}
	if err := r.listTools(ctx, patience); err != nil {
		return nil, false, err
	}
	if s.ctx.Err() != nil {
		return nil, false, context.Cause(s.ctx)
	}
	ctx, cancel = context.WithTimeout(ctx, patience)
	defer cancel()
	r.features(ctx)
	return r.listing(), ctx.Err() == nil, nil
}

// listTools lists the tools. A server that does not declare any need not answer.
func (r *lister) listTools(ctx context.Context, patience time.Duration) error {
	if !r.can("tools") {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	return r.eachOffered(ctx, "tools", "tools/list", "tools", "name", r.tool)
}

// eachOffered is each for a list that belongs to a capability. Where the capability is not
// declared, the server is asked nevertheless, and need not have the list.
func (r *lister) eachOffered(ctx context.Context, capability, method, list, key string, add func(name string, raw json.RawMessage) error) error {
	if r.can(capability) {
		return r.each(ctx, method, list, key, add)
	}
	if !r.mayOffer(capability) || r.each(ctx, method, list, key, add) != nil || len(r.l.known.Lists[method]) == 0 {
		return nil
	}
	r.found = append(r.found, capability)
	r.skip("", "the server answers %s, but does not declare the capability %q as an object; clients that look for it see nothing without Toolpost", method, capability)
	return nil
}

// mayOffer reports whether to ask for a list whose capability is not declared as MCP
// wants it: tools in any case, and others where the server has declared something else
// in the place of an object, or nothing at all.
func (r *lister) mayOffer(capability string) bool {
	switch string(wire.Get(r.capabilities, capability)) {
	case "", "null", "false":
		return capability == "tools" || !r.can("tools") && !r.can("prompts") && !r.can("resources")
	}
	return true
}

// withFound returns the capabilities that the server declared, and those of the lists
// that it has nevertheless: always an object.
func (r *lister) withFound() json.RawMessage {
	capabilities := r.capabilities
	if !wire.IsObject(capabilities) {
		capabilities = json.RawMessage("{}")
	}
	for _, name := range r.found {
		capabilities = wire.SetAll(capabilities, wire.Member{Name: name, Value: json.RawMessage("{}")})
	}
	return capabilities
}

func (r *lister) skip(name, format string, args ...any) {
	r.l.skipped = append(r.l.skipped, toolpost.Finding{Tool: name, Message: r.u.dial.secrets.Replace(fmt.Sprintf(format, args...))})
}

// note adds a definition to the sum of the listing.
func (r *lister) note(raw []byte) { fmt.Fprintf(r.hash, "%d:%s", len(raw), raw) }

// each calls add for every item of a list, the first of each key. An item
// that add refuses is left out.
func (r *lister) each(ctx context.Context, method, list, key string, add func(name string, raw json.RawMessage) error) error {
	items, err := r.pages(ctx, method, list)
	if err != nil {
		return err
	}
	r.l.known.Lists[method] = items
	seen := map[string]bool{}
	for i, raw := range items {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.note(raw)
		name := wire.Unquote(wire.Get(raw, key))
		switch {
		case name == "":
			r.skip("", "%s %d of %d is left out: it has no %s", strings.TrimSuffix(list, "s"), i+1, len(items), key)
			continue
		case seen[name]:
			r.skip(name, "the server lists this %s more than once; the first counts", key)
			continue
		}
		if err := add(name, raw); err != nil {
			r.skip(name, "left out: %v", err)
			continue
		}
		seen[name] = true
	}
	return nil
}

// features lists everything other than tools. Lists that fail are left out.
func (r *lister) features(ctx context.Context) {
	f := r.l.features
	f.Instructions = r.instructions
	r.note([]byte(f.Instructions))
	r.note(r.info)
	r.note(r.capabilities)
	f.Capabilities = extension.Declared(r.capabilities)
	f.Extend, f.Notified = extendHandler(r.u), notifier(r.u)
	r.note(f.Capabilities)
	for _, list := range []struct {
		capability, method, name, key string
		add                           func(string, json.RawMessage) error
	}{
		{"prompts", "prompts/list", "prompts", "name", r.prompt},
		{"resources", "resources/list", "resources", "uri", r.resource(false)},
		{"resources", "resources/templates/list", "resourceTemplates", "uriTemplate", r.resource(true)},
	} {
		err := r.eachOffered(ctx, list.capability, list.method, list.name, list.key, list.add)
		var answer *toolpost.ProtocolError
		if list.key == "uriTemplate" && errors.As(err, &answer) && answer.Code == wire.CodeMethodNotFound {
			continue // a server may have resources and no templates
		}
		if err != nil {
			r.skip("", "%s: %s", list.method, advice(err))
		}
	}
	f.ServerInfo, f.ServerCapabilities = r.info, r.withFound()
	if r.can("resources") || slices.Contains(r.found, "resources") {
		f.ReadUnlisted = readHandler(r.u)
	}
	if r.canDo("resources", "subscribe") {
		f.Subscribe = subscriber(r.u)
	}
}

// prompt adds a prompt.
func (r *lister) prompt(name string, raw json.RawMessage) error {
	p := &toolpost.Prompt{Name: name, Definition: raw, Get: promptHandler(r.u, name), Complete: r.completer("ref/prompt", "name", name)}
	r.l.features.Prompts = append(r.l.features.Prompts, p)
	return nil
}

// resource returns what adds a resource or a template.
func (r *lister) resource(template bool) func(uri string, raw json.RawMessage) error {
	return func(uri string, raw json.RawMessage) error {
		res := &toolpost.Resource{URI: uri, Template: template, Definition: raw, Read: readHandler(r.u), Complete: r.completer("ref/resource", "uri", uri)}
		r.l.features.Resources = append(r.l.features.Resources, res)
		return nil
	}
}

// ask asks the server for all pages of a list. Cursors that lead nowhere end it, as
// does an answer without a list, which some servers send for an empty one.
func (r *lister) ask(ctx context.Context, s *session, method, key string) ([][]byte, error) {
	var items [][]byte
	var cursor, params json.RawMessage
	looked := 0
	seen := map[[sha256.Size]byte]bool{} // cursors, which may be long
	for range maxPages {
		page, err := s.ask(ctx, method, params)
		if err != nil && len(cursor) > 0 && cursor[0] != '"' {
			r.skip("", "%s has the cursor %.40q, which is not a string; later pages are left out: %s", method, cursor, advice(err))
			return items, nil
		}
		if err != nil {
			return nil, err
		}
		s.noteWorked(method)
		some := wire.Get(page.Result, key)
		if len(some) == 0 || some[0] != '[' {
			r.skip("", "%s: the answer has no list of %s, which counts as an empty one", method, key)
			return items, nil
		}
		more, count, full := r.keep(method, some, maxItems-looked)
		items, looked = append(items, more...), looked+count
		cursor = wire.Get(page.Result, "nextCursor")
		sum := sha256.Sum256(cursor)
		switch {
		case full || isLastCursor(cursor):
			return items, nil
		case seen[sum]:
			r.skip("", "%s repeats the cursor %.40q; later pages are left out", method, cmp.Or(wire.Unquote(cursor), string(cursor)))
			return items, nil
		case strings.IndexByte(`{[tf`, cursor[0]) >= 0:
			r.skip("", "%s has the cursor %.40q, which is not a string; later pages are left out", method, cursor)
			return items, nil
		}
		seen[sum] = true
		params = wire.Append(nil, `"cursor":`+string(cursor)) // a number too: the server chose it
	}
	r.skip("", "%s has more than %d pages; later pages are left out", method, maxPages)
	return items, nil
}

// isLastCursor reports whether no page follows the one with this cursor.
func isLastCursor(cursor json.RawMessage) bool {
	return len(cursor) == 0 || string(cursor) == "null" || string(cursor) == `""`
}

// keep copies the items of a page, so that the page need not stay in memory.
// It leaves out what is too large, and reports whether no more may follow. What
// is left out counts too, because it is reported.
func (r *lister) keep(method string, page json.RawMessage, most int) (kept [][]byte, count int, full bool) {
	for item := range wire.Elements(page) {
		if count >= most {
			r.skip("", "%s has more than %d items; the rest is left out", method, maxItems)
			return kept, count, true
		}
		count++
		name := excerpt([]byte(wire.Unquote(wire.Get(item, "name"))), 200)
		switch {
		case len(item) > largestItem:
			r.skip(name, "left out: its definition has %d bytes, at most %d are allowed", len(item), largestItem)
		case wire.TooDeep(item, deepestItem):
			r.skip(name, "left out: its definition has more than %d levels", deepestItem)
		case r.size+len(item) > maxListed:
			r.skip("", "the lists have more than %d bytes together; the rest of %s is left out", maxListed, method)
			return kept, count, true
		default:
			r.size += len(item)
			kept = append(kept, bytes.Clone(item))
		}
	}
	return kept, count, false
}

// tool adds a tool.
func (r *lister) tool(name string, raw json.RawMessage) error {
	var d toolpost.Definition
	badOutput, err := hidden.ParseDefinition(raw, &d)
	if err != nil {
		return err
	}
	if badOutput != nil {
		r.skip(name, "its outputSchema is left out: it is %v", badOutput)
	}
	var bindings []wire.Binding
	if r.l.known.Transport == HTTP {
		if bindings, err = wire.Bindings(d.Input.Raw()); err != nil {
			return err
		}
	}
	again := isTrue(d.Annotations.ReadOnly) || isTrue(d.Annotations.Idempotent)
	r.l.tools = append(r.l.tools, &toolpost.Tool{
		Definition: d,
		Handler:    toolHandler(r.u, d, bindings, again),
		Policy:     toolpost.Policy{SkipValidation: true},
	})
	return nil
}

func isTrue(b *bool) bool { return b != nil && *b }
