package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// single returns one form for all alternatives, nil if there is none: two of
// them have rules for one type.
func (r *formReader) single(list []*Form) *Form {
	if len(list) == 0 {
		return nil
	}
	for _, group := range [...]Kinds{KindBoolean, KindNumber, KindString, KindArray, KindObject} {
		in, ruled := 0, false
		for _, f := range list {
			if f.Kinds&group != 0 {
				in++
				ruled = ruled || f.freely()&group != f.Kinds&group
			}
		}
		if in > 1 && ruled {
			return nil
		}
	}
	if len(list) == 1 || slices.ContainsFunc(list, func(f *Form) bool { return !f.whole() }) {
		return nil
	}
	m := &Form{At: list[0].At}
	var texts []string
	for _, f := range list {
		m.Kinds |= f.Kinds
		m.Number, m.Text = cmp.Or(m.Number, f.Number), cmp.Or(m.Text, f.Text)
		m.Array, m.Object = cmp.Or(m.Array, f.Array), cmp.Or(m.Object, f.Object)
		m.Rest = slices.Concat(m.Rest, f.Rest)
		m.Notes.Examples = slices.Concat(m.Notes.Examples, f.Notes.Examples)
		if text := f.Notes.Description; text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		if f.Enum != nil && m.Enum == nil {
			m.Enum = &EnumForm{}
		}
		if f.Enum != nil {
			m.Enum.Kinds |= f.Enum.Kinds
			m.Enum.Values = slices.Concat(m.Enum.Values, f.Enum.Values)
		}
	}
	m.Notes.Description = strings.Join(texts, "; ")
	return m
}

// join makes a form of alternatives that take no null.
func (r *formReader) join(list []*Form, null, one bool) *Form {
	switch {
	case len(list) == 0 && null:
		return &Form{Kinds: KindNull}
	case len(list) == 0:
		return &Form{}
	case len(list) == 1 && !null:
		return list[0]
	case len(list) == 1:
		f := *list[0]
		if f.Ref != nil && f.Ref.Form != nil && f.Ref.Form.scalar() {
			if p, ok := r.plain(&f); ok {
				f = *p
			}
		}
		if f.Ref == nil && !f.general() {
			f.Kinds |= KindNull
			return &f
		}
		list = []*Form{&f}
	}
	f := &Form{Alts: &Union{Forms: list, One: one && len(list) > 1, Tag: tagOf(list)}}
	for _, g := range list {
		f.Kinds |= g.Kinds
	}
	if null {
		f.Kinds |= KindNull
	}
	return f
}

// scalar says that f has no parts.
func (f *Form) scalar() bool {
	return f.Array == nil && f.Object == nil && f.Alts == nil && f.Ref == nil
}

// distinct drops alternatives that are the same as another one. Exactly one of
// two that are the same never fits.
func (r *formReader) distinct(list []*Form, one bool) (left []*Form, ok bool) {
	if len(list) < 2 {
		return list, true
	}
	type outline struct {
		kinds, has Kinds
		members    int
		ref        *Def
	}
	similar := map[outline]int{}
	outlines := make([]outline, len(list))
	for i, f := range list {
		o := outline{kinds: f.Kinds, has: f.freely(), ref: f.Ref}
		if f.Object != nil {
			o.members = len(f.Object.Properties)
		}
		outlines[i] = o
		similar[o]++
	}
	count := map[string]int{}
	keys := make([]string, len(list))
	for i, f := range list {
		if similar[outlines[i]] > 1 {
			keys[i] = string(f.appendKey(nil))
			count[keys[i]]++
		}
	}
	for i, f := range list {
		switch n := count[keys[i]]; {
		case keys[i] == "" || n == 1:
			left = append(left, f)
		case one && overlaps(f, list, keys, i):
			return nil, false
		case !one && n > 1:
			left = append(left, f)
			count[keys[i]] = -1
		}
	}
	return left, true
}

// overlaps says that f, the i-th of list, has a type in common with one that
// is not the same.
func overlaps(f *Form, list []*Form, keys []string, i int) bool {
	for j, g := range list {
		if keys[j] != keys[i] && f.Kinds&g.Kinds != 0 {
			return true
		}
	}
	return false
}

// appendKey appends a text that equal rules have in common, whatever the notes.
func (f *Form) appendKey(b []byte) []byte {
	if f == nil {
		return append(b, '-')
	}
	b = fmt.Appendf(b, "(%d %p", f.Kinds, f.Ref)
	if f.Number != nil {
		b = fmt.Appendf(b, " n%q", *f.Number)
	}
	if t := f.Text; t != nil {
		b = fmt.Appendf(b, " t%d,%d%q%q", t.MinLength, t.MaxLength, t.Pattern, t.Format)
		b = appendKeywords(b, t.Content)
	}
	if a := f.Array; a != nil {
		b = fmt.Appendf(b, " a%d,%d,%t", a.MinItems, a.MaxItems, a.Unique)
		b = appendKeys(a.Items.appendKey(b), a.Prefix)
	}
	if o := f.Object; o != nil {
		b = fmt.Appendf(b, " o%d,%d", o.MinProperties, o.MaxProperties)
		b = o.Additional.appendKey(b)
		for _, p := range o.Properties {
			b = fmt.Appendf(b, "%q%t%t", p.Name, p.Required, p.Bare)
			b = p.Form.appendKey(b)
		}
	}
	if f.Enum != nil {
		b = fmt.Appendf(b, " e%d%q", f.Enum.Kinds, f.Enum.Values)
	}
	if f.Alts != nil {
		b = fmt.Appendf(b, " u%t", f.Alts.One)
		b = appendKeys(b, f.Alts.Forms)
	}
	return append(appendKeywords(b, f.Rest), ')')
}

func appendKeys(b []byte, list []*Form) []byte {
	for _, f := range list {
		b = f.appendKey(b)
	}
	return b
}

func appendKeywords(b []byte, list []Keyword) []byte {
	for _, k := range list {
		b = fmt.Appendf(b, " %q", []json.RawMessage{json.RawMessage(k.Name), k.Value})
	}
	return b
}
