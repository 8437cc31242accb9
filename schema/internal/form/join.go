package form

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// single returns one form for all alternatives, nil if there is none: two of
// them have rules for one type.
func single(list []*Form) *Form {
	if len(list) < 2 || clash(list) {
		return nil
	}
	m := &Form{At: list[0].At}
	var texts []string
	for _, f := range list {
		m.Kinds |= f.Kinds
		m.Number, m.Text = cmp.Or(m.Number, f.Number), cmp.Or(m.Text, f.Text)
		m.Array, m.Object = cmp.Or(m.Array, f.Array), cmp.Or(m.Object, f.Object)
		m.Rest = slices.Concat(m.Rest, f.Rest)
		m.Notes.Examples = slices.Concat(m.Notes.Examples, f.Notes.Examples)
		if text := f.Notes.Description; text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		switch {
		case f.Enum == nil:
		case m.Enum == nil:
			m.Enum = f.Enum
		default:
			m.Enum = &Enum{slices.Concat(m.Enum.Values, f.Enum.Values), m.Enum.Kinds | f.Enum.Kinds}
		}
	}
	m.Notes.Description = strings.Join(texts, "; ")
	return m
}

// clash reports whether one form cannot express the alternatives.
func clash(list []*Form) bool {
	for _, group := range [...]jsontree.Kinds{jsontree.KindBoolean, jsontree.KindNumber, jsontree.KindString, jsontree.KindArray, jsontree.KindObject} {
		in, ruled := 0, false
		for _, f := range list {
			if f.Kinds&group != 0 {
				in++
				ruled = ruled || f.freely()&group != f.Kinds&group
			}
		}
		if in > 1 && ruled {
			return true
		}
	}
	return slices.ContainsFunc(list, func(f *Form) bool { return !f.whole() })
}

// join makes a form of alternatives that take no null.
func (r *merger) join(list []*Form, null, one bool) *Form {
	switch {
	case len(list) == 0 && null:
		return &Form{Kinds: jsontree.KindNull}
	case len(list) == 0:
		return &Form{}
	case len(list) == 1 && !null:
		return list[0]
	case len(list) == 1:
		f := r.small(list[0])
		if f.Ref == nil && !f.general() {
			c := *f
			c.Kinds |= jsontree.KindNull
			return &c
		}
	}
	f := &Form{Alts: &Union{Forms: list, One: one && len(list) > 1, Tag: tagOf(list)}}
	for _, g := range list {
		f.Kinds |= g.Kinds
	}
	if null {
		f.Kinds |= jsontree.KindNull
	}
	return f
}

// small returns f with what it refers to in its place, if that has no parts.
func (r *merger) small(f *Form) *Form {
	if f.Ref == nil || f.Ref.Form == nil {
		return f
	}
	if to := f.Ref.Form; to.Array != nil || to.Object != nil || to.Alts != nil || to.Ref != nil {
		return f
	}
	if g, ok := r.inline(f); ok {
		return g
	}
	return f
}

// restrict merges a and b, of which one has alternatives and the other one only
// says which types there are.
func (r *merger) restrict(a, b *Form) (*Form, bool) {
	with, types := a, b
	if a.Alts == nil {
		with, types = b, a
	}
	if !types.mask() {
		return nil, false
	}
	var forms []*Form
	for _, alt := range with.Alts.Forms {
		c := *alt
		c.Kinds &= types.Kinds
		c.trim()
		forms = append(forms, &c)
	}
	if a.Kinds&b.Kinds&jsontree.KindNull != 0 {
		forms = append(forms, &Form{At: a.At, Kinds: jsontree.KindNull})
	}
	u, ok := r.union(forms, with.Alts.One)
	if !ok {
		return nil, false
	}
	m := *u
	m.At, m.Notes = a.At, a.Notes.Over(b.Notes).Over(u.Notes)
	return &m, mergeCommon(&m, with, u)
}
