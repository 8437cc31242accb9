package schema

import "slices"

// alternatives merges the anyOf or oneOf k of v into f.
func (r *formReader) alternatives(f *Form, v, k *value) *Form {
	if f.Object != nil && len(f.Object.Properties) > 0 && !slices.ContainsFunc(k.kids, isShape) {
		return f.withKeyword(k)
	}
	forms := make([]*Form, len(k.kids))
	for i, branch := range k.kids {
		forms[i] = r.read(branch, child(f.At, k.name, i))
	}
	one := k.name == "oneOf"
	u, ok := r.within(f, forms, one)
	if !ok && one {
		if u, ok = r.within(f, forms, false); ok { // more than fits: the keyword stays
			return u.withKeyword(k)
		}
	}
	if !ok {
		return f.withKeyword(k)
	}
	r.told(f, u, v, k)
	return u
}

// within merges the union of forms into f.
func (r *formReader) within(f *Form, forms []*Form, one bool) (*Form, bool) {
	mark := r.mark()
	u, ok := r.union(forms, one)
	if ok {
		c := *u
		c.At = f.At
		u, ok = r.merge(f, &c)
	}
	if !ok {
		r.undo(mark)
	}
	return u, ok
}

// withKeyword returns f with a keyword as it is written.
func (f *Form) withKeyword(k *value) *Form {
	c := *f
	c.Rest = append(slices.Clip(f.Rest), Keyword{f.At, k.name, raw(k)})
	return &c
}

// told notes what became of the union k of v, and of the rules beside it.
func (r *formReader) told(f, u *Form, v, k *value) {
	if u.Alts == nil || len(u.Alts.Forms) != len(k.kids) {
		r.change(f.At, k.name, false, "alternatives are merged")
	}
	if u.Alts == nil {
		return
	}
	for _, beside := range v.kids {
		if p := parts[beside.name]; partKinds[p] != 0 || p == partType || p == partLater {
			r.change(f.At, r.doc.sourceName(beside), false, "said in each alternative")
		}
	}
}

// isShape says that a schema tells what values look like, not only which
// members go together.
func isShape(v *value) bool {
	condition := false
	for _, k := range v.kids {
		switch k.name {
		case "required", "not", "dependentRequired", "dependentSchemas", "dependencies":
			condition = true
		default:
			if parts[k.name] > partQuiet {
				return true
			}
		}
	}
	return !condition
}

// distribute merges a and b, at least one of which has alternatives: what the
// other says holds in each.
func (r *formReader) distribute(a, b *Form) (*Form, bool) {
	x, y, one := r.branches(a), r.branches(b), false
	switch {
	case a.Alts != nil && b.Alts != nil:
		one = a.Alts.One
		if one != b.Alts.One || len(x)*len(y) > maxProduct {
			return nil, false
		}
	case a.Alts != nil:
		one = a.Alts.One
	default:
		one = b.Alts.One
	}
	var forms []*Form
	before := r.made
	for _, f := range x {
		for _, g := range y {
			m, ok := r.mergeOnce(f, g, len(y) > 1, len(x) > 1)
			if !ok || r.made-before > maxSpread {
				return nil, false
			}
			forms = append(forms, m)
		}
	}
	if a.Kinds&b.Kinds&KindNull != 0 {
		forms = append(forms, &Form{At: a.At, Kinds: KindNull})
	}
	u, ok := r.union(forms, one)
	if !ok {
		return nil, false
	}
	m := *u
	m.At, m.Notes = a.At, overlay(overlay(a.Notes, b.Notes), u.Notes)
	outer := Form{}
	if !outer.outside(a, b) || !m.outside(&outer, u) {
		return nil, false
	}
	return &m, true
}

// branches returns the alternatives of f for values that are not null, or f
// itself, without what stays outside.
func (r *formReader) branches(f *Form) []*Form {
	if f.Alts != nil {
		return f.Alts.Forms
	}
	c := *f
	c.Kinds &^= KindNull
	c.Notes, c.Ref, c.Rest = Notes{}, nil, nil
	return []*Form{&c}
}
