package schema

// items reads the keywords on arrays.
func (r *formReader) items(f *Form, v, k *value) {
	a := f.arrays()
	name := r.doc.sourceName(k)
	list := "prefixItems"
	if r.doc.draft < 2020 {
		list = "items"
	}
	switch {
	case k.name == "minItems":
		a.MinItems = r.least(f, k)
	case k.name == "maxItems":
		a.MaxItems = countOf(k)
	case k.name == "uniqueItems":
		if a.Unique = k.is("true"); !a.Unique {
			r.change(f.At, k.name, false, "it says nothing")
		}
	case k.name == list && k.kind == KindArray:
		for i, kid := range k.kids {
			a.Prefix = append(a.Prefix, r.read(kid, child(f.At, name, i)))
		}
	case k.name == "items" && isSchema(k):
		a.Items = r.read(k, f.At+"/"+name)
	case k.name == "additionalItems" && list == "items" && listOf(v.get("items")) != nil:
		a.Items = r.read(k, f.At+"/"+name)
	case k.kind == KindArray && k.name == "items":
		r.change(f.At, name, true, "a list of items beside prefixItems; it is not read")
	default:
		r.change(f.At, name, false, "it says nothing here, in this draft")
	}
}

// members reads the keywords on objects.
func (r *formReader) members(f *Form, v, k *value) {
	o := f.objects()
	switch k.name {
	case "minProperties":
		o.MinProperties = r.least(f, k)
	case "maxProperties":
		o.MaxProperties = countOf(k)
	case "properties":
		r.properties(f, k)
	case "additionalProperties":
		if patterns := v.get("patternProperties"); patterns != nil && len(patterns.kids) > 0 {
			f.rest(k, k.name) // it is about the names that no pattern matches
			return
		}
		o.Additional = r.read(k, f.At+"/additionalProperties")
	}
}

// properties reads the members of k. Of those with one name the last one counts.
func (r *formReader) properties(f *Form, k *value) {
	last := make(map[string]int, len(k.kids))
	for i, p := range k.kids {
		last[p.name] = i
	}
	list := make([]Property, 0, len(last))
	for i, p := range k.kids {
		if last[p.name] != i {
			r.change(f.At+"/properties", p.name, false, "the name is repeated; only the last one counts")
			continue
		}
		list = append(list, Property{Name: p.name, Form: r.read(p, f.At+"/properties/"+escapePointer(p.name))})
	}
	f.Object.Properties = list
}

// require marks the properties with the names of k, and adds those that are
// not declared.
func (r *formReader) require(f *Form, k *value) {
	if len(k.kids) == 0 {
		r.change(f.At, k.name, false, "it says nothing")
		return
	}
	o := f.objects()
	missing := make(map[string]bool, len(k.kids))
	for _, name := range k.kids {
		missing[name.text] = true
	}
	for i := range o.Properties {
		if p := &o.Properties[i]; missing[p.Name] {
			p.Required = true
			delete(missing, p.Name)
		}
	}
	for _, name := range k.kids {
		if missing[name.text] {
			o.Properties = append(o.Properties, Property{Name: name.text, Form: r.bare(o, f.At), Required: true, Bare: true})
		}
	}
}

// bare returns the form of a member that is not declared in o.
func (r *formReader) bare(o *ObjectForm, at string) *Form {
	if f, ok := r.copy(o.Additional); ok && f != nil {
		return f
	}
	if o.Additional != nil {
		return o.Additional
	}
	return &Form{At: at, Kinds: KindAny}
}
