package upstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
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
	u    *Upstream
	s    *session
	l    *listing
	raw  []json.RawMessage
	size int // bytes of what was kept
}

// Limits of what one server may list.
const (
	mostListed  = 64 << 20 // bytes of all its lists together
	mostItems   = 10_000   // of one list
	largestItem = 1 << 20  // bytes of one definition
	deepestItem = 64       // levels of one definition
)

// How long the other lists of a server may take until its tools are offered
// without them, and until nothing more is expected of them.
const (
	slowList    = 2 * time.Second
	slowestList = 10 * time.Second
)

// list asks the server of u for everything. The listing is not complete if only
// its tools came in time.
func list(u *Upstream, s *session) (l *listing, complete bool, err error) {
	ctx, cancel := context.WithTimeout(u.ctx, u.cfg.ConnectTimeout)
	defer cancel()
	r := &lister{u: u, s: s, l: emptyListing()}
	if err := r.listTools(ctx); err != nil {
		return nil, false, err
	}
	tools := *r.l
	tools.sum = r.sum()
	type outcome struct {
		l   *listing
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { done <- o }()
		defer recovered(u.log, "list prompts and resources", func(err error) { o.err = err })
		o.l = r.rest(ctx)
	}()
	slow := time.NewTimer(slowList)
	defer slow.Stop()
	select {
	case o := <-done:
		return o.l, true, o.err
	case <-slow.C:
		cancel()
		<-done
		return &tools, false, nil
	}
}

// listAll is list that waits for the other lists too.
func listAll(u *Upstream, s *session) (*listing, error) {
	ctx, cancel := context.WithTimeout(u.ctx, u.cfg.ConnectTimeout)
	defer cancel()
	r := &lister{u: u, s: s, l: emptyListing()}
	if err := r.listTools(ctx); err != nil {
		return nil, err
	}
	ctx, cancel = context.WithTimeout(ctx, slowestList)
	defer cancel()
	return r.rest(ctx), nil
}

func (r *lister) listTools(ctx context.Context) error {
	if !r.s.can("tools") {
		return nil
	}
	items, err := r.pages(ctx, "tools/list", "tools")
	if err != nil {
		return err
	}
	return r.tools(ctx, items)
}

// rest lists what there is beside tools and returns the whole.
func (r *lister) rest(ctx context.Context) *listing {
	r.features(ctx)
	r.l.sum = r.sum()
	return r.l
}

func (r *lister) sum() (sum [sha256.Size]byte) {
	hash := sha256.New()
	for _, raw := range r.raw {
		fmt.Fprintf(hash, "%d:%s", len(raw), raw)
	}
	hash.Sum(sum[:0])
	return sum
}

func (r *lister) skip(name, format string, args ...any) {
	r.l.skipped = append(r.l.skipped, toolpost.Finding{Tool: name, Message: fmt.Sprintf(format, args...)})
}

// pages returns the items of all pages. Cursors that lead nowhere end it.
func (r *lister) pages(ctx context.Context, method, key string) ([]json.RawMessage, error) {
	var items []json.RawMessage
	var params json.RawMessage
	looked := 0
	seen := map[[sha256.Size]byte]bool{} // cursors, which may be long
	for range mostPages {
		page, err := r.s.ask(ctx, method, params)
		if err != nil {
			return nil, err
		}
		some := wire.Get(page.Result, key)
		if len(some) == 0 || some[0] != '[' {
			return nil, fmt.Errorf("%s: the answer has no list of %s", method, key)
		}
		more, count, full := r.keep(method, some, mostItems-looked)
		items, looked = append(items, more...), looked+count
		cursor := wire.Unquote(wire.Get(page.Result, "nextCursor"))
		sum := sha256.Sum256([]byte(cursor))
		switch {
		case full, cursor == "":
			return items, nil
		case seen[sum]:
			r.skip("", "%s repeats the cursor %.40q; later pages are left out", method, cursor)
			return items, nil
		}
		seen[sum] = true
		params = wire.Append(nil, `"cursor":`+string(wire.Quote(cursor)))
	}
	r.skip("", "%s has more than %d pages; later pages are left out", method, mostPages)
	return items, nil
}

// keep copies the items of a page, so that the page need not stay in memory.
// It leaves out what is too large, and reports whether no more may follow. What
// is left out counts too, because it is reported.
func (r *lister) keep(method string, page json.RawMessage, most int) (kept []json.RawMessage, count int, full bool) {
	for item := range wire.Elements(page) {
		if count >= most {
			r.skip("", "%s has more than %d items; the rest is left out", method, mostItems)
			return kept, count, true
		}
		count++
		name := itemName(item)
		switch {
		case len(item) > largestItem:
			r.skip(name, "left out: its definition has %d bytes, at most %d are allowed", len(item), largestItem)
		case tooDeep(item, deepestItem):
			r.skip(name, "left out: its definition has more than %d levels", deepestItem)
		case r.size+len(item) > mostListed:
			r.skip("", "the lists have more than %d bytes together; the rest of %s is left out", mostListed, method)
			return kept, count, true
		default:
			r.size += len(item)
			kept = append(kept, bytes.Clone(item))
		}
	}
	return kept, count, false
}

// itemName returns the name of a definition that may be too large to be read.
func itemName(item json.RawMessage) string {
	d := jsontext.NewDecoder(bytes.NewReader(item[:min(len(item), 1<<10)]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if t.Kind() == '"' && t.String() == "name" && d.StackDepth() == 1 && d.PeekKind() == '"' {
			if t, err = d.ReadToken(); err != nil {
				return ""
			}
			return t.String()
		}
	}
}

// tooDeep reports whether JSON has more than so many levels.
func tooDeep(raw []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// tools adds the tools of a list. It stops when ctx is done.
func (r *lister) tools(ctx context.Context, items []json.RawMessage) error {
	seen := map[string]bool{}
	for i, raw := range items {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.raw = append(r.raw, raw)
		name := wire.Unquote(wire.Get(raw, "name"))
		switch t, err := r.tool(name, raw); {
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
	return nil
}

func (r *lister) tool(name string, raw json.RawMessage) (*toolpost.Tool, error) {
	if name == "" {
		return nil, errors.New("it has no name")
	}
	d, badOutput, err := definition(name, raw)
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
func definition(name string, raw json.RawMessage) (d toolpost.Definition, badOutput, err error) {
	o := map[string]json.RawMessage{}
	for key, value := range wire.Members(raw) {
		if o[key] == nil { // the first of a name counts
			o[key] = value
		}
	}
	d = toolpost.Definition{Name: name, Title: wire.Unquote(o["title"]), Description: wire.Unquote(o["description"]), Source: raw}
	if d.Input, err = objectSchema(o["inputSchema"]); err != nil {
		return d, nil, fmt.Errorf("its inputSchema is %w", err)
	}
	if out := o["outputSchema"]; out != nil {
		d.Output, badOutput = objectSchema(out)
	}
	if meta := o["_meta"]; wire.IsObject(meta) {
		d.Meta = meta
	}
	if json.Unmarshal(o["annotations"], &d.Annotations) != nil {
		d.Annotations = toolpost.Annotations{}
	}
	return d, badOutput, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// objectSchema parses a schema that describes an object, or may do so.
func objectSchema(raw json.RawMessage) (*schema.Schema, error) {
	if !wire.IsObject(raw) {
		return nil, fmt.Errorf("%s, %w", orMissing(raw), errNotObject)
	}
	if kind := wire.Get(raw, "type"); kind != nil && !strings.Contains(string(kind), `"object"`) {
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
