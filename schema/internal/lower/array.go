package lower

import (
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeArray writes what f says for arrays.
func writeArray(l *lowering, f *form.Form, at place) (*node, codec) {
	a := f.Array
	if a == nil {
		a = &form.Array{MaxItems: -1}
	}
	if len(a.Prefix) > 0 && l.rules.Array.Tuples == "object" {
		return writeTuple(l, f, a, at)
	}
	n := l.typeNode("array")
	if len(a.Prefix) > 0 && l.rules.Array.Tuples == "open" {
		l.lose(Widened, f.At, l.first(f.At, "prefixItems", "items"), "the items by position may be anything")
		a = &form.Array{MinItems: a.MinItems, MaxItems: a.MaxItems, Unique: a.Unique}
		open := *f
		open.Array, f = a, &open
	}
	c := &arrayCodec{}
	rest := writePrefix(l, n, c, a, at.inside())
	writeItems(l, n, c, f, rest, at.inside())
	if a.MinItems > 0 {
		writeMinItems(l, n, f.At, a.MinItems)
	}
	if a.MaxItems >= 0 && n.get("maxItems") == nil {
		constrain(l, n, f.At, "maxItems", number(a.MaxItems), "At most "+count(a.MaxItems, "item")+".")
	}
	if a.Unique {
		constrain(l, n, f.At, "uniqueItems", json.RawMessage("true"), "No duplicate items.")
		if c.orNil() != nil {
			l.lose(Checked, f.At, "uniqueItems", "items that are written differently may be the same item")
		}
	}
	return n, c.orNil()
}

func writeMinItems(l *lowering, n *node, at string, least int) {
	sentence := "At least " + count(least, "item") + "."
	if most := l.rules.MinItems; most != nil && least > *most && l.allows("minItems") {
		if *most > 0 {
			n.set("minItems", number(*most))
		}
		describe(l, n, at, "minItems", sentence)
		return
	}
	constrain(l, n, at, "minItems", number(least), sentence)
}

// writePrefix writes the schemas of items by position, and returns the keyword
// for the others.
func writePrefix(l *lowering, n *node, c *arrayCodec, a *form.Array, at place) (rest string) {
	if len(a.Prefix) == 0 {
		return "items"
	}
	list := make([]*node, len(a.Prefix))
	c.prefix = make([]codec, len(a.Prefix))
	for i, p := range a.Prefix {
		list[i], c.prefix[i] = l.write(p, at)
	}
	if l.rules.Dialect == "draft-07" {
		n.put(member{name: "items", list: list})
		return "additionalItems"
	}
	n.put(member{name: "prefixItems", list: list})
	return "items"
}

// writeItems writes the schema of the other items.
func writeItems(l *lowering, n *node, c *arrayCodec, f *form.Form, rest string, at place) {
	var items *form.Form
	tuple := false
	if f.Array != nil {
		items, tuple = f.Array.Items, len(f.Array.Prefix) > 0
	}
	switch {
	case items != nil && items.Kinds == 0:
		writeNoItems(l, n, f, rest, at)
		return
	case tuple && (items == nil || items.Any()), items == nil && !l.rules.Array.Items:
		return
	}
	var one *node
	one, c.items = writeItem(l, f.At, items, at)
	n.put(member{name: rest, node: one})
}

// writeItem writes the schema of the items of an array, nil for anything.
func writeItem(l *lowering, pointer string, items *form.Form, at place) (*node, codec) {
	switch {
	case items == nil || items.Any() && items.Notes.Description == "":
		return writeAnyItem(l, pointer, at)
	case items.Any() && l.rules.Array.Typed:
		n, c := writeAnyItem(l, items.At, at)
		annotate(l, items.At, &items.Notes, n, c)
		return n, c
	}
	return l.write(items, at)
}

// writeAnyItem writes the schema of items that may be anything.
func writeAnyItem(l *lowering, pointer string, at place) (*node, codec) {
	any := &form.Form{At: pointer, Kinds: jsontree.KindAny}
	if l.rules.Array.Typed && l.rules.Untyped == "" {
		l.lose(Encoded, pointer, "items", "an item of any type is written as a string of JSON")
		return writeText(l, any)
	}
	return l.write(any, at)
}

// writeNoItems writes that there are no items beyond the prefix.
func writeNoItems(l *lowering, n *node, f *form.Form, rest string, at place) {
	a := f.Array
	if len(a.Prefix) > 0 && l.rules.Booleans {
		n.set(rest, json.RawMessage("false"))
		return
	}
	most := len(a.Prefix)
	if a.MaxItems >= 0 {
		most = min(most, a.MaxItems)
	}
	if l.allows("maxItems") {
		n.set("maxItems", number(most))
	} else {
		describe(l, n, f.At, l.first(f.At, "additionalItems", "items"), "At most "+count(most, "item")+".")
	}
	if l.rules.Array.Items && len(a.Prefix) == 0 {
		one, _ := writeAnyItem(l, f.At, at)
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

func (c *arrayCodec) itemCodec(i int) codec {
	if i < len(c.prefix) {
		return c.prefix[i]
	}
	return c.items
}

func (c *arrayCodec) decode(x *trip, dst []byte) []byte {
	if inner := x.unwrapText('['); inner != nil {
		return decodeAll(c, x, dst, inner)
	}
	if !x.open('[') {
		return append(dst, x.value()...)
	}
	dst = append(dst, '[')
	for i := 0; x.more(i, ']'); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		x.enter(strconv.Itoa(i))
		dst = decode(c.itemCodec(i), x, dst)
		x.leave()
	}
	return append(dst, ']')
}

func (c *arrayCodec) encode(x *trip, dst, src []byte) ([]byte, bool) {
	list, ok := elements(src)
	if !ok {
		return dst, false
	}
	dst = append(dst, '[')
	for i, item := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, ok = encode(c.itemCodec(i), x, dst, item); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func (c *arrayCodec) seenPath(path []string) []string {
	i, err := strconv.Atoi(path[0])
	if err != nil {
		return path
	}
	return append([]string{path[0]}, seenPath(c.itemCodec(i), path[1:])...)
}
