package schema

import (
	"math"

	"github.com/toolpost/toolpost/internal/shape"
)

// A builder makes nodes of a document.
type builder struct {
	doc       *document
	nodes     map[*value]*node
	uncovered bool // a keyword was met that nodes do not check
}

// build returns the node of the whole document, nil if it has keywords that
// nodes do not check.
func build(d *document) *node {
	b := &builder{doc: d, nodes: map[*value]*node{}, uncovered: d.foreign}
	n := b.node(d.root)
	if b.uncovered {
		return nil
	}
	return n
}

func (b *builder) node(v *value) *node {
	if n := b.nodes[v]; n != nil {
		return n
	}
	target := b.doc.refs[v]
	if target != nil && (b.doc.draft <= 7 || !b.asserts(v)) {
		n := b.node(target)
		b.nodes[v] = n
		return n
	}
	n := &node{kinds: KindAny}
	b.nodes[v] = n
	if v.is("false") {
		n.kinds = 0
	}
	for _, k := range v.kids {
		b.keyword(n, k)
	}
	for _, c := range n.choices {
		n.kinds &= c.kinds
	}
	b.bounds(n, v)
	if b.hasAny(v, "items", "prefixItems", "additionalItems", "minItems", "maxItems") {
		n.array = b.array(v)
	}
	if b.hasAny(v, "properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties") {
		n.object = b.object(v)
	}
	if target != nil {
		n.all = append(n.all, b.node(target))
	}
	return n
}

// asserts reports whether v has a keyword beside its $ref that matters.
func (b *builder) asserts(v *value) bool {
	for _, k := range v.kids {
		switch k.name {
		case "$ref", "$defs", "definitions", "$id", "$anchor", "$schema":
		default:
			if shape.Of(k.name) != 0 {
				return true
			}
		}
	}
	return false
}

func (b *builder) hasAny(v *value, names ...string) bool {
	for _, name := range names {
		if v.get(name) != nil {
			return true
		}
	}
	return false
}

// keyword reads the keywords that stand alone, and notes those that nodes do
// not check.
func (b *builder) keyword(n *node, k *value) {
	switch k.name {
	case "type":
		n.kinds = typeKinds(k)
	case "enum":
		n.choices = append(n.choices, newChoice(k.kids))
	case "const":
		n.choices = append(n.choices, newChoice([]*value{k}))
	case "allOf":
		n.all = append(n.all, b.list(k)...)
	case "anyOf", "oneOf":
		n.unions = append(n.unions, union{b.list(k), k.name == "oneOf"})
	case "not", "if", "contains", "patternProperties", "unevaluatedProperties", "unevaluatedItems",
		"dependencies", "dependentSchemas", "dependentRequired", "$dynamicRef", "$recursiveRef":
		b.uncovered = true
	case "uniqueItems":
		b.uncovered = b.uncovered || k.is("true")
	}
}

func typeKinds(k *value) Kinds {
	if k.kind == KindString {
		return typeNames[k.text]
	}
	var all Kinds
	for _, kid := range k.kids {
		all |= typeNames[kid.text]
	}
	return all
}

func (b *builder) list(k *value) []*node {
	nodes := make([]*node, len(k.kids))
	for i, kid := range k.kids {
		nodes[i] = b.node(kid)
	}
	return nodes
}

// bounds reads the rules on numbers and strings.
func (b *builder) bounds(n *node, v *value) {
	if b.hasAny(v, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") {
		n.number = newNumberRule(v)
	}
	if !b.hasAny(v, "minLength", "maxLength", "pattern") {
		return
	}
	n.text = &textRule{length: newSpan(v, "minLength", "maxLength")}
	if k := v.get("pattern"); k != nil {
		n.text.pattern, _ = b.doc.patterns.compile(k.text)
	}
}

func newNumberRule(v *value) *numberRule {
	r := &numberRule{}
	for _, name := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} {
		k := v.get(name)
		if k == nil {
			continue
		}
		d, text, exclusive := parseDecimal(k.raw), string(k.raw), name[0] == 'e'
		switch name {
		case "multipleOf":
			r.multiple, r.multipleText = &d, text
		case "minimum", "exclusiveMinimum":
			if r.min == nil || d.cmp(*r.min) >= 0 {
				r.min, r.minText, r.aboveMin = &d, text, exclusive
			}
		default:
			if r.max == nil || d.cmp(*r.max) <= 0 {
				r.max, r.maxText, r.belowMax = &d, text, exclusive
			}
		}
	}
	r.small = r.smallBounds()
	return r
}

func newSpan(v *value, lo, hi string) span {
	s := span{0, -1}
	if k := v.get(lo); k != nil {
		s.lo = countOf(k)
	}
	if k := v.get(hi); k != nil {
		s.hi = countOf(k)
	}
	return s
}

// largest is a count that no value reaches, and that an int holds on every
// machine.
const largest = min(1<<40, math.MaxInt)

// countOf reads a count. It returns largest for a count that no value reaches.
func countOf(v *value) int {
	d := parseDecimal(v.raw)
	if d.cmp(decimal{coef: 1, exp: 12}) > 0 {
		return largest
	}
	n := int64(d.coef)
	for ; d.exp > 0; d.exp-- {
		n *= 10
	}
	return int(min(n, largest))
}

func (b *builder) array(v *value) *arrayRule {
	r := &arrayRule{count: newSpan(v, "minItems", "maxItems")}
	items, prefix, rest := v.get("items"), v.get("prefixItems"), v.get("items")
	if b.doc.draft < 2020 {
		prefix = nil
		if items != nil && items.kind == KindArray {
			prefix, rest = items, v.get("additionalItems")
		}
	}
	if prefix != nil {
		r.prefix = b.list(prefix)
	}
	if rest != nil {
		r.rest = b.node(rest)
	}
	return r
}

func (b *builder) object(v *value) *objectRule {
	r := &objectRule{count: newSpan(v, "minProperties", "maxProperties"), index: map[string]int{}}
	if k := v.get("properties"); k != nil {
		for _, kid := range k.kids {
			r.add(kid.name).node = b.node(kid)
		}
	}
	if k := v.get("required"); k != nil {
		for _, kid := range k.kids {
			r.add(kid.text).required = true
		}
	}
	r.required = make([]uint64, (len(r.properties)+63)/64)
	for i, p := range r.properties {
		if p.required {
			r.required[i/64] |= 1 << (i % 64)
		}
	}
	if k := v.get("additionalProperties"); k != nil {
		r.rest = b.node(k)
	}
	if k := v.get("propertyNames"); k != nil {
		r.names = b.node(k)
		b.uncovered = b.uncovered || !r.names.single()
	}
	return r
}

// add returns the property of that name, made if need be.
func (r *objectRule) add(name string) *property {
	i, ok := r.index[name]
	if !ok {
		i = len(r.properties)
		r.index[name] = i
		added := property{name: name}
		if special([]byte(name), 0) == len(name) {
			added.token = `"` + name + `":`
		}
		r.properties = append(r.properties, added)
	}
	return &r.properties[i]
}
