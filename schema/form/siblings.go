package form

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A lastReader reads what is about other keywords of v, once these are in f.
type lastReader struct {
	*formReader
	f *Form
	v *jsontree.Value
}

// settle drops what says nothing. An object without properties still tells
// that nothing is expected.
func (l *lastReader) settle() {
	f := l.f
	if f.Object.idle() && l.v.Get("properties") == nil {
		f.Object = nil
	}
	l.impossible()
	f.trim()
}

func (l *lastReader) impossible() {
	if impossible(l.f.Object) {
		l.log.Change(l.f.At, "required", false, "no object matches: a required property accepts no value")
		l.f.trim()
	}
}

// idle tells which keywords say nothing of the types that fit.
func (l *lastReader) idle() {
	if l.f.Kinds == jsontree.KindAny {
		return
	}
	for _, k := range l.v.Kids {
		kinds := partKinds[parts[k.Name]] | restKinds[k.Name]
		if kinds != 0 && kinds&l.f.Kinds == 0 {
			l.log.Change(l.f.At, l.log.SourceName(k), false, nothing+" on the accepted types")
		}
		if (k.Name == "enum" || k.Name == "const") && l.f.Enum == nil && l.f.Alts == nil {
			l.log.Change(l.f.At, k.Name, false, "expressed by the accepted types")
		}
	}
}

// other reads a keyword that stays as it is, or says nothing.
func (l lastReader) other(k *jsontree.Value) {
	has := func(name string) bool { return l.v.Get(name) != nil }
	idle, told := false, false
	switch k.Name {
	case "not":
		told = l.not(k)
	case "if":
		idle = !has("then") && !has("else")
	case "then", "else":
		idle = !has("if")
	case "minContains", "maxContains":
		idle = !has("contains")
	case "patternProperties":
		idle, told = len(k.Kids) == 0, l.everyName(k)
	case "dependencies", "dependentSchemas", "dependentRequired":
		idle = len(k.Kids) == 0
	}
	switch {
	case idle:
		l.log.Change(l.f.At, k.Name, false, nothing)
	case !told:
		*l.f = *l.f.withKeyword(k, k.Name)
	}
}

// not reads a negated schema that is about types only.
func (l lastReader) not(k *jsontree.Value) bool {
	out := jsontree.Kinds(0)
	switch t := k.Get("type"); {
	case k.Is("true") || k.Kind == jsontree.KindObject && len(k.Kids) == 0:
		out = jsontree.KindAny
	case k.Is("false"):
	case t != nil && len(k.Kids) == 1:
		out = jsontree.KindsNamed(t)
	default:
		return false
	}
	if out&jsontree.KindNumber == jsontree.KindInteger { // fractions alone have no name
		return false
	}
	l.f.Kinds &^= out
	l.log.Change(l.f.At, "not", false, "expressed by the accepted types")
	return true
}

// everyName reads a single pattern that all names match.
func (l lastReader) everyName(k *jsontree.Value) bool {
	for _, beside := range []string{"properties", "additionalProperties", "required"} {
		if l.v.Get(beside) != nil || len(k.Kids) != 1 {
			return false
		}
	}
	switch k.Kids[0].Name {
	case "", ".*", "^", "$", "^.*", ".*$":
		objectsIn(l.f).Additional = l.read(k.Kids[0], l.f.At+"/patternProperties/"+jsontree.EscapePointer(k.Kids[0].Name))
		l.log.Change(l.f.At, k.Name, false, "all names match the pattern")
		return true
	}
	return false
}

// names reads the keywords that are about the names of all members.
func (l *lastReader) names() {
	if l.f.Kinds&jsontree.KindObject == 0 { // see idle
		return
	}
	if k := l.v.Get("unevaluatedProperties"); k != nil {
		l.unevaluated(k)
	}
	if k := l.v.Get("propertyNames"); k != nil {
		l.propertyNames(k)
	}
}

// propertyNames reads k: a list of names becomes properties.
func (l *lastReader) propertyNames(k *jsontree.Value) {
	n := l.read(k, l.f.At+"/"+k.Name)
	m := &Form{Kinds: jsontree.KindAny}
	switch {
	case n.mask() && n.Kinds&jsontree.KindString != 0:
		l.log.Change(l.f.At, k.Name, false, nothing+", because names are strings")
		return
	case n.Kinds&jsontree.KindString == 0:
		objectsIn(m).MaxProperties = 0
	case n.Text == nil && n.Alts == nil && n.Ref == nil && n.Rest == nil && n.Enum.within(jsontree.KindString) != nil:
		objectsIn(m).Additional = &Form{At: n.At}
		for _, v := range n.Enum.within(jsontree.KindString).Values {
			p := Property{Name: jsontree.Read(v).Text, Form: &Form{At: n.At, Kinds: jsontree.KindAny}}
			m.Object.Properties = append(m.Object.Properties, p)
		}
	default:
		l.f = l.f.withKeyword(k, k.Name)
		return
	}
	mark := l.log.Mark()
	g, ok := l.merge(l.f, m)
	if !ok {
		l.log.Undo(mark)
		l.f = l.f.withKeyword(k, k.Name)
		return
	}
	l.log.Change(l.f.At, k.Name, false, "expressed by the properties")
	l.f = g
}

// unevaluated reads unevaluatedProperties, which is additionalProperties if
// nothing but properties, in v and what is merged into it, names members.
func (l *lastReader) unevaluated(k *jsontree.Value) {
	all, certain := l.evaluates(l.v, k)
	f := l.f
	switch {
	case l.doc.Draft < 2019:
		l.log.Change(f.At, k.Name, false, "this draft has no such keyword")
	case l.log.Blind:
		l.log.Change(f.At, k.Name, true, "a reference cannot be resolved, and its schema might declare properties")
	case !certain || f.Alts != nil || f.Ref != nil || f.general():
		l.f = f.withKeyword(k, k.Name)
	case all:
		l.log.Change(f.At, k.Name, false, nothing+", because all properties are evaluated")
	default:
		c := *f
		c.Object = nil
		o := objectsIn(&c)
		if f.Object != nil {
			*o = *f.Object
		}
		o.Additional = l.read(k, f.At+"/"+k.Name)
		o.Properties = slices.Clone(o.Properties)
		for i, p := range o.Properties {
			if p.Bare {
				o.Properties[i].Form = undeclared(&l.merger, o, f.At)
			}
		}
		l.log.Change(f.At, k.Name, false, "the same as additionalProperties here")
		l.f = &c
		l.impossible()
	}
}

// evaluates reports whether all properties are evaluated by v, but for the
// keyword k; certain is false if that depends on the value, or on names.
func (l *lastReader) evaluates(v, k *jsontree.Value) (all, certain bool) {
	if l.work++; l.work > maxFormWork {
		return false, false
	}
	for _, kid := range v.Kids {
		switch kid.Name {
		case "additionalProperties":
			all = true
		case "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "patternProperties", "propertyNames", "$dynamicRef", "$recursiveRef":
			return false, false
		case "unevaluatedProperties":
			if kid != k {
				return false, false
			}
		case "allOf", "$ref":
			schemas := kid.Kids
			if kid.Name == "$ref" {
				schemas = l.doc.Targets(v)
			}
			for _, sub := range schemas {
				a, ok := l.evaluates(sub, k)
				if !ok {
					return false, false
				}
				all = all || a
			}
		}
	}
	return all, true
}
