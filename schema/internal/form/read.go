package form

import (
	"bytes"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// Limits on forms. Keywords beyond them stay unchanged, in Rest.
const (
	maxForms    = 20_000  // of one document
	maxFormWork = 100_000 // members and values compared to merge schemas
)

// Read reads a schema into its normal form. For a schema beyond the limits of
// package schema, Root matches any value, and a lost Change gives the reason. The
// root is the form of a Def if other schemas refer to it, or if it refers to
// one.
func Read(raw []byte) *Document {
	d := subschema.ReadAll(raw)
	if d.Root == nil {
		why := d.Findings[0].Message
		return &Document{Root: &Form{Kinds: jsontree.KindAny}, Changes: append(d.Log.Changes, Change{At: "", Lost: true, Detail: why})}
	}
	r := &formReader{references: references{doc: d}, log: d.Log}
	r.share()
	root := r.root()
	defs := r.finish(root)
	return &Document{Root: root, Defs: defs, Changes: d.Log.Changes}
}

// A formReader turns the schemas of a document into forms.
type formReader struct {
	references
	merger
	log *subschema.Log
}

// root reads the root. If that is shared, or only refers, its form is that of
// the definition.
func (r *formReader) root() *Form {
	v := r.doc.Root
	if def := r.defs[v]; def != nil {
		r.fill(def, v)
		return def.Form
	}
	f := r.form(v, "")
	for range shape.MaxRefs {
		if f.Ref == nil || !f.onlyRefers() || f.Ref.Form.Kinds&^f.Kinds != 0 {
			break
		}
		r.log.Change(f.At, "$ref", false, "the referenced schema is written in its place")
		if f.Notes.empty() {
			f = f.Ref.Form
			continue
		}
		f = withNotes(f.Ref.Form, f.Notes.Over(f.Ref.Form.Notes))
	}
	return f
}

// read returns the form of a schema: a reference, if it is a shared one.
func (r *formReader) read(v *jsontree.Value, at string) *Form {
	if def := r.defs[v]; def != nil {
		return r.refer(def, v, at)
	}
	return r.form(v, at)
}

// form reads the schema v itself.
func (r *formReader) form(v *jsontree.Value, at string) *Form {
	r.made++
	f := &Form{At: at, Kinds: jsontree.KindAny}
	if v.Kind == jsontree.KindBoolean {
		if v.Is("false") {
			f.Kinds = 0
		}
		return f
	}
	if why, cut := r.log.Cut[v]; cut {
		r.log.Change(at, "$ref", true, why)
	}
	only := r.doc.Draft <= 7 && v.Get("$ref") != nil // the reference replaces all else
	words := &keywordReader{r, f, v}
	for _, k := range v.Kids {
		switch {
		case !only || partOf(k.Name) <= partQuiet:
			words.read(k)
		case k.Name != "$ref":
			r.log.Change(at, k.Name, false, "this draft ignores it beside $ref")
		}
	}
	if k := v.Get("required"); k != nil && !only {
		words.require(k)
	}
	words.settle()
	words.f = r.reference(f, v)
	if only {
		return words.f
	}
	words.f = r.mergeApplicators(words.f, v)
	words.names()
	words.idle()
	return words.f
}

// mergeApplicators merges the schemas of allOf, anyOf and oneOf into f.
func (r *formReader) mergeApplicators(f *Form, v *jsontree.Value) *Form {
	for _, k := range v.Kids {
		switch k.Name {
		case "allOf":
			f = r.allOf(f, k)
		case "anyOf", "oneOf":
			f = r.alternatives(f, k)
		}
	}
	return f
}

// allOf merges the schemas of k into f, one by one.
func (r *formReader) allOf(f *Form, k *jsontree.Value) *Form {
	var left [][]byte
	for i, branch := range k.Kids {
		g := r.read(branch, child(f.At, "allOf", i))
		m, ok := r.merge(f, g)
		if !ok {
			left = append(left, branch.Raw)
			continue
		}
		f = m
	}
	if len(left) < len(k.Kids) {
		r.log.Change(f.At, "allOf", false, "merged into one schema")
	}
	if len(left) > 0 {
		f = f.with("allOf", slices.Concat([]byte("["), bytes.Join(left, []byte(",")), []byte("]")))
	}
	return f
}

// alternatives merges the anyOf or oneOf k into f.
func (r *formReader) alternatives(f *Form, k *jsontree.Value) *Form {
	if f.Object != nil && len(f.Object.Properties) > 0 && !slices.ContainsFunc(k.Kids, isShape) {
		return f.withKeyword(k, k.Name)
	}
	forms := make([]*Form, len(k.Kids))
	for i, branch := range k.Kids {
		forms[i] = r.read(branch, child(f.At, k.Name, i))
	}
	u, ok := r.mergeAlternatives(f, forms, k)
	if !ok {
		return f.withKeyword(k, k.Name)
	}
	if u.Alts == nil || len(u.Alts.Forms) != len(forms) {
		r.log.Change(f.At, k.Name, false, "alternatives are merged")
	}
	return u
}

// isShape reports whether a schema describes values, and not only which members
// go together.
func isShape(v *jsontree.Value) bool {
	condition := false
	for _, k := range v.Kids {
		switch k.Name {
		case "required", "not", "dependentRequired", "dependentSchemas", "dependencies":
			condition = true
		default:
			if partOf(k.Name) > partQuiet {
				return true
			}
		}
	}
	return !condition
}

// mergeAlternatives merges the union of forms into f, with k kept if that takes more.
func (r *formReader) mergeAlternatives(f *Form, forms []*Form, k *jsontree.Value) (*Form, bool) {
	one := k.Name == "oneOf"
	u, ok := r.mergeUnion(f, forms, one)
	if !ok && one {
		if u, ok = r.mergeUnion(f, forms, false); ok {
			u = u.withKeyword(k, k.Name)
		}
	}
	return u, ok
}

// mergeUnion merges the union of forms into f.
func (r *formReader) mergeUnion(f *Form, forms []*Form, one bool) (*Form, bool) {
	u, ok := r.union(forms, one)
	if !ok {
		return nil, false
	}
	c := *u
	c.At = f.At
	return r.merge(f, &c)
}

// reference merges what v refers to into f.
func (r *formReader) reference(f *Form, v *jsontree.Value) *Form {
	for _, k := range v.Kids {
		switch t := r.doc.Target(v); {
		case !shape.Refers(k.Name):
		case t == nil || k.Name != "$ref":
			f = f.withKeyword(k, k.Name)
		default:
			f = r.follow(f, v, k, t)
		}
	}
	return f
}

// follow merges the target t of the reference k of v into f.
func (r *formReader) follow(f *Form, v, k, t *jsontree.Value) *Form {
	def := r.defs[t]
	var g *Form
	if def != nil {
		g = r.refer(def, t, f.At)
	} else {
		g = r.form(t, r.at[t])
	}
	m, ok := r.merge(f, g)
	switch {
	case !ok:
		return r.withSiblings(f, g, v, k)
	case def != nil:
		return m
	}
	r.log.Change(f.At, k.Name, false, "the referenced schema is written in its place")
	if f.Any() && f.Notes.empty() {
		m.At = g.At
	}
	return m
}

// withSiblings returns g, which the reference k of v leads to, with what stands beside
// the reference as it is written: the form f of that cannot be merged with g.
func (r *formReader) withSiblings(f, g *Form, v, k *jsontree.Value) *Form {
	c, ok := r.inline(g)
	if !ok || c.Ref != nil {
		return f.withKeyword(k, k.Name)
	}
	c = withNotes(c, f.Notes.Over(c.Notes))
	c.At = f.At
	for _, own := range v.Kids {
		if p := partOf(own.Name); p >= partType && p <= partObject || p == partRest || own.Name == "required" {
			c = c.withKeyword(own, own.Name)
		}
	}
	return c
}

// refer returns a reference to a definition.
func (r *formReader) refer(def *Def, v *jsontree.Value, at string) *Form {
	r.fill(def, v)
	r.made++
	f := &Form{At: at, Ref: def}
	if def.Form != nil {
		f.Kinds = def.Form.Kinds
	} else {
		f.Kinds = r.kinds.Of(v)
	}
	return f
}

// fill reads the form of a definition, unless that is done, or being done.
func (r *formReader) fill(def *Def, v *jsontree.Value) {
	if !r.filled[def] {
		r.filled[def] = true
		def.Form = r.form(v, r.at[v])
	}
}
