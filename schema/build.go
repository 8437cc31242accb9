package schema

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// A builder makes nodes of a document. A node that checks only a part of its
// schema accepts too much, so a match of it refuses nothing.
type builder struct {
	doc   *subschema.Graph
	nodes map[*jsontree.Value]*node
}

func newBuilder(d *subschema.Graph) *builder {
	return &builder{doc: d, nodes: map[*jsontree.Value]*node{}}
}

func (b *builder) node(v *jsontree.Value) *node {
	if n := b.nodes[v]; n != nil {
		return n
	}
	target := b.doc.Target(v)
	if target != nil && (b.doc.Draft <= 7 || !b.asserts(v)) {
		n := b.node(target)
		b.nodes[v] = n
		return n
	}
	n := &node{kinds: jsontree.KindAny}
	b.nodes[v] = n
	if v.Is("false") {
		n.kinds = 0
	}
	for _, k := range v.Kids {
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
	n.quick = n.quickKinds()
	return n
}

// parts reads if, and the rules on arrays and objects.
func (b *builder) parts(n *node, v *jsontree.Value) {
	if k := v.Get("if"); k != nil && !b.isPartial(k) {
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
func (b *builder) asserts(v *jsontree.Value) bool {
	return slices.ContainsFunc(v.Kids, func(k *jsontree.Value) bool {
		return shape.Of(k.Name) != 0 && !shape.Refers(k.Name) && !shape.Identifies(k.Name)
	})
}

func (b *builder) hasAny(v *jsontree.Value, names ...string) bool {
	for _, name := range names {
		if v.Get(name) != nil {
			return true
		}
	}
	return false
}

func (b *builder) isPartial(v *jsontree.Value) bool { return b.doc.Partial[v] }

// optional returns the node of a keyword, nil if v does not have it.
func (b *builder) optional(v *jsontree.Value, keyword string) *node {
	if k := v.Get(keyword); k != nil {
		return b.node(k)
	}
	return nil
}

// keyword reads the keywords that stand alone.
func (b *builder) keyword(n *node, k *jsontree.Value) {
	switch k.Name {
	case "type":
		n.kinds = jsontree.KindsNamed(k)
	case "enum":
		n.choices = append(n.choices, newChoice(k.Kids))
	case "const":
		n.choices = append(n.choices, newChoice([]*jsontree.Value{k}))
	case "allOf":
		n.all = append(n.all, b.list(k)...)
	case "anyOf", "oneOf":
		n.unions = append(n.unions, union{b.list(k), k.Name == "oneOf" && !slices.ContainsFunc(k.Kids, b.isPartial)})
	case "not":
		if !b.isPartial(k) {
			n.not = append(n.not, b.node(k))
		}
	}
}

func (b *builder) list(k *jsontree.Value) []*node {
	nodes := make([]*node, len(k.Kids))
	for i, kid := range k.Kids {
		nodes[i] = b.node(kid)
	}
	return nodes
}

// bounds reads the rules on numbers and strings.
func (b *builder) bounds(n *node, v *jsontree.Value) {
	if b.hasAny(v, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") {
		n.number = newNumberRule(v)
	}
	if !b.hasAny(v, "minLength", "maxLength", "pattern") {
		return
	}
	n.text = &textRule{length: newSpan(v, "minLength", "maxLength")}
	if k := v.Get("pattern"); k != nil {
		n.text.pattern, _ = b.doc.Patterns.Compile(k.Text)
	}
}

func newNumberRule(v *jsontree.Value) *numberRule {
	r := &numberRule{}
	for _, name := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"} {
		k := v.Get(name)
		if k == nil {
			continue
		}
		d, text, exclusive := jsontree.ParseDecimal(k.Raw), string(k.Raw), name[0] == 'e'
		switch name {
		case "multipleOf":
			r.multiple, r.multipleText = &d, text
		case "minimum", "exclusiveMinimum":
			if r.min == nil || d.Cmp(*r.min) >= 0 {
				r.min, r.minText, r.aboveMin = &d, text, exclusive
			}
		default:
			if r.max == nil || d.Cmp(*r.max) <= 0 {
				r.max, r.maxText, r.belowMax = &d, text, exclusive
			}
		}
	}
	r.small = r.smallBounds()
	return r
}

func newSpan(v *jsontree.Value, lo, hi string) span {
	s := span{0, -1}
	if k := v.Get(lo); k != nil {
		s.lo = jsontree.ParseDecimal(k.Raw).Count()
	}
	if k := v.Get(hi); k != nil {
		s.hi = jsontree.ParseDecimal(k.Raw).Count()
	}
	return s
}

func (b *builder) array(v *jsontree.Value) *arrayRule {
	r := &arrayRule{count: newSpan(v, "minItems", "maxItems")}
	items, prefix, rest := v.Get("items"), v.Get("prefixItems"), v.Get("items")
	if b.doc.Draft < 2020 {
		prefix = nil
		if items != nil && items.Kind == jsontree.KindArray {
			prefix, rest = items, v.Get("additionalItems")
		}
	}
	if prefix != nil {
		r.prefix = b.list(prefix)
	}
	if rest != nil {
		r.rest = b.node(rest)
	}
	if k := v.Get("uniqueItems"); k != nil {
		r.unique = k.Is("true")
	}
	r.contains, r.matches = b.optional(v, "contains"), span{1, -1}
	if b.hasAny(v, "minContains") {
		r.matches.lo = jsontree.ParseDecimal(v.Get("minContains").Raw).Count()
	}
	if b.hasAny(v, "maxContains") && !b.isPartial(v.Get("contains")) {
		r.matches.hi = jsontree.ParseDecimal(v.Get("maxContains").Raw).Count()
	}
	return r
}

func (b *builder) object(v *jsontree.Value) *objectRule {
	r := &objectRule{count: newSpan(v, "minProperties", "maxProperties"), index: map[string]int{}}
	if k := v.Get("properties"); k != nil {
		for _, kid := range k.Kids {
			i := r.add(kid.Name)
			r.properties[i].node = b.node(kid)
		}
	}
	if k := v.Get("required"); k != nil {
		for _, kid := range k.Kids {
			r.properties[r.add(kid.Text)].required = true
		}
	}
	b.dependents(r, v)
	r.required = make([]uint64, (len(r.properties)+63)/64)
	for i, p := range r.properties {
		if p.required {
			r.required[i/64] |= 1 << (i % 64)
		}
		r.properties[i].token = newNameToken(p)
	}
	if k := v.Get("patternProperties"); k != nil {
		for _, kid := range k.Kids {
			p, _ := b.doc.Patterns.Compile(kid.Name)
			r.patterns = append(r.patterns, patternRule{p, b.node(kid)})
		}
	}
	r.rest, r.names = b.optional(v, "additionalProperties"), b.optional(v, "propertyNames")
	r.ordered = r.names == nil && r.patterns == nil
	return r
}

// dependents reads what properties ask of the object that has them.
func (b *builder) dependents(r *objectRule, v *jsontree.Value) {
	for _, keyword := range []string{"dependencies", "dependentRequired", "dependentSchemas"} {
		k := v.Get(keyword)
		if k == nil {
			continue
		}
		for _, kid := range k.Kids {
			d := dependent{property: r.add(kid.Name)}
			if kid.Kind != jsontree.KindArray {
				d.node = b.node(kid)
			}
			for _, name := range kid.Items() {
				d.requires = append(d.requires, r.add(name.Text))
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
		r.properties = append(r.properties, property{name: name})
	}
	return i
}
