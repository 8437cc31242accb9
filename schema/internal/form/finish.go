package form

import "slices"

// finish settles what could not be known while forms referred to others that
// were not read yet. It returns the definitions that are used, in source order.
func (r *references) finish(root *Form) []*Def {
	uses := map[*Def]int{}
	var unions []*Union
	var visit func(f *Form)
	visited := map[*Form]bool{}
	visit = func(f *Form) {
		if visited[f] {
			return
		}
		visited[f] = true
		if f.Alts != nil {
			unions = append(unions, f.Alts)
		}
		if f.Ref != nil {
			f.Kinds &= f.Ref.Form.Kinds
			uses[f.Ref]++
			visit(f.Ref.Form)
		}
		f.each(visit)
	}
	visit(root)
	for _, u := range unions {
		if u.One && disjoint(u.Forms) {
			u.One = false
		}
		if u.Tag == "" {
			u.Tag = tagOf(u.Forms)
		}
	}
	var used []*Def
	for _, v := range r.order {
		if def := r.defs[v]; def != nil && uses[def] > 0 {
			def.Uses = uses[def]
			used = append(used, def)
		}
	}
	return slices.Clip(used)
}

// each calls visit with the forms in f.
func (f *Form) each(visit func(*Form)) {
	if a := f.Array; a != nil {
		for _, item := range a.Prefix {
			visit(item)
		}
		if a.Items != nil {
			visit(a.Items)
		}
	}
	if o := f.Object; o != nil {
		for _, p := range o.Properties {
			visit(p.Form)
		}
		if o.Additional != nil {
			visit(o.Additional)
		}
	}
	if f.Alts != nil {
		for _, g := range f.Alts.Forms {
			visit(g)
		}
	}
}
