package retool

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
)

// references repairs the references of a rewritten schema: those to an argument
// with another name follow it, and what a reference to a hidden argument means
// is kept as a definition. Definitions that only hidden arguments used are left
// out.
func (d *document) references(raw json.RawMessage, p *plan) json.RawMessage {
	if !bytes.Contains(raw, []byte(`$ref`)) && !d.inlined && len(p.hidden) == 0 {
		return raw
	}
	kept := map[string]json.RawMessage{} // definitions to add, by name
	raw = eachRef(raw, 0, func(ref string) string { return d.moveRef(ref, p, kept) })
	for name, value := range kept {
		definitions := wire.Get(raw, "$defs")
		raw = wire.Set(raw, "$defs", wire.Append(definitions, string(wire.Quote(name))+":"+string(value)))
	}
	return prune(raw)
}

// moveRef returns a reference to what ref referred to before the schema was
// rewritten.
func (d *document) moveRef(ref string, p *plan, kept map[string]json.RawMessage) string {
	pointer, local := jsontree.LocalRef(ref)
	rest, found := strings.CutPrefix(pointer, "/properties/")
	if !local || !found {
		return ref
	}
	token, inside, deeper := strings.Cut(rest, "/")
	if deeper {
		inside = "/" + inside
	}
	own := jsontree.UnescapePointer(token)
	c := p.changes[own]
	switch {
	case c != nil && c.Hide:
		name := "hidden_" + own
		if target := d.root.At("/properties/" + token); target != nil {
			kept[name] = target.Raw
		}
		return "#/$defs/" + jsontree.EscapePointer(name) + inside
	case p.clientName(own) != own:
		return "#/properties/" + jsontree.EscapePointer(p.clientName(own)) + inside
	}
	return ref
}

// eachRef returns JSON with every $ref replaced by what f returns.
func eachRef(raw json.RawMessage, depth int, f func(string) string) json.RawMessage {
	switch {
	case depth > 4*maxDepth:
		return raw
	case wire.IsObject(raw):
		return wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
			if name == "$ref" && len(value) > 0 && value[0] == '"' {
				ref := wire.Unquote(value)
				if now := f(ref); now != ref {
					return wire.Quote(now)
				}
				return value
			}
			return eachRef(value, depth+1, f)
		})
	case len(raw) > 0 && raw[0] == '[':
		return wire.EditElements(raw, func(item json.RawMessage) json.RawMessage { return eachRef(item, depth+1, f) })
	}
	return raw
}

// prune leaves out definitions that nothing refers to, unless parts of the
// schema are found by other means.
func prune(raw json.RawMessage) json.RawMessage {
	for _, other := range []string{`"$id"`, `"id"`, `"$anchor"`, `"$dynamicRef"`, `"$recursiveRef"`} {
		if bytes.Contains(raw, []byte(other)) {
			return raw
		}
	}
	used := map[string]bool{} // JSON pointers of definitions
	mark := func(part json.RawMessage) (news []string) {
		eachRef(part, 0, func(ref string) string {
			pointer, _ := jsontree.LocalRef(ref)
			if at := strings.SplitN(pointer, "/", 4); len(at) > 2 && !used[at[1]+"/"+at[2]] {
				used[at[1]+"/"+at[2]] = true
				news = append(news, at[1], at[2])
			}
			return ref
		})
		return news
	}
	news := mark(wire.Delete(wire.Delete(raw, "$defs"), "definitions"))
	for len(news) > 0 {
		table, token := news[0], news[1]
		news = append(news[2:], mark(wire.Get(wire.Get(raw, table), jsontree.UnescapePointer(token)))...)
	}
	return wire.Edit(raw, func(table string, value json.RawMessage) json.RawMessage {
		if table != "$defs" && table != "definitions" || !wire.IsObject(value) {
			return value
		}
		left := wire.Edit(value, func(name string, definition json.RawMessage) json.RawMessage {
			if !used[table+"/"+jsontree.EscapePointer(name)] {
				return nil
			}
			return definition
		})
		if strings.TrimSpace(string(left)) == "{}" {
			return nil
		}
		return left
	})
}
