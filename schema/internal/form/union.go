package form

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// AnyOf returns the form of values that match at least one of forms.
func AnyOf(forms ...*Form) *Form {
	r := &merger{}
	if f, ok := r.union(forms, false); ok {
		return f
	}
	f := &Form{Alts: &Union{Forms: forms}}
	for _, g := range forms {
		f.Kinds |= g.Kinds
	}
	return f
}

// union returns the form of values that fit one of forms, or exactly one. It
// does not change them. ok is false if no form is exact.
func (r *merger) union(forms []*Form, one bool) (*Form, bool) {
	list, null, ok := withoutNull(forms, one)
	if !ok {
		return nil, false
	}
	if list, ok = distinct(list, one); !ok {
		return nil, false
	}
	if one && len(list) > 1 {
		if list, ok = joinLists(list, true); !ok {
			return nil, false
		}
		one = !disjoint(list)
		if one && slices.ContainsFunc(list, func(f *Form) bool { return !firm(f, shape.MaxDepth) }) {
			return nil, false
		}
	}
	if !one {
		list, _ = joinLists(flatten(list), false)
		if f := single(list); f != nil {
			list = []*Form{f}
		}
	}
	return r.join(list, null, one), true
}

// firm reports whether nothing in f stays in Rest: of alternatives of which
// exactly one must fit, none may take more than it should.
func firm(f *Form, deep int) bool {
	if len(f.Rest) > 0 || deep == 0 {
		return false
	}
	ok := f.Ref == nil || f.Ref.Form != nil && firm(f.Ref.Form, deep/2)
	f.each(func(part *Form) { ok = ok && firm(part, deep-1) })
	return ok
}

// withoutNull takes null out of the alternatives, and those that take nothing
// else. It reports whether null fits.
func withoutNull(forms []*Form, one bool) (list []*Form, null, ok bool) {
	hits, unknown := 0, false
	for _, f := range forms {
		if f.Kinds&jsontree.KindNull != 0 {
			fits, known := takesNull(f)
			hits += boolInt(fits && known)
			unknown = unknown || !known
			c := *f
			c.Kinds &^= jsontree.KindNull
			f = &c
		}
		if f.Kinds != 0 {
			list = append(list, f)
		}
	}
	if unknown && (one || hits == 0) {
		return nil, false, false
	}
	return list, hits == 1 || hits > 0 && !one, true
}

// takesNull reports whether f, whose types include null, takes it, if that is
// known.
func takesNull(f *Form) (fits, known bool) {
	for range shape.MaxRefs {
		switch {
		case f.Kinds&jsontree.KindNull == 0:
			return false, true
		case f.general():
			return false, false
		case f.Ref == nil:
			return true, true
		case f.Ref.Form == nil:
			return false, false
		}
		f = f.Ref.Form
	}
	return false, false
}

// flatten puts the alternatives of alternatives in their place.
func flatten(list []*Form) []*Form {
	nested := func(f *Form) bool { return f.Alts != nil && !f.Alts.One && f.Ref == nil && f.Rest == nil }
	if !slices.ContainsFunc(list, nested) {
		return list
	}
	var flat []*Form
	for _, f := range list {
		if !nested(f) {
			flat = append(flat, f)
			continue
		}
		for _, g := range f.Alts.Forms {
			flat = append(flat, withNotes(g, g.Notes.Over(Notes{Description: f.Notes.Description})))
		}
	}
	return flat
}

// whole reports whether the rules of f are each about one type, so that it can
// be combined with forms of other types.
func (f *Form) whole() bool { return f.Alts == nil && f.Ref == nil && !f.general() }

// freely returns the types of which f takes all values.
func (f *Form) freely() jsontree.Kinds {
	if !f.whole() {
		return 0
	}
	kinds := f.Kinds
	for _, rule := range []struct {
		has bool
		of  jsontree.Kinds
	}{{f.Number != nil, jsontree.KindNumber}, {f.Text != nil, jsontree.KindString}, {f.Array != nil, jsontree.KindArray}, {f.Object != nil, jsontree.KindObject}} {
		if rule.has {
			kinds &^= rule.of
		}
	}
	if f.Enum != nil {
		kinds &^= f.Enum.Kinds
	}
	for _, k := range f.Rest {
		kinds &^= shape.About(k.Name)
	}
	return kinds
}
