package form

import (
	"cmp"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A merger merges forms, as long as that does not take too much.
type merger struct {
	made int // forms
	work int
}

// merge returns the form of values that fit both a and b, with the notes of a
// where both have some. It does not change them, but the result may share
// parts with them: use one of the three only. ok is false if no form is exact.
func (r *merger) merge(a, b *Form) (m *Form, ok bool) {
	r.work++
	switch {
	case r.work > maxFormWork:
		return nil, false
	case b.mask() && a.Kinds&^b.Kinds == 0:
		return withNotes(a, a.Notes.Over(b.Notes)), true
	case a.mask() && b.Kinds&^a.Kinds == 0:
		m = withNotes(b, a.Notes.Over(b.Notes))
		m.At = a.At
		return m, true
	}
	if a, ok = r.inline(a); !ok {
		return nil, false
	}
	if b, ok = r.inline(b); !ok {
		return nil, false
	}
	if a.Alts != nil || b.Alts != nil {
		return r.restrict(a, b)
	}
	r.made++
	m = &Form{At: a.At, Kinds: a.Kinds & b.Kinds, Notes: a.Notes.Over(b.Notes)}
	ok = mergeCommon(m, a, b) && r.rules(m, a, b)
	return m, ok
}

// mergeCommon gives m the rules of a and b about all types at once. It reports
// whether m can express them.
func mergeCommon(m, a, b *Form) bool {
	if a.Ref != nil && b.Ref != nil && a.Ref != b.Ref || a.looksAround() || b.looksAround() || a.meddles(b) || b.meddles(a) {
		return false
	}
	if m.Ref = a.Ref; m.Ref == nil {
		m.Ref = b.Ref
	}
	m.Rest = slices.Concat(a.Rest, b.Rest)
	return true
}

// besides are keywords that mean something else beside one another.
var besides = [...][]string{
	{"if", "then", "else"}, {"contains", "minContains", "maxContains"}, {"patternProperties", "additionalProperties"},
}

// meddles reports whether a keyword that f cannot express would mean something
// else beside those of g.
func (f *Form) meddles(g *Form) bool {
	o := g.Object
	for _, group := range besides {
		in := func(k Keyword) bool { return slices.Contains(group, k.Name) }
		if slices.ContainsFunc(f.Rest, in) && slices.ContainsFunc(g.Rest, in) {
			return true
		}
	}
	return o != nil && (f.Keeps("additionalProperties") && len(o.Properties) > 0 || f.Keeps("patternProperties") && o.Additional != nil && !o.Additional.Any())
}

// Keeps reports whether f has a keyword as it is written.
func (f *Form) Keeps(keyword string) bool {
	return slices.ContainsFunc(f.Rest, func(k Keyword) bool { return k.Name == keyword })
}

// rules merges the rules for each type.
func (r *merger) rules(m, a, b *Form) (ok bool) {
	ok = true
	if m.Kinds&jsontree.KindNumber != 0 {
		m.Number, ok = mergeNumbers(a.Number, b.Number)
	}
	if m.Kinds&jsontree.KindString != 0 && ok {
		m.Text, ok = mergeTexts(a.Text, b.Text)
	}
	if m.Kinds&jsontree.KindArray != 0 {
		m.Array = cmp.Or(a.Array, b.Array)
		ok = ok && (a.Array == nil || b.Array == nil)
	}
	if !ok {
		return false
	}
	if m.Kinds&jsontree.KindObject != 0 {
		if m.Object, ok = r.objects(a.Object, b.Object); !ok {
			return false
		}
	}
	if a.Enum != nil && b.Enum != nil {
		r.work += len(a.Enum.Values) + len(b.Enum.Values)
	}
	mergeEnums(m, a.Enum, b.Enum)
	m.trim()
	return true
}

// inline returns f with what it refers to in its place, unless that is
// recursive.
func (r *merger) inline(f *Form) (*Form, bool) {
	if f.Ref == nil || f.Ref.Recursive {
		return f, true
	}
	content, ok := r.copy(f.Ref.Form)
	if !ok {
		return nil, false
	}
	c := *f
	c.Ref = nil
	return r.merge(&c, content)
}

// copy returns a form that shares nothing but definitions with f; ok is false
// if there are too many forms.
func (r *merger) copy(f *Form) (c *Form, ok bool) {
	if r.made++; f == nil || r.made > maxForms {
		return nil, f == nil
	}
	c = new(*f)
	part := func(p *Form) *Form {
		p, _ = r.copy(p)
		return p
	}
	if f.Array != nil {
		c.Array = new(*f.Array)
		c.Array.Items = part(f.Array.Items)
		c.Array.Prefix = slices.Clone(f.Array.Prefix)
		for i, p := range f.Array.Prefix {
			c.Array.Prefix[i] = part(p)
		}
	}
	if f.Object != nil {
		c.Object = new(*f.Object)
		c.Object.Additional = part(f.Object.Additional)
		c.Object.Properties = slices.Clone(f.Object.Properties)
		for i, p := range f.Object.Properties {
			c.Object.Properties[i].Form = part(p.Form)
		}
	}
	if f.Alts != nil {
		c.Alts = new(*f.Alts)
		c.Alts.Forms = slices.Clone(f.Alts.Forms)
		for i, p := range f.Alts.Forms {
			c.Alts.Forms[i] = part(p)
		}
	}
	return c, r.made <= maxForms
}

// undeclaredForm returns a form of its own for a member that o does not declare.
func undeclaredForm(r *merger, o *Object, at string) *Form {
	if o.Additional == nil {
		return &Form{At: at, Kinds: jsontree.KindAny}
	}
	if f, ok := r.copy(o.Additional); ok {
		return f
	}
	return o.Additional
}

// mergeOptional merges two forms of which each may be nil, for anything. Those that are
// used elsewhere as well are copied.
func (r *merger) mergeOptional(a, b *Form, copyA, copyB bool) (m *Form, ok bool) {
	ok = true
	if copyA {
		a, ok = r.copy(a)
	}
	if copyB && ok {
		b, ok = r.copy(b)
	}
	switch {
	case !ok:
		return nil, false
	case a == nil:
		return b, true
	case b == nil:
		return a, true
	}
	return r.merge(a, b)
}

// objects merges rules on objects.
func (r *merger) objects(a, b *Object) (m *Object, ok bool) {
	switch {
	case a == nil:
		return b, true
	case b == nil:
		return a, true
	}
	r.work += len(a.Properties) + len(b.Properties)
	m = &Object{MinProperties: max(a.MinProperties, b.MinProperties), MaxProperties: fewer(a.MaxProperties, b.MaxProperties)}
	if m.Additional, ok = r.mergeOptional(a.Additional, b.Additional, false, false); !ok {
		return nil, false
	}
	inA, inB := a.byName(), b.byName()
	for _, p := range a.Properties {
		q, declared := inB[p.Name]
		if !declared {
			q = Property{Form: b.Additional, Bare: true}
		}
		if p.Form, ok = r.mergeOptional(p.Form, q.Form, false, !declared); !ok {
			return nil, false
		}
		p.Required, p.Bare = p.Required || q.Required, p.Bare && q.Bare
		m.Properties = append(m.Properties, p)
	}
	for _, q := range b.Properties {
		if _, done := inA[q.Name]; done {
			continue
		}
		if q.Form, ok = r.mergeOptional(a.Additional, q.Form, true, false); !ok {
			return nil, false
		}
		m.Properties = append(m.Properties, q)
	}
	slices.SortStableFunc(m.Properties, func(p, q Property) int { return boolInt(p.Bare) - boolInt(q.Bare) })
	return m, true
}

func (o *Object) byName() map[string]Property {
	all := make(map[string]Property, len(o.Properties))
	for _, p := range o.Properties {
		all[p.Name] = p
	}
	return all
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
