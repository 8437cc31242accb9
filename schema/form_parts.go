package schema

// items reads the keywords on arrays.
func (w keywordReader) items(k *value) {
	a := arraysIn(w.f)
	switch k.name {
	case "minItems":
		a.MinItems = w.log.least(w.f.At, k)
	case "maxItems":
		a.MaxItems = w.log.most(w.f.At, k)
	case "uniqueItems":
		if a.Unique = k.is("true"); !a.Unique {
			w.log.change(w.f.At, k.name, false, nothing)
		}
	default:
		w.itemForms(a, k)
	}
}

// itemForms reads the forms of items, as the draft names them.
func (w keywordReader) itemForms(a *ArrayForm, k *value) {
	name, list := w.log.sourceName(k), "prefixItems"
	if w.doc.draft < 2020 {
		list = "items"
	}
	switch {
	case k.name == list && k.kind == KindArray:
		for i, kid := range k.kids {
			a.Prefix = append(a.Prefix, w.formReader.read(kid, child(w.f.At, name, i)))
		}
	case k.kind == KindArray && k.name == "items":
		w.log.change(w.f.At, name, true, "items is a list although there is prefixItems; it is ignored")
	case k.name == "items", k.name == "additionalItems" && list == "items" && listOf(w.v.get("items")) != nil:
		a.Items = w.formReader.read(k, w.f.At+"/"+name)
	default:
		w.log.change(w.f.At, name, false, nothing+" here in this draft")
	}
}

// members reads the keywords on objects.
func (w keywordReader) members(k *value) {
	o := objectsIn(w.f)
	switch k.name {
	case "minProperties":
		o.MinProperties = w.log.least(w.f.At, k)
	case "maxProperties":
		o.MaxProperties = w.log.most(w.f.At, k)
	case "properties":
		w.properties(o, k)
	case "additionalProperties":
		if patterns := w.v.get("patternProperties"); patterns != nil && len(patterns.kids) > 0 {
			*w.f = *w.f.withKeyword(k, k.name) // it is about the names that no pattern matches
			return
		}
		o.Additional = w.formReader.read(k, w.f.At+"/additionalProperties")
	}
}

// properties reads the members of k. Of those with one name the last one counts.
func (w keywordReader) properties(o *ObjectForm, k *value) {
	last := make(map[string]int, len(k.kids))
	for i, p := range k.kids {
		last[p.name] = i
	}
	o.Properties = make([]Property, 0, len(last))
	for i, p := range k.kids {
		if last[p.name] != i {
			w.log.change(w.f.At+"/properties", p.name, false, "the name is repeated; only the last one counts")
			continue
		}
		f := w.formReader.read(p, w.f.At+"/properties/"+escapePointer(p.name))
		o.Properties = append(o.Properties, Property{Name: p.name, Form: f})
	}
}

// require marks the properties with the names of k, and adds those that are
// not declared.
func (w keywordReader) require(k *value) {
	if len(k.kids) == 0 {
		w.log.change(w.f.At, k.name, false, nothing)
		return
	}
	o := objectsIn(w.f)
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
			o.Properties = append(o.Properties, Property{Name: name.text, Form: undeclared(&w.merger, o, w.f.At), Required: true, Bare: true})
		}
	}
}
