package schema

import (
	"encoding/json"
	"slices"
)

// free says that f says nothing of values.
func (f *Form) free() bool { return f.Any() }

// mask says that f looks at the type of values only.
func (f *Form) mask() bool {
	c := Form{Kinds: KindAny, Number: f.Number, Text: f.Text, Array: f.Array, Object: f.Object, Enum: f.Enum, Alts: f.Alts, Ref: f.Ref, Rest: f.Rest}
	return c.Any()
}

// onlyRefers says that f is a reference and nothing else.
func (f *Form) onlyRefers() bool {
	c := *f
	c.Ref = nil
	return f.Ref != nil && c.mask()
}

// merge returns the form of values that fit both a and b, as a has it where
// they differ in notes. It does not change them, but the result may share
// parts with them: use one of the three only. ok is false if no form is exact.
func (r *formReader) merge(a, b *Form) (m *Form, ok bool) {
	r.work++
	switch {
	case r.work > maxFormWork:
		return nil, false
	case b.mask() && a.Kinds&^b.Kinds == 0:
		return a.noted(a, b), true
	case a.mask() && b.Kinds&^a.Kinds == 0:
		m = b.noted(a, b)
		m.At = a.At
		return m, true
	}
	if a, ok = r.plain(a); !ok {
		return nil, false
	}
	if b, ok = r.plain(b); !ok {
		return nil, false
	}
	if a.Alts != nil || b.Alts != nil {
		return r.distribute(a, b)
	}
	m = &Form{At: a.At, Kinds: a.Kinds & b.Kinds, Notes: overlay(a.Notes, b.Notes)}
	if !m.outside(a, b) {
		return nil, false
	}
	r.made++
	ok = r.parts(m, a, b)
	return m, ok
}

// noted returns a copy of f with the notes of a and b.
func (f *Form) noted(a, b *Form) *Form {
	c := *f
	c.Notes = overlay(a.Notes, b.Notes)
	return &c
}

// outside gives m what a and b say of all types at once.
func (m *Form) outside(a, b *Form) bool {
	if a.Ref != nil && b.Ref != nil && a.Ref != b.Ref {
		return false
	}
	if m.Ref = a.Ref; m.Ref == nil {
		m.Ref = b.Ref
	}
	m.Rest = slices.Concat(a.Rest, b.Rest)
	return true
}

// parts merges the rules for each type.
func (r *formReader) parts(m, a, b *Form) (ok bool) {
	if m.Kinds&KindNumber != 0 {
		m.Number = m.numbersOf(a.Number, b.Number)
	}
	if m.Kinds&KindString != 0 {
		m.Text = m.textsOf(a.Text, b.Text)
	}
	if m.Kinds&KindArray != 0 {
		if m.Array, ok = r.arraysOf(a.Array, b.Array); !ok {
			return false
		}
	}
	if m.Kinds&KindObject != 0 {
		if m.Object, ok = r.objectsOf(m, a.Object, b.Object); !ok {
			return false
		}
	}
	m.Enum = r.bothEnums(m, a.Enum, b.Enum)
	m.trim()
	return true
}

// plain returns f with what it refers to in its place, unless that is
// recursive.
func (r *formReader) plain(f *Form) (*Form, bool) {
	if f.Ref == nil || f.Ref.Recursive {
		return f, true
	}
	content, ok := r.copy(f.Ref.Form)
	if !ok {
		return nil, false
	}
	r.moved(f.Ref.Form.At)
	c := *f
	c.Ref = nil
	return r.merge(&c, content)
}

// copy returns a form that shares nothing but definitions with f; ok is false
// if there are too many forms.
func (r *formReader) copy(f *Form) (c *Form, ok bool) {
	if r.made++; f == nil || r.made > maxForms {
		return nil, f == nil
	}
	c = new(*f)
	if f.Array != nil {
		c.Array = new(*f.Array)
		c.Array.Items, _ = r.copy(f.Array.Items)
		c.Array.Prefix = r.copies(f.Array.Prefix)
	}
	if f.Object != nil {
		c.Object = new(*f.Object)
		c.Object.Additional, _ = r.copy(f.Object.Additional)
		c.Object.Properties = slices.Clone(f.Object.Properties)
		for i := range c.Object.Properties {
			c.Object.Properties[i].Form, _ = r.copy(f.Object.Properties[i].Form)
		}
	}
	if f.Alts != nil {
		c.Alts = new(*f.Alts)
		c.Alts.Forms = r.copies(f.Alts.Forms)
	}
	return c, r.made <= maxForms
}

func (r *formReader) copies(list []*Form) []*Form {
	all := slices.Clone(list)
	for i, f := range list {
		all[i], _ = r.copy(f)
	}
	return all
}

// empty says that there are no notes.
func (n Notes) empty() bool {
	return n.Title == "" && n.Description == "" && n.Default == nil && n.Examples == nil && n.Others == nil
}

// overlay returns the notes of a, and those of b that a does not have.
func overlay(a, b Notes) Notes {
	switch {
	case b.empty():
		return a
	case a.empty():
		return b
	}
	if a.Title == "" {
		a.Title = b.Title
	}
	if a.Description == "" {
		a.Description = b.Description
	}
	if a.Default == nil {
		a.Default = b.Default
	}
	if a.Examples == nil {
		a.Examples = b.Examples
	}
	own := slices.Clip(a.Others)
	for _, k := range b.Others {
		if !slices.ContainsFunc(own, func(o Keyword) bool { return o.Name == k.Name }) {
			a.Others = append(slices.Clip(a.Others), k)
		}
	}
	return a
}

// distinct says that both are set, to different values.
func distinct[T comparable](a, b T) bool {
	var zero T
	return a != zero && b != zero && a != b
}

// also keeps one more keyword that must hold, beside one of that name.
func (f *Form) also(name string, v any) {
	value, _ := json.Marshal(v)
	quoted, _ := json.Marshal(name)
	*f = *f.withRest(f.At, slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}")))
}
