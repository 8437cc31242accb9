package schema

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// IsObject reports whether the schema declares type object at its root.
func (s *Schema) IsObject() bool {
	t := readTree(s.raw).Get("type")
	return t != nil && t.Text == "object"
}

// readTree returns the tree of unchecked JSON. The tree of invalid JSON has no
// kind and no kids.
func readTree(raw []byte) *jsontree.Value {
	v, broken := jsontree.Parse(raw, shape.MaxLevels)
	if broken != nil {
		return &jsontree.Value{}
	}
	return v
}

// defaults are those inside the values of one schema.
type defaults struct {
	slots  []slot
	index  map[string]int // of a property, by name
	rest   *defaults      // of the other members
	prefix []*defaults    // of the first items
	items  *defaults      // of the other items
}

// A slot is the place of a property.
type slot struct {
	label     []byte // the quoted name and the colon
	value     []byte // the default, itself filled; nil if there is none
	declared  []byte // the default as the schema has it, until it is filled
	takesNull bool
	inside    *defaults

	open    bool // its default is being filled
	endless bool // its default would contain itself
}

// readDefaults returns the defaults that a schema declares, nil if none.
func readDefaults(raw []byte) *defaults {
	if len(raw) > shape.MaxBytes {
		return nil
	}
	r := &defaultsReader{root: readTree(raw), read: map[*jsontree.Value]*defaults{}}
	r.kinds.Target = r.target
	root := r.of(r.root)
	found := false
	for _, d := range r.all {
		for i := range d.slots {
			r.settle(&d.slots[i])
			found = found || d.slots[i].value != nil
		}
	}
	if !found || r.size > shape.MaxBytes {
		return nil
	}
	return root
}

type defaultsReader struct {
	root  *jsontree.Value
	names *shape.Index // nil before the first reference
	read  map[*jsontree.Value]*defaults
	all   []*defaults
	open  []*slot // their defaults are being filled, each inside the one before
	size  int     // of all defaults, filled
	kinds subschema.Kinds
}

// of returns the defaults inside the values of s. Values without parts have none.
func (r *defaultsReader) of(s *jsontree.Value) *defaults {
	if s = r.schemaWithParts(s); s == nil {
		return nil
	}
	if d := r.read[s]; d != nil {
		return d
	}
	d := &defaults{index: map[string]int{}}
	r.read[s] = d
	r.all = append(r.all, d)
	if properties := s.Get("properties"); properties != nil {
		for _, p := range properties.Kids {
			r.add(d, p)
		}
	}
	if s.Get("patternProperties") == nil {
		d.rest = r.of(s.Get("additionalProperties"))
	}
	items := s.Get("items")
	d.items = r.of(items)
	for _, list := range []*jsontree.Value{s.Get("prefixItems"), items} { // items is a list up to draft 2019-09
		for _, item := range list.Items() {
			d.prefix = append(d.prefix, r.of(item))
		}
	}
	return d
}

// add makes a slot for the property p.
func (r *defaultsReader) add(d *defaults, p *jsontree.Value) {
	label, _ := jsontext.AppendQuote(nil, p.Name)
	s := slot{label: append(label, ':'), inside: r.of(p), takesNull: r.kinds.Of(p)&jsontree.KindNull != 0}
	for t, refs := p, 0; t != nil && refs < shape.MaxRefs && s.declared == nil; refs++ {
		if v := t.Get("default"); v != nil {
			s.declared = v.Raw
		}
		t = r.target(t)
	}
	i, twice := d.index[p.Name]
	if !twice {
		i = len(d.slots)
		d.index[p.Name] = i
		d.slots = append(d.slots, slot{})
	}
	d.slots[i] = s
}

// schemaWithParts returns the schema with parts that s is or refers to, nil if there is none.
func (r *defaultsReader) schemaWithParts(s *jsontree.Value) *jsontree.Value {
	for range shape.MaxRefs {
		if s == nil || hasParts(s) {
			return s
		}
		s = r.target(s)
	}
	return nil
}

func hasParts(s *jsontree.Value) bool {
	return slices.ContainsFunc(s.Kids, func(kid *jsontree.Value) bool {
		switch kid.Name {
		case "properties", "additionalProperties", "items", "prefixItems":
			return s.Kind == jsontree.KindObject
		}
		return false
	})
}

// target returns what a reference in s refers to, nil if nothing.
func (r *defaultsReader) target(s *jsontree.Value) *jsontree.Value {
	ref := s.Get("$ref")
	if ref == nil {
		return nil
	}
	if r.names == nil {
		r.names = shape.NewIndex(r.root)
	}
	return r.names.Find(s, ref.Text)
}

// settle fills the default of p. One that contains itself is none: there is no
// end to it.
func (r *defaultsReader) settle(p *slot) {
	if p.open {
		for _, q := range r.open[slices.Index(r.open, p):] {
			q.endless = true
		}
	}
	if p.declared == nil {
		return
	}
	f := filler{Scanner: jsontree.Scanner{Data: p.declared}, settle: r.settle, limit: shape.MaxBytes - r.size}
	p.declared, p.open = nil, true
	r.open = append(r.open, p)
	ok := f.value(p.inside)
	r.open = r.open[:len(r.open)-1]
	p.open = false
	filled := f.end()
	r.size += len(filled)
	switch {
	case !ok:
		r.size = shape.MaxBytes + 1
	case !p.endless:
		p.value = filled
	}
}
