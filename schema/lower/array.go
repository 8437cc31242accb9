package lower

import (
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost/schema"
)

// array writes what f says for arrays.
func (l *lowering) array(f *schema.Form, at place) (*node, codec) {
	a := f.Array
	if a == nil {
		a = &schema.ArrayForm{MaxItems: -1}
	}
	if len(a.Prefix) > 0 && l.rules.Array.Tuples == "object" {
		return l.tuple(f, a, at)
	}
	n := typed(l.typeName("array"))
	c := &arrayCodec{}
	l.items(n, c, f, a, at.inside())
	if a.MinItems > 0 {
		l.minItems(n, f.At, a.MinItems)
	}
	if a.MaxItems >= 0 {
		l.constraint(n, f.At, "maxItems", number(a.MaxItems), "At most "+count(a.MaxItems, "item")+".")
	}
	if a.Unique {
		l.constraint(n, f.At, "uniqueItems", json.RawMessage("true"), "No item twice.")
	}
	return n, c.orNil()
}

func (l *lowering) minItems(n *node, at string, least int) {
	sentence := "At least " + count(least, "item") + "."
	if limit := l.rules.MinItems; limit != nil && least > *limit && l.allows("minItems") {
		if *limit > 0 {
			n.set("minItems", number(*limit))
		}
		l.describe(n, at, "minItems", sentence)
		return
	}
	l.constraint(n, at, "minItems", number(least), sentence)
}

// items writes the schemas of items.
func (l *lowering) items(n *node, c *arrayCodec, f *schema.Form, a *schema.ArrayForm, at place) {
	var list []*node
	for _, p := range a.Prefix {
		one, code := l.schema(p, at)
		list = append(list, one)
		c.prefix = append(c.prefix, code)
	}
	rest := "items"
	if list != nil && l.rules.Dialect == "draft-07" {
		n.put(member{name: "items", list: list})
		rest = "additionalItems"
	} else if list != nil {
		n.put(member{name: "prefixItems", list: list})
	}
	switch {
	case a.Items != nil && a.Items.Kinds == 0:
		l.noItems(n, f, a, rest, at)
	case a.Items != nil && a.Items.Any() && a.Items.Notes.Description == "" && list == nil:
		one, code := l.anyItem(f, at)
		c.items = code
		n.put(member{name: "items", node: one})
	case a.Items != nil && !(a.Items.Any() && list != nil):
		one, code := l.schema(a.Items, at)
		c.items = code
		n.put(member{name: rest, node: one})
	case l.rules.Array.Items && list == nil:
		one, code := l.anyItem(f, at)
		c.items = code
		n.put(member{name: "items", node: one})
	}
}

// anyItem writes the schema of items that may be anything.
func (l *lowering) anyItem(f *schema.Form, at place) (*node, codec) {
	any := &schema.Form{At: f.At, Kinds: schema.KindAny}
	if l.rules.Array.Typed && l.rules.Untyped == "" {
		l.lose(Encoded, f.At, "items", "an item of any type is written as JSON text")
		return l.text(any)
	}
	return l.schema(any, at)
}

// noItems writes that there are no items beyond the prefix.
func (l *lowering) noItems(n *node, f *schema.Form, a *schema.ArrayForm, rest string, at place) {
	if len(a.Prefix) > 0 && l.rules.Booleans {
		n.set(rest, json.RawMessage("false"))
		return
	}
	if a.MaxItems < 0 || a.MaxItems > len(a.Prefix) {
		l.constraint(n, f.At, "maxItems", number(len(a.Prefix)), "At most "+count(len(a.Prefix), "item")+".")
	}
	if l.rules.Array.Items && len(a.Prefix) == 0 {
		one, _ := l.anyItem(f, at)
		n.put(member{name: "items", node: one})
	}
}

// An arrayCodec writes items each with its own codec.
type arrayCodec struct {
	prefix []codec
	items  codec
}

func (c *arrayCodec) orNil() codec {
	for _, p := range c.prefix {
		if p != nil {
			return c
		}
	}
	if c.items == nil {
		return nil
	}
	return c
}

func (c *arrayCodec) parts() []codec { return append(c.prefix[:len(c.prefix):len(c.prefix)], c.items) }

