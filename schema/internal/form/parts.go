package form

import "github.com/toolpost/toolpost/internal/jsontree"

// items reads the keywords on arrays.
func (w *keywordReader) items(k *jsontree.Value) {
	a := arraysIn(w.f)
	switch k.Name {
	case "minItems":
		a.MinItems = w.least(k)
	case "maxItems":
		a.MaxItems = w.most(k)
	case "uniqueItems":
		if a.Unique = k.Is("true"); !a.Unique {
			w.log.Change(w.f.At, k.Name, false, nothing)
		}
	default:
		w.itemForms(a, k)
	}
}

// itemForms reads the forms of items, as the draft names them.
func (w *keywordReader) itemForms(a *Array, k *jsontree.Value) {
	name, list := w.log.SourceName(k), "prefixItems"
	if w.doc.Draft < 2020 {
		list = "items"
	}
	switch {
	case k.Name == list && k.Kind == jsontree.KindArray:
		for i, kid := range k.Kids {
			a.Prefix = append(a.Prefix, w.formReader.read(kid, child(w.f.At, name, i)))
		}
	case k.Kind == jsontree.KindArray && k.Name == "items":
		w.log.Change(w.f.At, name, true, "items is a list although there is prefixItems; it is ignored")
	case k.Name == "items", k.Name == "additionalItems" && list == "items" && w.v.Get("items").Items() != nil:
		a.Items = w.formReader.read(k, w.f.At+"/"+name)
	default:
		w.log.Change(w.f.At, name, false, nothing+" here in this draft")
	}
}

// members reads the keywords on objects.
func (w *keywordReader) members(k *jsontree.Value) {
	o := objectsIn(w.f)
	switch k.Name {
	case "minProperties":
		o.MinProperties = w.least(k)
	case "maxProperties":
		o.MaxProperties = w.most(k)
	case "properties":
		w.properties(o, k)
	case "additionalProperties":
		if patterns := w.v.Get("patternProperties"); patterns != nil && len(patterns.Kids) > 0 {
			*w.f = *w.f.withKeyword(k, k.Name) // it is about the names that no pattern matches
			return
		}
		o.Additional = w.formReader.read(k, w.f.At+"/"+w.log.SourceName(k))
	}
}

// properties reads the members of k. Of those with one name the last one counts.
func (w *keywordReader) properties(o *Object, k *jsontree.Value) {
	last := make(map[string]int, len(k.Kids))
	for i, p := range k.Kids {
		last[p.Name] = i
	}
	o.Properties = make([]Property, 0, len(last))
	for i, p := range k.Kids {
		if last[p.Name] != i {
			w.log.Change(w.f.At+"/properties", p.Name, false, "the name is repeated; only the last one counts")
			continue
		}
		f := w.formReader.read(p, w.f.At+"/properties/"+jsontree.EscapePointer(p.Name))
		o.Properties = append(o.Properties, Property{Name: p.Name, Form: f})
	}
}

// require marks the properties with the names of k, and adds those that are
// not declared.
func (w *keywordReader) require(k *jsontree.Value) {
	if len(k.Kids) == 0 {
		w.log.Change(w.f.At, k.Name, false, nothing)
		return
	}
	o := objectsIn(w.f)
	missing := make(map[string]bool, len(k.Kids))
	for _, name := range k.Kids {
		missing[name.Text] = true
	}
	for i := range o.Properties {
		if p := &o.Properties[i]; missing[p.Name] {
			p.Required = true
			delete(missing, p.Name)
		}
	}
	for _, name := range k.Kids {
		if missing[name.Text] {
			o.Properties = append(o.Properties, Property{Name: name.Text, Form: undeclaredForm(&w.merger, o, w.f.At), Required: true, Bare: true})
		}
	}
}
