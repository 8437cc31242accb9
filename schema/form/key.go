package form

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// distinct drops alternatives that are the same as another one. Exactly one of
// two that are the same never fits; ok is false if that cannot be told.
func distinct(list []*Form, one bool) (left []*Form, ok bool) {
	keys, count := keysOf(list), map[string]int{}
	for _, key := range keys {
		count[key]++
	}
	for i, f := range list {
		n := count[keys[i]]
		if keys[i] == "" {
			n = 1
		}
		switch {
		case one && n > 1 && overlaps(i, list, keys):
			return nil, false
		case n == 1, n > 1 && !one:
			left = append(left, f)
			count[keys[i]] = 0
		}
	}
	return left, true
}

// keysOf returns a text for each alternative, which those that are the same
// have in common; "" for those that are surely like no other.
func keysOf(list []*Form) []string {
	outlines := make([]outline, len(list))
	similar := map[outline]int{}
	for i, f := range list {
		outlines[i] = outlineOf(f)
		similar[outlines[i]]++
	}
	keys := make([]string, len(list))
	for i, f := range list {
		if similar[outlines[i]] > 1 {
			keys[i] = string(appendKey(nil, f))
		}
	}
	return keys
}

// An outline is the same for forms that are the same, and fast to make.
type outline struct {
	kinds, free   jsontree.Kinds
	ref           *Def
	members       int
	member, value string // the first ones
}

func outlineOf(f *Form) outline {
	o := outline{kinds: f.Kinds, free: f.freely(), ref: f.Ref}
	enum := f.Enum
	if f.Object != nil && len(f.Object.Properties) > 0 {
		first := f.Object.Properties[0]
		o.members, o.member = len(f.Object.Properties), first.Name
		enum = cmp.Or(enum, first.Form.Enum)
	}
	if enum != nil && len(enum.Values) > 0 {
		o.value = string(enum.Values[0])
	}
	return o
}

// overlaps reports whether the i-th form has a type in common with one that is
// not the same.
func overlaps(i int, list []*Form, keys []string) bool {
	for j, g := range list {
		if keys[j] != keys[i] && list[i].Kinds&g.Kinds != 0 {
			return true
		}
	}
	return false
}

// appendKey appends a text that equal forms have in common, whatever their notes.
func appendKey(b []byte, f *Form) []byte {
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
		b = appendKeys(appendKey(b, a.Items), a.Prefix)
	}
	if o := f.Object; o != nil {
		b = fmt.Appendf(b, " o%d,%d", o.MinProperties, o.MaxProperties)
		b = appendKey(b, o.Additional)
		for _, p := range o.Properties {
			b = fmt.Appendf(b, "%q%t%t", p.Name, p.Required, p.Bare)
			b = appendKey(b, p.Form)
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
	b = append(b, '[')
	for _, f := range list {
		b = appendKey(b, f)
	}
	return append(b, ']')
}

func appendKeywords(b []byte, list []Keyword) []byte {
	for _, k := range list {
		b = fmt.Appendf(b, " %q", []json.RawMessage{json.RawMessage(k.Name), k.Value})
	}
	return b
}
