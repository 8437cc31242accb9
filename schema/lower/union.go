package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// writeUnion writes alternatives of overlapping kinds.
func writeUnion(l *lowering, f *schema.Form, at place) (*node, codec) {
	u := f.Alts
	if l.rules.Union.None || at.root && l.rules.Root.NoUnion {
		return flatten(l, f, at)
	}
	nodes := make([]*node, len(u.Forms))
	branches := &branchCodec{}
	for i, alt := range u.Forms {
		var c codec
		nodes[i], c = l.write(alt, at)
		branches.add(nodes[i], alt, c)
	}
	if l.rules.Union.FirstKey && !distinctFirst(nodes, u.Tag) {
		return flatten(l, f, at)
	}
	branches.apart(l, f.At, nodes)
	c := branches.orNil()
	keyword := "anyOf"
	switch {
	case u.One && l.rules.Union.OneOf && c == nil:
		keyword = "oneOf"
	case u.One:
		l.lose(Widened, f.At, l.first(f.At, "oneOf"), "a value that fits more than one alternative is accepted here")
	}
	n := &node{members: []member{{name: keyword, list: nodes}}}
	if f.Kinds&schema.KindNull != 0 {
		return orNull(l, f.At, n, c)
	}
	return n, c
}

// distinctFirst orders the properties of alternatives so that each begins with
// another one, or with the tag; false if there is no such order.
func distinctFirst(nodes []*node, tag string) bool {
	used := map[string]bool{}
	for _, n := range nodes {
		table := n.get("properties")
		if table == nil || len(table.table) == 0 {
			if n.typeName() == "object" || n.get("$ref") != nil {
				return false
			}
			continue
		}
		first := slices.IndexFunc(table.table, func(e entry) bool {
			if tag != "" {
				return e.name == tag
			}
			return !used[e.name]
		})
		if first < 0 {
			return false
		}
		e := table.table[first]
		used[e.name] = true
		table.table = append([]entry{e}, slices.Delete(slices.Clone(table.table), first, first+1)...)
	}
	return true
}

// A branchCodec chooses among alternatives.
type branchCodec struct{ branches []branch }

type branch struct {
	seen  schema.Kinds // as the reader writes it
	form  *schema.Form // the original
	codec codec
}

func (c *branchCodec) add(n *node, f *schema.Form, code codec) {
	c.branches = append(c.branches, branch{seenKinds(n), f, code})
}

// apart sees to it that alternatives of different kinds are told apart where
// one of them is written as the kind of another: it is put into an object.
func (c *branchCodec) apart(l *lowering, at string, nodes []*node) {
	for i := range c.branches {
		b := &c.branches[i]
		if b.codec == nil || !c.confused(i) {
			continue
		}
		if slices.ContainsFunc(c.branches, func(b branch) bool { return b.seen&schema.KindObject != 0 }) {
			l.reshape(Narrowed, at, "some values of one type are written like those of another, and are read as that")
			continue
		}
		n := l.typed("object")
		n.put(member{name: "properties", table: []entry{{"value", nodes[i]}}})
		n.set("required", names([]string{"value"}))
		if l.allows("additionalProperties") {
			n.set("additionalProperties", json.RawMessage("false"))
		}
		nodes[i], b.seen, b.codec = n, schema.KindObject, join(b.codec, valueCodec{})
	}
}

// confused says that an alternative is written as the kind of one that it does
// not share a kind with.
func (c *branchCodec) confused(i int) bool {
	b := c.branches[i]
	for j, other := range c.branches {
		if i != j && b.seen&other.seen != 0 && content(b.form).Kinds&content(other.form).Kinds == 0 {
			return true
		}
	}
	return false
}

// seenKinds returns the kinds of values that a written schema takes.
func seenKinds(n *node) schema.Kinds {
	if m := n.get("anyOf"); m != nil {
		var all schema.Kinds
		for _, alt := range m.list {
			all |= seenKinds(alt)
		}
		return all
	}
	types := n.types()
	if types == nil {
		return schema.KindAny
	}
	for i, name := range types {
		types[i] = strings.ToLower(name)
	}
	return kindsOf(types...)
}

func (c *branchCodec) orNil() codec {
	if slices.ContainsFunc(c.branches, func(b branch) bool { return b.codec != nil }) {
		return c
	}
	return nil
}

func (c *branchCodec) parts() []codec {
	var all []codec
	for _, b := range c.branches {
		all = append(all, b.codec)
	}
	return all
}

// decode takes the first alternative of the value's kind whose original fits.
func (c *branchCodec) decode(x *trip, dst, src []byte) []byte {
	kind := kindOf(src)
	var first codec
	possible := 0
	for _, b := range c.branches {
		if b.seen&kind != 0 {
			if possible++; possible == 1 {
				first = b.codec
			}
		}
	}
	if possible > 1 {
		start, notes := len(dst), len(x.notes)
		for _, b := range c.branches {
			if b.seen&kind == 0 {
				continue
			}
			if dst = decode(b.codec, x, dst, src); fits(b.form, dst[start:], &x.fuel) {
				return dst
			}
			dst, x.notes = dst[:start], x.notes[:notes]
		}
	}
	return decode(first, x, dst, src)
}

func (c *branchCodec) encode(x *trip, dst, src []byte) ([]byte, bool) {
	for _, b := range c.branches {
		if !fits(b.form, src, &x.fuel) {
			continue
		}
		if out, ok := encode(b.codec, x, dst, src); ok {
			return out, true
		}
	}
	if isNull(src) {
		return append(dst, src...), true
	}
	return dst, false
}

// seen follows the only alternative that has such a member.
func (c *branchCodec) seen(path []string) []string {
	for _, b := range c.branches {
		if o := content(b.form).Object; o != nil && b.codec != nil &&
			slices.ContainsFunc(o.Properties, func(p schema.Property) bool { return p.Name == path[0] }) {
			return b.codec.seen(path)
		}
	}
	return path
}
