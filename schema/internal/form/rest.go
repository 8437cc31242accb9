package form

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// general reports whether f has a Rest that may be about all types.
func (f *Form) general() bool {
	return slices.ContainsFunc(f.Rest, func(k Keyword) bool { return shape.About(k.Name) == 0 })
}

// mask reports whether f looks at the type of values only.
func (f *Form) mask() bool {
	c := *f
	c.Kinds = jsontree.KindAny
	return c.Any()
}

// onlyRefers reports whether f is a reference and nothing else.
func (f *Form) onlyRefers() bool {
	c := *f
	c.Ref = nil
	return f.Ref != nil && c.mask()
}

// withKeyword returns f with a keyword as it is written.
func (f *Form) withKeyword(k *jsontree.Value, name string) *Form { return f.with(name, raw(k)) }

// with returns f with a keyword that it cannot express.
func (f *Form) with(name string, value json.RawMessage) *Form {
	c := *f
	c.Rest = append(slices.Clip(f.Rest), Keyword{f.At, name, value})
	return &c
}

// withNotes returns f with other notes.
func withNotes(f *Form, notes Notes) *Form {
	c := *f
	c.Notes = notes
	return &c
}

// raw returns the bytes of a value; what is appended to them goes elsewhere.
func raw(v *jsontree.Value) json.RawMessage { return json.RawMessage(slices.Clip(v.Raw)) }

func raws(list []*jsontree.Value) []json.RawMessage {
	all := make([]json.RawMessage, len(list))
	for i, v := range list {
		all[i] = raw(v)
	}
	return all
}

// empty reports whether there are no notes.
func (n Notes) empty() bool {
	return n.Title == "" && n.Description == "" && n.Default == nil && n.Examples == nil && n.Others == nil
}

// Over returns the notes of a, and those of b that a does not have.
func (a Notes) Over(b Notes) Notes {
	if b.empty() {
		return a
	}
	if a.Title == "" {
		a.Title = b.Title
	}
	if a.Description == "" {
		a.Description = b.Description
	}
	if a.Default == nil {
		a.Default = b.Default
	}
	if a.Examples == nil {
		a.Examples = b.Examples
	}
	own := slices.Clip(a.Others)
	for _, k := range b.Others {
		if !slices.ContainsFunc(own, func(o Keyword) bool { return o.Name == k.Name }) {
			a.Others = append(slices.Clip(a.Others), k)
		}
	}
	return a
}

// trim drops what is about types that do not fit f, and rules that say nothing.
func (f *Form) trim() {
	if impossible(f.Object) {
		f.Kinds &^= jsontree.KindObject
	}
	if f.Kinds == 0 {
		*f = Form{At: f.At, Notes: f.Notes}
		return
	}
	f.Enum = f.Enum.filterKinds(f.Kinds)
	if len(f.Rest) > 0 && f.Kinds != jsontree.KindAny {
		f.Rest = slices.DeleteFunc(slices.Clone(f.Rest), func(k Keyword) bool {
			about := shape.About(k.Name)
			return about != 0 && about&f.Kinds == 0
		})
	}
	f.trimRules()
}

func (f *Form) trimRules() {
	if f.Kinds&jsontree.KindNumber == 0 || f.Number != nil && *f.Number == (Number{}) {
		f.Number = nil
	}
	if f.Kinds&jsontree.KindString == 0 || f.Text.isEmpty() {
		f.Text = nil
	}
	if f.Kinds&jsontree.KindArray == 0 || f.Array.isEmpty() {
		f.Array = nil
	}
	if f.Kinds&jsontree.KindObject == 0 {
		f.Object = nil
	}
}

// impossible reports whether no object matches: a required property accepts no
// value.
func impossible(o *Object) bool {
	return o != nil && slices.ContainsFunc(o.Properties, func(p Property) bool { return p.Required && p.Form.Kinds == 0 })
}

// isEmpty reports whether t has no rules: every text matches it.
func (t *Text) isEmpty() bool {
	return t == nil || len(t.Content) == 0 && t.MinLength == 0 && t.MaxLength < 0 && t.Pattern == "" && t.Format == ""
}

// isEmpty reports whether a has no rules: every array matches it.
func (a *Array) isEmpty() bool {
	return a == nil || a.Prefix == nil && a.Items == nil && a.MinItems == 0 && a.MaxItems < 0 && !a.Unique
}

// isEmpty reports whether o has no rules: every object matches it.
func (o *Object) isEmpty() bool {
	return o == nil || o.Properties == nil && o.Additional == nil && o.MinProperties == 0 && o.MaxProperties < 0
}
