package lower

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeUnion writes alternatives of overlapping kinds.
func writeUnion(l *lowering, f *form.Form, at place) (*node, codec) {
	u := f.Alts
	if l.rules.Union.None || at.root && l.rules.Root.NoUnion {
		return flatten(l, f, at)
	}
	nodes := make([]*node, len(u.Forms))
	branches := &branchCodec{}
	before := l.told
	for i, alt := range u.Forms {
		var c codec
		nodes[i], c = l.write(alt, at)
		branches.add(nodes[i], alt, c)
	}
	intact := l.told == before && !slices.ContainsFunc(nodes, hasRef)
	if l.rules.Union.FirstKey && !distinctFirst(nodes, u.Tag) {
		return flatten(l, f, at)
	}
	c := branches.finish(l, f.At, nodes)
	n := &node{members: []member{{name: writeOneOf(l, f, intact), list: nodes}}}
	if f.Kinds&jsontree.KindNull != 0 {
		return orNull(l, f.At, n, c)
	}
	return n, c
}

// writeOneOf returns the keyword for alternatives. Those that are not written
// as they were may overlap in another way.
func writeOneOf(l *lowering, f *form.Form, intact bool) string {
	if !f.Alts.One {
		return "anyOf"
	}
	if l.rules.Union.OneOf && intact {
		return "oneOf"
	}
	l.lose(Widened, f.At, l.first(f.At, "oneOf"), "a value that matches more than one alternative is accepted")
	return "anyOf"
}

// hasRef reports whether a schema refers to another, which may be described in less detail.
func hasRef(n *node) bool {
	found := false
	n.each(func(sub *node) { found = found || sub.get("$ref") != nil })
	return found
}

// distinctFirst orders the properties of alternatives so that each begins with
// another one, or with the tag; false if there is no such order.
func distinctFirst(nodes []*node, tag string) bool {
	if len(nodes) == 1 {
		return true
	}
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
	seen  jsontree.Kinds // as the reader writes it
	form  *form.Form     // the original
	codec codec
	node  *node
}

func (c *branchCodec) add(n *node, f *form.Form, code codec) {
	c.branches = append(c.branches, branch{seenKinds(n), f, code, n})
}

// seenKinds returns the kinds of values that a written schema takes.
func seenKinds(n *node) jsontree.Kinds {
	if m := n.get("anyOf"); m != nil {
		var all jsontree.Kinds
		for _, alt := range m.list {
			all |= seenKinds(alt)
		}
		return all
	}
	types := n.types()
	if types == nil {
		return jsontree.KindAny
	}
	for i, name := range types {
		types[i] = strings.ToLower(name)
	}
	return kindsOf(types...)
}

// finish returns the codec of alternatives, nil if all are written as they are.
// Where one is written as the kind of another, or like it, it is put into an
// object, so that they can be distinguished.
func (c *branchCodec) finish(l *lowering, at string, nodes []*node) codec {
	objects := slices.ContainsFunc(c.branches, func(b branch) bool { return b.seen&jsontree.KindObject != 0 })
	compared := &comparison{closed: l.rules.Object.Closed}
	for i := range c.branches {
		b := &c.branches[i]
		confused := c.isAmbiguous(i)
		switch {
		case !confused && !c.ambiguous(compared, i):
		case objects && confused:
			l.reshape(Narrowed, at, "some values of one type are written like values of another type, and are read as that type")
		case objects:
			l.reshape(Narrowed, at, "some values of one alternative are written like values of another, and cannot be distinguished")
		default:
			nodes[i], b.codec = writeValue(l, nodes[i], b.codec)
			b.node = nodes[i]
			b.seen, objects = jsontree.KindObject, true
		}
	}
	if slices.ContainsFunc(c.branches, func(b branch) bool { return b.codec != nil }) {
		return c
	}
	return nil
}

// isAmbiguous reports whether an alternative is written as values of another kind,
// or as other texts, where one of the others is written so too.
func (c *branchCodec) isAmbiguous(i int) bool {
	b := c.branches[i]
	table, _ := b.codec.(*tableCodec)
	if content(b.form).Kinds&^jsontree.KindNull&^b.seen == 0 && (table == nil || table.plain()) {
		return false
	}
	for j, other := range c.branches {
		if i != j && b.seen&other.seen != 0 {
			return true
		}
	}
	return false
}

