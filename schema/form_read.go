package schema

import (
	"encoding/json"
	"slices"
)

// Limits on forms. What is beyond them stays as it is written, in Rest.
const (
	maxForms    = 20_000  // of one document
	maxFormWork = 100_000 // members and values compared to merge schemas
	maxSpread   = 2_000   // forms of what is said again in each alternative
	maxProduct  = 16      // alternatives that two unions make together
)

// Form reads the schema into its normal form. Schemas beyond the limits of
// [Compile] have a Root that takes anything, and a lost Change that says why.
// The root is the form of a Def if others refer to it, or if it refers to one.
func (s *Schema) Form() *Document {
	d := loadKept(s.raw)
	if d.root == nil {
		why := d.findings[len(d.findings)-1].Message
		return &Document{Root: &Form{Kinds: KindAny}, Changes: append(d.kept.changes, Change{"", "", true, why})}
	}
	r := &formReader{doc: d}
	r.share()
	root := r.root()
	doc := &Document{Root: root, Defs: r.finish(root)}
	doc.Changes = d.kept.changes
	return doc
}

// A formReader turns the schemas of a document into forms.
type formReader struct {
	doc    *document
	at     map[*value]string // pointers of the schemas that references lead to
	defs   map[*value]*Def   // those that stay shared
	order  []*value          // the keys of defs, in source order
	kinds  map[*value]Kinds  // of the values that fit, or more
	made   int               // forms
	work   int
	filled map[*Def]bool // their forms are read, or being read
}

func (r *formReader) change(at, keyword string, lost bool, detail string) {
	if r.doc != nil {
		r.doc.change(at, keyword, lost, detail)
	}
}

// mark and undo take back the changes of what came to nothing.
func (r *formReader) mark() int {
	if r.doc == nil {
		return 0
	}
	return len(r.doc.kept.changes)
}

func (r *formReader) undo(mark int) {
	if r.doc != nil {
		r.doc.kept.changes = r.doc.kept.changes[:mark]
	}
}

// root reads the root. If that is shared, or only refers, its form is that of
// the definition.
func (r *formReader) root() *Form {
	v := r.doc.root
	if def := r.defs[v]; def != nil {
		r.fill(def, v)
		return def.Form
	}
	f := r.form(v, "")
	for range maxRefs {
		if f.Ref == nil || !f.onlyRefers() || f.Ref.Form.Kinds&^f.Kinds != 0 {
			break
		}
		content := *f.Ref.Form
		if f.Notes.empty() {
			f = f.Ref.Form
			continue
		}
		content.Notes = overlay(f.Notes, content.Notes)
		f = &content
	}
	return f
}

// read returns the form of a schema: a reference, if it is a shared one.
func (r *formReader) read(v *value, at string) *Form {
	if def := r.defs[v]; def != nil {
		return r.refer(def, v, at)
	}
	return r.form(v, at)
}

// form reads the schema v itself.
func (r *formReader) form(v *value, at string) *Form {
	r.made++
	f := &Form{At: at, Kinds: KindAny}
	if v.kind == KindBoolean {
		if v.is("false") {
			f.Kinds = 0
		}
		return f
	}
	if why, cut := r.doc.kept.cut[v]; cut {
		r.change(at, "$ref", true, why)
	}
	only := r.doc.draft <= 7 && v.get("$ref") != nil // the reference replaces all else
	for _, k := range v.kids {
		if only && parts[k.name] > partQuiet {
			if k.name != "$ref" {
				r.change(at, k.name, false, "this draft ignores it beside $ref")
			}
			continue
		}
		r.keyword(f, v, k)
	}
	if k := v.get("required"); k != nil && !only {
		r.require(f, k)
	}
	r.settle(f, v)
	f = r.reference(f, v)
	if !only {
		f = r.late(r.combined(f, v), v)
		r.idle(f, v)
	}
	return f
}

// combined merges the schemas of allOf, anyOf and oneOf into f.
func (r *formReader) combined(f *Form, v *value) *Form {
	for _, k := range v.kids {
		switch k.name {
		case "allOf":
			f = r.allOf(f, k)
		case "anyOf", "oneOf":
			f = r.alternatives(f, v, k)
		}
	}
	return f
}

// allOf merges the schemas of k into f, one by one.
func (r *formReader) allOf(f *Form, k *value) *Form {
	var kept []json.RawMessage
	for i, branch := range k.kids {
		g := r.read(branch, child(f.At, "allOf", i))
		mark := r.mark()
		m, ok := r.merge(f, g)
		if !ok {
			r.undo(mark)
			kept = append(kept, raw(branch))
			continue
		}
		f = m
	}
	if len(kept) < len(k.kids) {
		r.change(f.At, "allOf", false, "merged into one schema")
	}
	if len(kept) > 0 {
		f = f.withRest(f.At, kept...)
	}
	return f
}

// withRest returns f with more schemas that must fit, as they are written.
func (f *Form) withRest(at string, schemas ...json.RawMessage) *Form {
	c := *f
	c.Rest = slices.Clone(f.Rest)
	i := slices.IndexFunc(c.Rest, func(k Keyword) bool { return k.Name == "allOf" && k.At == at })
	if i < 0 {
		i = len(c.Rest)
		c.Rest = append(c.Rest, Keyword{at, "allOf", json.RawMessage("[]")})
	}
	list := slices.Clone(c.Rest[i].Value[:len(c.Rest[i].Value)-1])
	for _, s := range schemas {
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, s...)
	}
	c.Rest[i].Value = append(list, ']')
	return &c
}

// rest keeps a keyword of f as it is written.
func (f *Form) rest(k *value, name string) {
	f.Rest = append(f.Rest, Keyword{f.At, name, raw(k)})
}

// raw returns the bytes of a value; the caller cannot write past them.
func raw(v *value) json.RawMessage { return json.RawMessage(slices.Clip(v.raw)) }
