package schema

import (
	"math"
	"slices"

	"github.com/toolpost/toolpost/internal/shape"
)

// A builder makes nodes of a document. What is checked only in part accepts too
// much, so nothing is refused because a value fits it.
type builder struct {
	doc   *document
	nodes map[*value]*node
}

// build returns the node of the whole document.
func build(d *document) *node {
	b := &builder{doc: d, nodes: map[*value]*node{}}
	return b.node(d.root)
}

func (b *builder) node(v *value) *node {
	if n := b.nodes[v]; n != nil {
		return n
	}
	target := b.doc.target(v)
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
	b.parts(n, v)
	if target != nil {
		n.all = append(n.all, b.node(target))
	}
	return n
}

// parts reads if, and the rules on arrays and objects.
func (b *builder) parts(n *node, v *value) {
	if k := v.get("if"); k != nil && b.doc.draft >= 7 && !b.isPartial(k) {
		n.cond = &conditional{b.node(k), b.optional(v, "then"), b.optional(v, "else")}
	}
	if b.hasAny(v, "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains") {
		n.array = b.array(v)
	}
	if b.hasAny(v, "properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties",
		"patternProperties", "dependencies", "dependentRequired", "dependentSchemas") {
		n.object = b.object(v)
	}
}

// asserts reports whether v has a keyword beside its $ref that matters.
func (b *builder) asserts(v *value) bool {
	for _, k := range v.kids {
		switch k.name {
		case "$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "$id", "$anchor", "$schema", "$dynamicAnchor", "$recursiveAnchor":
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

func (b *builder) isPartial(v *value) bool { return b.doc.partial[v] }

// optional returns the node of a keyword, nil if v does not have it.
func (b *builder) optional(v *value, keyword string) *node {
	if k := v.get(keyword); k != nil {
		return b.node(k)
	}
	return nil
}

// keyword reads the keywords that stand alone.
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
		n.unions = append(n.unions, union{b.list(k), k.name == "oneOf" && !slices.ContainsFunc(k.kids, b.isPartial)})
	case "not":
		if !b.isPartial(k) {
			n.not = append(n.not, b.node(k))
		}
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
	if k := v.get("uniqueItems"); k != nil {
		r.unique = k.is("true")
	}
	r.contains, r.matches = b.optional(v, "contains"), span{1, -1}
	if b.doc.draft >= 2019 && b.hasAny(v, "minContains") {
		r.matches.lo = countOf(v.get("minContains"))
	}
	if b.doc.draft >= 2019 && b.hasAny(v, "maxContains") && !b.isPartial(v.get("contains")) {
		r.matches.hi = countOf(v.get("maxContains"))
	}
	return r
}

func (b *builder) object(v *value) *objectRule {
	r := &objectRule{count: newSpan(v, "minProperties", "maxProperties"), index: map[string]int{}}
	if k := v.get("properties"); k != nil {
		for _, kid := range k.kids {
			i := r.add(kid.name)
			r.properties[i].node = b.node(kid)
		}
	}
	if k := v.get("required"); k != nil {
		for _, kid := range k.kids {
			r.properties[r.add(kid.text)].required = true
		}
	}
	b.dependents(r, v)
	r.required = make([]uint64, (len(r.properties)+63)/64)
	for i, p := range r.properties {
		if p.required {
			r.required[i/64] |= 1 << (i % 64)
		}
	}
	if k := v.get("patternProperties"); k != nil {
		for _, kid := range k.kids {
			p, _ := b.doc.patterns.compile(kid.name)
			r.patterns = append(r.patterns, patternRule{p, b.node(kid)})
		}
	}
	r.rest, r.names = b.optional(v, "additionalProperties"), b.optional(v, "propertyNames")
	return r
}

// dependents reads what properties ask of the object that has them.
func (b *builder) dependents(r *objectRule, v *value) {
	for _, keyword := range []string{"dependencies", "dependentRequired", "dependentSchemas"} {
		k := v.get(keyword)
		if k == nil || keyword != "dependencies" && b.doc.draft < 2019 {
			continue
		}
		for _, kid := range k.kids {
			d := dependent{property: r.add(kid.name)}
			if kid.kind != KindArray {
				d.node = b.node(kid)
			}
			for _, name := range listOf(kid) {
				d.requires = append(d.requires, r.add(name.text))
			}
			r.dependents = append(r.dependents, d)
		}
	}
}

// add returns the index of the property of that name, made if need be.
func (r *objectRule) add(name string) int {
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
	return i
}
