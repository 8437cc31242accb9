package schema

import "slices"

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
		if one && slices.ContainsFunc(list, func(f *Form) bool { return !firm(f, maxSchemaDepth) }) {
			return nil, false
		}
	}
	if !one {
		list, _ = joinLists(flatten(list), false)
		list = subsume(list)
		if f := single(list); f != nil {
			list = []*Form{f}
		}
	}
	return r.join(list, null, one), true
}

// firm says that nothing in f stays in Rest: of alternatives of which exactly
// one must fit, none may take more than it should.
func firm(f *Form, deep int) bool {
	if len(f.Rest) > 0 || deep == 0 {
		return false
	}
	ok := f.Ref == nil || f.Ref.Form != nil && firm(f.Ref.Form, deep/2)
	f.each(func(part *Form) { ok = ok && firm(part, deep-1) })
	return ok
}

// withoutNull takes null out of the alternatives, and those that take nothing
// else. It says whether null fits.
func withoutNull(forms []*Form, one bool) (list []*Form, null, ok bool) {
	hits, unknown := 0, false
	for _, f := range forms {
		if f.Kinds&KindNull != 0 {
			fits, known := takesNull(f)
			hits += boolInt(fits && known)
			unknown = unknown || !known
			c := *f
			c.Kinds &^= KindNull
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

// takesNull says whether f, whose types include null, takes it, if that is known.
func takesNull(f *Form) (fits, known bool) {
	for range maxRefs {
		switch {
		case f.Kinds&KindNull == 0:
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
			flat = append(flat, withNotes(g, overlay(g.Notes, Notes{Description: f.Notes.Description})))
		}
	}
	return flat
}

// whole says that the rules of f are each about one type, so that it can be
// told together with forms of other types.
func (f *Form) whole() bool { return f.Alts == nil && f.Ref == nil && !f.general() }

// freely returns the types of which f takes all values.
func (f *Form) freely() Kinds {
	if !f.whole() {
		return 0
	}
	kinds := f.Kinds
	for _, rule := range []struct {
		has bool
		of  Kinds
	}{{f.Number != nil, KindNumber}, {f.Text != nil, KindString}, {f.Array != nil, KindArray}, {f.Object != nil, KindObject}} {
		if rule.has {
			kinds &^= rule.of
		}
	}
	if f.Enum != nil {
		kinds &^= f.Enum.Kinds
	}
	for _, k := range f.Rest {
		kinds &^= restKinds[k.Name]
	}
	return kinds
}

// subsumes says that an alternative takes values freely for which another one
// has rules.
func subsumes(list []*Form) bool {
	var free, ruled Kinds
	for _, f := range list {
		own := f.freely()
		free |= own
		ruled |= f.Kinds &^ own
	}
	return free&ruled&^KindNull != 0
}

// subsume drops the types of alternatives that another one takes freely.
func subsume(list []*Form) []*Form {
	var free, given, all Kinds
	for _, f := range list {
		own := f.freely()
		free |= own
		if own&KindNumber == KindNumber {
			all = KindInteger
		}
	}
	if free == 0 {
		return list
	}
	var left []*Form
	for _, f := range list {
		own := f.freely()
		keep := own&^given | f.Kinds&^own&^free
		if own&KindNumber == KindInteger {
			keep &^= all
		}
		if keep&KindNumber == KindFraction { // which has no name of its own
			keep |= f.Kinds & KindInteger
		}
		given |= own
		switch {
		case f.whole():
			c := *f
			c.Kinds = keep
			c.trim()
			f = &c
		case f.Kinds&^free == 0:
			continue
		}
		if f.Kinds != 0 {
			left = append(left, f)
		}
	}
	return left
}