func (c *arrayCodec) at(i int) codec {
	if i < len(c.prefix) {
		return c.prefix[i]
	}
	return c.items
}

func (c *arrayCodec) decode(x *trip, dst, src []byte) []byte {
	list, ok := elements(x.unwrapText(src, '['))
	if !ok {
		return append(dst, src...)
	}
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		x.enter(strconv.Itoa(i))
		dst = decode(c.at(i), x, dst, item)
		x.leave()
	}
	return append(dst, ']')
}

func (c *arrayCodec) encode(dst, src []byte) ([]byte, bool) {
	list, ok := elements(src)
	if !ok {
		return dst, false
	}
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = encode(c.at(i), dst, item); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func (c *arrayCodec) seen(path []string) []string {
	i, err := strconv.Atoi(path[0])
	if err != nil {
		return path
	}
	return append([]string{path[0]}, seen(c.at(i), path[1:])...)
}

// tuple writes an array with items by position as an object.
func (l *lowering) tuple(f *schema.Form, a *schema.ArrayForm, at place) (*node, codec) {
	o := &schema.ObjectForm{Additional: &schema.Form{}, MaxProperties: -1}
	for i, p := range a.Prefix {
		o.Properties = append(o.Properties, schema.Property{Name: itemName(i), Form: p, Required: a.MinItems > i})
	}
	open := a.Items == nil || a.Items.Kinds != 0
	if open && (a.MaxItems < 0 || a.MaxItems > len(a.Prefix)) {
		items := a.Items
		if items == nil {
			items = &schema.Form{At: f.At, Kinds: schema.KindAny}
		}
		rest := &schema.Form{At: f.At, Kinds: schema.KindArray, Array: &schema.ArrayForm{Items: items, MaxItems: -1}}
		o.Properties = append(o.Properties, schema.Property{Name: restName, Form: rest})
	}
	kind := Encoded
	if a.MinItems < len(a.Prefix) || a.MinItems > len(a.Prefix) || a.MaxItems > len(a.Prefix) || a.Unique {
		kind = Checked
	}
	l.lose(kind, f.At, l.source.first(f.At, "prefixItems", "items"), "items by position are written as members item0, item1…")
	n, c := l.object(&schema.Form{At: f.At, Kinds: schema.KindObject, Object: o}, at)
	return n, join(tupleCodec{len(a.Prefix)}, c)
}

const restName = "rest"

func itemName(i int) string { return "item" + strconv.Itoa(i) }

// A tupleCodec writes an array as an object.
type tupleCodec struct{ prefix int }

func (c tupleCodec) decode(_ *trip, dst, src []byte) []byte {
	all, ok := fields(src)
	if !ok {
		return append(dst, src...)
	}
	byName := make(map[string][]byte, len(all))
	for _, f := range all {
		byName[f.name] = f.value
	}
	out := append([]byte(nil), '[')
	n := 0
	for ; n < c.prefix && byName[itemName(n)] != nil; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, byName[itemName(n)]...)
	}
	rest, isList := elements(byName[restName])
	if used := n + min(len(byName[restName]), 1); used != len(all) || len(byName[restName]) > 0 && !isList || len(rest) > 0 && n < c.prefix {
		return append(dst, src...) // an item is missing before another
	}
	for _, item := range rest {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
		n++
	}
	return append(dst, append(out, ']')...)
}

func (c tupleCodec) encode(dst, src []byte) ([]byte, bool) {
	list, ok := elements(src)
	if !ok {
		return dst, false
	}
	dst = append(dst, '{')
	for i, item := range list {
		switch {
		case i < c.prefix:
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, itemName(i)), ':')
		case i == c.prefix:
			dst = append(dst, `,"rest":[`...)
		default:
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	if len(list) > c.prefix {
		dst = append(dst, ']')
	}
	return append(dst, '}'), true
}

func (c tupleCodec) seen(path []string) []string {
	i, err := strconv.Atoi(path[0])
	switch {
	case err != nil:
		return path
	case i < c.prefix:
		return append([]string{itemName(i)}, path[1:]...)
	}
	return append([]string{restName, strconv.Itoa(i - c.prefix)}, path[1:]...)
}