// ambiguous reports whether values of an alternative that changes them are
// written like values of another one.
func (c *branchCodec) ambiguous(compared *comparison, i int) bool {
	b := c.branches[i]
	if isTrivial(b.codec) {
		return false
	}
	for j, other := range c.branches {
		if i != j && compared.ambiguous(part{b.node, b.codec}, part{other.node, other.codec}) {
			return true
		}
	}
	return false
}

func (c *branchCodec) parts() []codec {
	var all []codec
	for _, b := range c.branches {
		all = append(all, b.codec)
	}
	return all
}

// decode takes the first alternative of the value's kind whose original fits.
// It tries first the alternatives that declare the value's members and their
// types, and among them those that give another kind of value, and that repair
// nothing.
func (c *branchCodec) decode(x *trip, dst []byte) []byte {
	kind := x.kind()
	var possible []branch
	for _, b := range c.branches {
		if b.seen&kind != 0 {
			possible = append(possible, b)
		}
	}
	switch len(possible) {
	case 0:
		return decode(nil, x, dst)
	case 1:
		return decode(possible[0].codec, x, dst)
	}
	src := x.value()
	for _, list := range byMembers(x, possible, src) {
		for _, another := range []bool{true, false} {
			for _, repaired := range []bool{false, true} {
				if out, ok := attempt(list, x, dst, src, another, repaired); ok {
					return out
				}
			}
		}
	}
	return decodeAll(possible[0].codec, x, dst, src)
}

// byMembers groups alternatives by the members of a value, the likeliest first:
// those that declare all members and the types of their values, those that
// declare all members, and the others.
func byMembers(x *trip, all []branch, src []byte) [][]branch {
	members, ok := fields(src)
	if !ok || !x.spend(src) {
		return [][]branch{all}
	}
	groups := make([][]branch, 3)
	for _, b := range all {
		i := 2
		switch {
		case b.node.declares(members, true):
			i = 0
		case b.node.declares(members, false):
			i = 1
		}
		groups[i] = append(groups[i], b)
	}
	return groups
}

// attempt decodes by the first alternative that gives what it takes: a value of
// another kind, or of the same, with notes of repairs or without.
func attempt(branches []branch, x *trip, dst, src []byte, another, repaired bool) ([]byte, bool) {
	kind, start, notes := jsontree.ExactKind(src), len(dst), len(x.notes)
	for _, b := range branches {
		if another && b.codec == nil {
			continue
		}
		dst = decodeAll(b.codec, x, dst, src)
		if out := dst[start:]; (jsontree.ExactKind(out) != kind) == another && (len(x.notes) > notes) == repaired && fits(b.form, out, &x.fuel) != misfit {
			return dst, true
		}
		dst, x.notes = dst[:start], x.notes[:notes]
	}
	return dst, false
}

// encode prefers the alternatives that the value surely fits.
func (c *branchCodec) encode(x *trip, dst, src []byte) ([]byte, bool) {
	for _, want := range []fit{sureFit, mayFit} {
		for _, b := range c.branches {
			if fits(b.form, src, &x.fuel) != want {
				continue
			}
			start := len(dst)
			if out, ok := encode(b.codec, x, dst, src); ok && c.chooses(b, x, out[start:]) {
				return out, true
			}
		}
	}
	if isNull(src) {
		return append(dst, src...), true
	}
	return dst, false
}

// chooses reports whether what was written by a branch is read by it.
func (c *branchCodec) chooses(b branch, x *trip, written []byte) bool {
	return len(c.branches) == 1 || equalValues(decodeAll(b.codec, x, nil, written), decodeAll(c, x, nil, written))
}

// seenPath follows the only alternative that has such a member.
func (c *branchCodec) seenPath(path []string) []string {
	for _, b := range c.branches {
		if o := content(b.form).Object; o != nil && b.codec != nil &&
			slices.ContainsFunc(o.Properties, func(p form.Property) bool { return p.Name == path[0] }) {
			return b.codec.seenPath(path)
		}
	}
	return path
}
