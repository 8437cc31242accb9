package lower

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// maxCompared is how many pairs of schemas are compared to find alternatives
// that are written alike. The rest are taken for alike.
const maxCompared = 3_000

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
// other as another value. It relies on decode, which asks the alternatives that
// declare all members of a value first.
func (c *comparison) ambiguous(a, b part) bool {
	a, b = a.bare(), b.bare()
	_, text := a.codec.(jsonCodec)
	_, both := b.codec.(jsonCodec)
	c.steps++
	switch {
	case a.codec == nil && b.codec == nil:
		return false
	case c.steps > maxCompared:
		return true
	case disjoint(a.node, b.node), text && both, reflect.DeepEqual(a.codec, b.codec):
		return false
	case (seenKinds(a.node)|seenKinds(b.node))&^jsontree.KindNull != jsontree.KindObject:
		return true
	case differ(a.node, b.node) || differ(b.node, a.node):
		return false
	}
	return c.isOpen(a) || c.isOpen(b) || !hasMore(a.node, b.node) && !hasMore(b.node, a.node)
}

// isOpen reports whether members that are not declared are written.
func (c *comparison) isOpen(p part) bool {
	o, _ := p.codec.(*objectCodec)
	m := p.node.get("additionalProperties")
	return !c.closed && (o == nil || o.more == "") && (m == nil || string(m.raw) != "false")
}

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
