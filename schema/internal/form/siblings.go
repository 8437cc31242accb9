package form

import (
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// settle drops rules without an effect. An object without properties still
// shows that no member is expected.
func (w *keywordReader) settle() {
	f := w.f
	if f.Object.isEmpty() && w.v.Get("properties") == nil {
		f.Object = nil
	}
	w.impossible()
	f.trim()
}

func (w *keywordReader) impossible() {
	if impossible(w.f.Object) {
		w.log.Change(w.f.At, "required", false, "no object matches: a required property accepts no value")
		w.f.trim()
	}
}

// idle reports the keywords that do not apply to the types that fit.
func (w *keywordReader) idle() {
	if w.f.Kinds == jsontree.KindAny {
		return
	}
	for _, k := range w.v.Kids {
		kinds := shape.About(k.Name)
		if kinds != 0 && kinds&w.f.Kinds == 0 {
			w.log.Change(w.f.At, w.log.SourceName(k), false, nothing+" on the accepted types")
		}
		if (k.Name == "enum" || k.Name == "const") && w.f.Enum == nil && w.f.Alts == nil {
			w.log.Change(w.f.At, k.Name, false, "expressed by the accepted types")
		}
	}
}

// otherKeyword reads a keyword that is kept as it is, or that has no effect.
func (w *keywordReader) otherKeyword(k *jsontree.Value) {
	has := func(name string) bool { return w.v.Get(name) != nil }
	idle, told := false, false
	switch k.Name {
	case "not":
		told = w.not(k)
	case "if":
		idle = !has("then") && !has("else")
	case "then", "else":
		idle = !has("if")
	case "minContains", "maxContains":
		idle = !has("contains")
	case "patternProperties":
		idle, told = len(k.Kids) == 0, w.everyName(k)
	case "dependencies", "dependentSchemas", "dependentRequired":
		idle = len(k.Kids) == 0
	}
	switch {
	case idle:
		w.log.Change(w.f.At, k.Name, false, nothing)
	case !told:
		*w.f = *w.f.withKeyword(k, k.Name)
	}
}

// not reads a negated schema that is about types only.
func (w *keywordReader) not(k *jsontree.Value) bool {
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
	w.f.Kinds &^= out
	w.log.Change(w.f.At, "not", false, "expressed by the accepted types")
	return true
}

// everyName reads a single pattern that all names match.
func (w *keywordReader) everyName(k *jsontree.Value) bool {
	for _, beside := range []string{"properties", "additionalProperties", "required"} {
		if w.v.Get(beside) != nil || len(k.Kids) != 1 {
			return false
		}
	}
	switch k.Kids[0].Name {
	case "", ".*", "^", "$", "^.*", ".*$":
		objectsIn(w.f).Additional = w.formReader.read(k.Kids[0], w.f.At+"/patternProperties/"+jsontree.EscapePointer(k.Kids[0].Name))
		w.log.Change(w.f.At, k.Name, false, "all names match the pattern")
		return true
	}
	return false
}

// unevaluated has the keywords about what no other keyword of the same schema has
// looked at. They stay as they are written, in that schema only.
var unevaluated = []string{"unevaluatedProperties", "unevaluatedItems"}

// looksAround reports whether f has one of them.
func (f *Form) looksAround() bool {
	return slices.ContainsFunc(f.Rest, func(k Keyword) bool { return slices.Contains(unevaluated, k.Name) })
}

// names reads the keywords that need the properties of all others.
func (w *keywordReader) names() {
	if k := w.v.Get("propertyNames"); k != nil && w.f.Kinds&jsontree.KindObject != 0 { // see idle
		w.propertyNames(k)
	}
	for _, name := range unevaluated {
		if k := w.v.Get(name); k != nil {
			w.f = w.f.withKeyword(k, name)
			w.f.trim()
		}
	}
}

// propertyNames reads k: a list of names becomes properties.
func (w *keywordReader) propertyNames(k *jsontree.Value) {
	n := w.formReader.read(k, w.f.At+"/"+k.Name)
	m := &Form{Kinds: jsontree.KindAny}
	switch {
	case n.mask() && n.Kinds&jsontree.KindString != 0:
		w.log.Change(w.f.At, k.Name, false, nothing+", because names are strings")
		return
	case n.Kinds&jsontree.KindString == 0:
		objectsIn(m).MaxProperties = 0
	case n.Text == nil && n.Alts == nil && n.Ref == nil && n.Rest == nil && n.Enum.filterKinds(jsontree.KindString) != nil:
		objectsIn(m).Additional = &Form{At: n.At}
		for _, v := range n.Enum.filterKinds(jsontree.KindString).Values {
			p := Property{Name: jsontree.Read(v).Text, Form: &Form{At: n.At, Kinds: jsontree.KindAny}}
			m.Object.Properties = append(m.Object.Properties, p)
		}
	default:
		w.f = w.f.withKeyword(k, k.Name)
		return
	}
	g, ok := w.merge(w.f, m)
	if !ok {
		w.f = w.f.withKeyword(k, k.Name)
		return
	}
	w.log.Change(w.f.At, k.Name, false, "expressed by the properties")
	w.f = g
}
