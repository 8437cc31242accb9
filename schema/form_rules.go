package schema

import (
	"cmp"
	"encoding/json"
	"slices"
)

// numbersOf merges bounds on numbers; what cannot be told twice goes to Rest.
func (f *Form) numbersOf(a, b *NumberForm) *NumberForm {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	n := &NumberForm{
		Minimum:          tighter(a.Minimum, b.Minimum, 1),
		Maximum:          tighter(a.Maximum, b.Maximum, -1),
		ExclusiveMinimum: tighter(a.ExclusiveMinimum, b.ExclusiveMinimum, 1),
		ExclusiveMaximum: tighter(a.ExclusiveMaximum, b.ExclusiveMaximum, -1),
		MultipleOf:       cmp.Or(a.MultipleOf, b.MultipleOf),
		Format:           cmp.Or(a.Format, b.Format),
	}
	if distinct(a.Format, b.Format) {
		f.also("format", b.Format)
	}
	if distinct(a.MultipleOf, b.MultipleOf) {
		d, e := parseDecimal([]byte(a.MultipleOf)), parseDecimal([]byte(b.MultipleOf))
		switch {
		case d.multipleOf(e):
		case e.multipleOf(d):
			n.MultipleOf = b.MultipleOf
		default:
			f.also("multipleOf", b.MultipleOf)
		}
	}
	return n
}

// tighter returns the larger of two bounds if sign is 1, the smaller one if it
// is -1.
func tighter(a, b json.Number, sign int) json.Number {
	if a == "" || b == "" {
		return cmp.Or(a, b)
	}
	if parseDecimal([]byte(a)).cmp(parseDecimal([]byte(b)))*sign < 0 {
		return b
	}
	return a
}

// fewer returns the smaller of two limits, of which those below 0 are none.
func fewer(a, b int) int {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return min(a, b)
}

// textsOf merges bounds on strings; what cannot be told twice goes to Rest.
func (f *Form) textsOf(a, b *TextForm) *TextForm {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	if distinct(a.Pattern, b.Pattern) {
		f.also("pattern", b.Pattern)
	}
	if distinct(a.Format, b.Format) {
		f.also("format", b.Format)
	}
	return &TextForm{
		MinLength: max(a.MinLength, b.MinLength), MaxLength: fewer(a.MaxLength, b.MaxLength),
		Pattern: cmp.Or(a.Pattern, b.Pattern), Format: cmp.Or(a.Format, b.Format),
		Content: slices.Concat(a.Content, b.Content),
	}
}

// mergeItems merges two forms of which each may be nil, for anything.
func (r *formReader) mergeItems(a, b *Form) (*Form, bool) {
	if a == nil || b == nil {
		return cmp.Or(a, b), true
	}
	return r.merge(a, b)
}

// at returns the form of the i-th item.
func (a *ArrayForm) at(i int) *Form {
	if i < len(a.Prefix) {
		return a.Prefix[i]
	}
	return a.Items
}

func (r *formReader) arraysOf(a, b *ArrayForm) (m *ArrayForm, ok bool) {
	if a == nil || b == nil {
		return cmp.Or(a, b), true
	}
	m = &ArrayForm{MinItems: max(a.MinItems, b.MinItems), MaxItems: fewer(a.MaxItems, b.MaxItems), Unique: a.Unique || b.Unique}
	for i := range max(len(a.Prefix), len(b.Prefix)) {
		x, y := a.at(i), b.at(i)
		var item *Form
		if item, ok = r.mergeOnce(x, y, i >= len(a.Prefix), i >= len(b.Prefix)); !ok {
			return nil, false
		}
		m.Prefix = append(m.Prefix, item)
	}
	m.Items, ok = r.mergeItems(a.Items, b.Items)
	return m, ok
}

// mergeOnce is mergeItems, with copies of what is used elsewhere as well.
func (r *formReader) mergeOnce(a, b *Form, copyA, copyB bool) (m *Form, ok bool) {
	ok = true
	if copyA {
		a, ok = r.copy(a)
	}
	if copyB && ok {
		b, ok = r.copy(b)
	}
	if !ok {
		return nil, false
	}
	return r.mergeItems(a, b)
}

// objectsOf merges rules on objects, for m.
func (r *formReader) objectsOf(f *Form, a, b *ObjectForm) (m *ObjectForm, ok bool) {
	if a == nil || b == nil {
		return cmp.Or(a, b), true
	}
	r.work += len(a.Properties) + len(b.Properties)
	m = &ObjectForm{MinProperties: max(a.MinProperties, b.MinProperties), MaxProperties: fewer(a.MaxProperties, b.MaxProperties)}
	if m.Additional, ok = r.mergeItems(a.Additional, b.Additional); !ok {
		return nil, false
	}
	inA := make(map[string]bool, len(a.Properties))
	inB := make(map[string]Property, len(b.Properties))
	for _, p := range b.Properties {
		inB[p.Name] = p
	}
	for _, p := range a.Properties {
		inA[p.Name] = true
		q, both := inB[p.Name]
		if !both {
			q = Property{Form: b.Additional, Bare: true}
		}
		if p.Form, ok = r.mergeOnce(p.Form, q.Form, false, !both); !ok {
			return nil, false
		}
		p.Required, p.Bare = p.Required || q.Required, p.Bare && q.Bare
		m.Properties = append(m.Properties, p)
	}
	for _, q := range b.Properties {
		if inA[q.Name] {
			continue
		}
		if q.Form, ok = r.mergeOnce(a.Additional, q.Form, true, false); !ok {
			return nil, false
		}
		m.Properties = append(m.Properties, q)
	}
	slices.SortStableFunc(m.Properties, func(p, q Property) int { return boolInt(p.Bare) - boolInt(q.Bare) })
	if slices.ContainsFunc(m.Properties, func(p Property) bool { return p.Required && p.Form.Kinds == 0 }) {
		f.Kinds &^= KindObject
		return nil, true
	}
	return m, true
}
