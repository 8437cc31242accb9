package lower

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// maxCompared is how many pairs of schemas are compared to find alternatives
// that are written alike. The rest are taken for alike.
const maxCompared = 10_000

// A comparison finds alternatives whose values are written alike but mean
// something else: a text that is a text in one and JSON in the other.
type comparison struct {
	closed bool // the reader never writes members that are not declared
	steps  int
}

// A part is a schema as it is written, and the codec of its values.
type part struct {
	node  *node
	codec codec
}

// bare returns the part without null, and without a codec that changes nothing.
func (p part) bare() part {
	if c, ok := p.codec.(nullCodec); ok {
		p.codec = c.codec
	}
	if c, ok := p.codec.(*tableCodec); isTrivial(p.codec) || ok && c.plain() {
		p.codec = nil
	}
	if alts := p.node.get("anyOf"); alts != nil && len(alts.list) == 2 && alts.list[1].typeName() == "null" {
		p.node = alts.list[0]
	}
	return p
}

// ambiguous reports whether a value that one part writes may be read by the
// other as another value.
func (c *comparison) ambiguous(a, b part) bool {
	a, b = a.bare(), b.bare()
	c.steps++
	switch {
	case a.codec == nil && b.codec == nil, disjoint(a.node, b.node):
		return false
	case c.steps > maxCompared:
		return true
	}
	switch kinds := seenKinds(a.node) | seenKinds(b.node); kinds &^ jsontree.KindNull {
	case jsontree.KindArray:
		return c.ambiguousItems(a, b)
	case jsontree.KindObject:
		return c.ambiguousObjects(a, b)
	}
	_, text := a.codec.(jsonCodec)
	_, both := b.codec.(jsonCodec)
	return !(text && both) && !reflect.DeepEqual(a.codec, b.codec)
}

func (c *comparison) ambiguousItems(a, b part) bool {
	x, one := a.codec.(*arrayCodec)
	y, other := b.codec.(*arrayCodec)
	m, n := a.node.get("items"), b.node.get("items")
	switch {
	case a.codec != nil && !one, b.codec != nil && !other, m == nil || n == nil || m.node == nil || n.node == nil:
		return true
	case one && len(x.prefix) > 0, other && len(y.prefix) > 0:
		return true
	}
	inner := func(c *arrayCodec) codec {
		if c == nil {
			return nil
		}
		return c.items
	}
	return c.ambiguous(part{m.node, inner(x)}, part{n.node, inner(y)})
}

// ambiguousObjects relies on decode, which asks the alternatives that declare
// all members of a value first.
func (c *comparison) ambiguousObjects(a, b part) bool {
	x, one := a.codec.(*objectCodec)
	y, other := b.codec.(*objectCodec)
	switch {
	case differ(a.node, b.node) || differ(b.node, a.node):
		return false
	case a.codec != nil && !one || b.codec != nil && !other:
		return true
	case c.isOpen(a, x) || c.isOpen(b, y):
		return c.ambiguousOthers(a, x, b, y) || c.ambiguousOthers(b, y, a, x) || c.ambiguousMembers(a, x, b, y)
	}
	return !hasMore(a.node, b.node) && !hasMore(b.node, a.node) && c.ambiguousMembers(a, x, b, y)
}

// ambiguousOthers is about values of a with members that a does not declare.
func (c *comparison) ambiguousOthers(a part, x *objectCodec, b part, y *objectCodec) bool {
	return c.isOpen(a, x) && (x.changesOthers() || y.changesBeside(a.node) || c.isOpen(b, y) && x.changesBeside(b.node))
}

// ambiguousMembers is about the members that both declare.
func (c *comparison) ambiguousMembers(a part, x *objectCodec, b part, y *objectCodec) bool {
	return slices.ContainsFunc(a.node.properties(), func(e entry) bool {
		p, q, n := x.property(e.name), y.property(e.name), b.node.property(e.name)
		return n != nil && (p.absent != q.absent || c.ambiguous(part{e.node, p.codec}, part{n, q.codec}))
	})
}

// isOpen reports whether members that are not declared are written.
func (c *comparison) isOpen(p part, o *objectCodec) bool {
	m := p.node.get("additionalProperties")
	return !c.closed && (o == nil || o.more == "") && (m == nil || string(m.raw) != "false")
}

// property returns what is known of a property by the name that the reader knows.
func (c *objectCodec) property(seen string) property {
	switch {
	case c == nil:
	case seen == c.more:
		return property{codec: c.moreCodec, absent: c.moreNull}
	default:
		if i, ok := c.bySeen[seen]; ok {
			return c.properties[i]
		}
	}
	return property{}
}

// changesBeside reports whether c writes a property in another way that other
// does not declare.
func (c *objectCodec) changesBeside(other *node) bool {
	return c != nil && (c.more != "" && other.property(c.more) == nil || slices.ContainsFunc(c.properties, func(p property) bool {
		return other.property(p.seen) == nil && (p.renamed || p.absent || !isTrivial(p.codec))
	}))
}

// changesOthers reports whether c writes members that are not declared in
// another way.
func (c *objectCodec) changesOthers() bool { return c != nil && !isTrivial(c.rest) }

func isTrivial(c codec) bool { return trivial(c, map[*reference]bool{}) }

// differ reports whether no value fits a member that is required in one object
// and declared in the other.
func differ(one, other *node) bool {
	return slices.ContainsFunc(one.required(), func(name string) bool {
		m, n := one.property(name), other.property(name)
		return m != nil && n != nil && disjoint(m, n)
	})
}

// hasMore reports whether one object requires a member that the other does not
// declare.
func hasMore(one, other *node) bool {
	return slices.ContainsFunc(one.required(), func(name string) bool { return other.property(name) == nil })
}

// disjoint reports whether no value fits both schemas, by their types and enums.
func disjoint(a, b *node) bool {
	if seenKinds(a)&seenKinds(b)&^jsontree.KindNull == 0 {
		return true
	}
	x, y := a.get("enum"), b.get("enum")
	return x != nil && y != nil && !slices.ContainsFunc(x.elements(), func(v []byte) bool {
		return slices.ContainsFunc(y.elements(), func(w []byte) bool { return bytes.Equal(v, w) })
	})
}
