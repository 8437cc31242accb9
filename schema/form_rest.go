package schema

import "slices"

// restKinds has the types that keywords in Rest are about; those that are not
// here are about all.
var restKinds = map[string]Kinds{
	"contains": KindArray, "minContains": KindArray, "maxContains": KindArray, "unevaluatedItems": KindArray,
	"patternProperties": KindObject, "additionalProperties": KindObject, "propertyNames": KindObject, "unevaluatedProperties": KindObject,
	"dependencies": KindObject, "dependentSchemas": KindObject, "dependentRequired": KindObject,
}

// general says that f has a Rest that may be about all types.
func (f *Form) general() bool {
	return slices.ContainsFunc(f.Rest, func(k Keyword) bool { return restKinds[k.Name] == 0 })
}

// trim drops what is about types that do not fit f.
func (f *Form) trim() {
	if f.Kinds == 0 {
		*f = Form{At: f.At, Notes: f.Notes}
		return
	}
	if len(f.Rest) > 0 && f.Kinds != KindAny {
		f.Rest = slices.DeleteFunc(slices.Clone(f.Rest), func(k Keyword) bool {
			about, known := restKinds[k.Name]
			return known && about&f.Kinds == 0
		})
	}
	if f.Kinds&KindNumber == 0 || f.Number != nil && *f.Number == (NumberForm{}) {
		f.Number = nil
	}
	if f.Kinds&KindString == 0 || f.Text != nil && len(f.Text.Content) == 0 && f.Text.MinLength == 0 && f.Text.MaxLength < 0 && f.Text.Pattern == "" && f.Text.Format == "" {
		f.Text = nil
	}
	if f.Kinds&KindArray == 0 || f.Array != nil && f.Array.Prefix == nil && f.Array.Items == nil && f.Array.MinItems == 0 && f.Array.MaxItems < 0 && !f.Array.Unique {
		f.Array = nil
	}
	if f.Kinds&KindObject == 0 {
		f.Object = nil
	}
}

// settle drops what says nothing, once all keywords of v are read.
func (r *formReader) settle(f *Form, v *value) {
	if o := f.Object; o != nil && v.get("properties") == nil && o.Properties == nil && o.Additional == nil && o.MinProperties == 0 && o.MaxProperties < 0 {
		f.Object = nil
	}
	r.impossible(f)
	f.Enum = f.enumWithin(f.Enum)
	f.trim()
}

// impossible looks for required properties that take no value.
func (r *formReader) impossible(f *Form) {
	if f.Object != nil && slices.ContainsFunc(f.Object.Properties, func(p Property) bool { return p.Required && p.Form.Kinds == 0 }) {
		r.change(f.At, "required", false, "no object fits: a required property takes no value")
		f.Kinds &^= KindObject
		f.Object = nil
	}
}

// idle tells which keywords of v say nothing, for the types that fit.
func (r *formReader) idle(f *Form, v *value) {
	if f.Kinds == KindAny {
		return
	}
	for _, k := range v.kids {
		kinds := partKinds[parts[k.name]] | restKinds[k.name]
		if kinds != 0 && kinds&f.Kinds == 0 {
			r.change(f.At, r.doc.sourceName(k), false, "it says nothing of what fits")
		}
	}
}

// partKinds has the types that the parts are about.
var partKinds = map[part]Kinds{partNumber: KindNumber, partText: KindString, partArray: KindArray, partObject: KindObject}

// other reads a keyword that stays as it is, or says nothing.
func (r *formReader) other(f *Form, v, k *value) {
	nothing := false
	switch k.name {
	case "not":
		if r.not(f, k) {
			return
		}
	case "if":
		nothing = v.get("then") == nil && v.get("else") == nil
	case "then", "else":
		nothing = v.get("if") == nil
	case "minContains", "maxContains":
		nothing = v.get("contains") == nil
	case "patternProperties", "dependencies", "dependentSchemas", "dependentRequired":
		if nothing = len(k.kids) == 0; !nothing && r.everyName(f, v, k) {
			return
		}
	}
	if nothing {
		r.change(f.At, k.name, false, "it says nothing")
		return
	}
	f.rest(k, k.name)
}

// not reads a negated schema that is about types only.
func (r *formReader) not(f *Form, k *value) bool {
	out := Kinds(0)
	switch t := k.get("type"); {
	case k.is("true") || k.kind == KindObject && len(k.kids) == 0:
		out = KindAny
	case k.is("false"):
	case t != nil && len(k.kids) == 1:
		out = typeKinds(t)
	default:
		return false
	}
	if out&KindNumber == KindInteger { // fractions alone have no name
		return false
	}
	f.Kinds &^= out
	r.change(f.At, "not", false, "told by the types that fit")
	return true
}

// everyName reads a single pattern that all names match.
func (r *formReader) everyName(f *Form, v, k *value) bool {
	if k.name != "patternProperties" || len(k.kids) != 1 || v.get("properties") != nil || v.get("additionalProperties") != nil || v.get("required") != nil {
		return false
	}
	switch k.kids[0].name {
	case "", ".*", "^", "$", "^.*", ".*$":
		f.objects().Additional = r.read(k.kids[0], f.At+"/patternProperties/"+escapePointer(k.kids[0].name))
		r.change(f.At, k.name, false, "all names match the pattern")
		return true
	}
	return false
}

// late reads the keywords that are about the properties of the whole schema.
func (r *formReader) late(f *Form, v *value) *Form {
	for _, name := range []string{"unevaluatedProperties", "propertyNames"} {
		k := v.get(name)
		switch {
		case k == nil:
		case f.Kinds&KindObject == 0: // see idle
		case name == "propertyNames":
			f = r.names(f, k)
		default:
			f = r.unevaluated(f, v, k)
		}
	}
	return f
}

// names reads propertyNames: a list of names becomes properties.
func (r *formReader) names(f *Form, k *value) *Form {
	n := r.read(k, f.At+"/"+k.name)
	m := &Form{Kinds: KindAny}
	switch {
	case n.mask() && n.Kinds&KindString != 0:
		r.change(f.At, k.name, false, "it says nothing: names are strings")
		return f
	case n.Kinds&KindString == 0:
		m.objects().MaxProperties = 0
	case n.listsText() && len(n.Enum.Values) <= maxSpread:
		m.objects().Additional = &Form{At: n.At}
		for _, v := range n.Enum.Values {
			if kindOf(v) == KindString {
				p := Property{Name: parseValue(v).text, Form: &Form{At: n.At, Kinds: KindAny}}
				m.Object.Properties = append(m.Object.Properties, p)
			}
		}
	default:
		m = nil
	}
	if m != nil {
		mark := r.mark()
		if g, ok := r.merge(f, m); ok {
			r.change(f.At, k.name, false, "told by the properties")
			return g
		}
		r.undo(mark)
	}
	return f.withKeyword(k)
}

// listsText says that f lists the strings that fit, and has no other rule on them.
func (f *Form) listsText() bool {
	return f.Enum != nil && f.Enum.Kinds&KindString != 0 && f.Text == nil && f.Alts == nil && f.Ref == nil && f.Rest == nil
}

// unevaluated reads unevaluatedProperties, which is additionalProperties if
// nothing but properties, in v and what is merged into it, names members.
func (r *formReader) unevaluated(f *Form, v, k *value) *Form {
	closed, certain := r.evaluates(v, k)
	switch {
	case r.doc.draft < 2019:
		r.change(f.At, k.name, false, "this draft has no such keyword")
		return f
	case r.doc.kept.blind:
		r.change(f.At, k.name, true, "a reference leads nowhere, and might have named properties")
		return f
	case !certain || f.Alts != nil || f.Ref != nil || f.general():
	case closed:
		r.change(f.At, k.name, false, "it says nothing: all properties are evaluated")
		return f
	default:
		c := *f
		c.Object = &ObjectForm{MaxProperties: -1}
		if f.Object != nil {
			*c.Object = *f.Object
		}
		c.Object.Additional = r.read(k, f.At+"/"+k.name)
		c.Object.Properties = slices.Clone(c.Object.Properties)
		for i := range c.Object.Properties {
			if p := &c.Object.Properties[i]; p.Bare {
				p.Form = r.bare(c.Object, f.At)
			}
		}
		r.change(f.At, k.name, false, "the same as additionalProperties here")
		r.impossible(&c)
		return &c
	}
	return f.withKeyword(k)
}

// evaluates says whether all properties are evaluated by v, but for the
// keyword k; certain is false if that depends on the value, or on names.
func (r *formReader) evaluates(v, k *value) (all, certain bool) {
	if r.work++; r.work > maxFormWork {
		return false, false
	}
	for _, kid := range v.kids {
		switch kid.name {
		case "additionalProperties":
			all = true
		case "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "patternProperties", "propertyNames", "$dynamicRef", "$recursiveRef":
			return false, false
		case "unevaluatedProperties":
			if kid != k {
				return false, false
			}
		case "allOf", "$ref":
			schemas := kid.kids
			if kid.name == "$ref" {
				schemas = r.doc.targets(v)
			}
			for _, sub := range schemas {
				a, ok := r.evaluates(sub, k)
				if !ok {
					return false, false
				}
				all = all || a
			}
		}
	}
	return all, true
}
