package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// bothEnums returns the values that two enums of m have in common. Each is
// about some types only, or nil.
func (r *formReader) bothEnums(m *Form, a, b *EnumForm) *EnumForm {
	if a == nil || b == nil {
		return m.enumWithin(cmp.Or(a, b))
	}
	r.work += len(a.Values) + len(b.Values)
	inB := make(map[string]bool, len(b.Values))
	for _, v := range b.Values {
		inB[valueKey(v)] = true
	}
	e := &EnumForm{Kinds: a.Kinds | b.Kinds}
	for _, v := range a.Values {
		if b.Kinds&kindOfValue(v) == 0 || inB[valueKey(v)] {
			e.Values = append(e.Values, v)
		}
	}
	for _, v := range b.Values {
		if a.Kinds&kindOfValue(v) == 0 {
			e.Values = append(e.Values, v)
		}
	}
	var left Kinds
	for _, v := range e.Values {
		left |= kindOfValue(v)
	}
	m.Kinds &^= e.Kinds &^ left
	return m.enumWithin(e)
}

// enumWithin leaves the values of e whose types m has.
func (m *Form) enumWithin(e *EnumForm) *EnumForm {
	if e == nil || e.Kinds&^m.Kinds == 0 {
		return e
	}
	c := &EnumForm{Kinds: e.Kinds & m.Kinds}
	for _, v := range e.Values {
		if kindOfValue(v)&c.Kinds != 0 {
			c.Values = append(c.Values, v)
		}
	}
	if c.Kinds == 0 {
		return nil
	}
	return c
}

// kindOfValue returns the type of a JSON value.
func kindOfValue(v json.RawMessage) Kinds {
	if k := kindOf(v); k != KindNumber {
		return k
	}
	return parseValue(v).kind
}

// booleans forgets that both true and false are listed: they are all there are.
func (f *Form) booleans() {
	e := f.Enum
	if e == nil || e.Kinds&KindBoolean == 0 {
		return
	}
	has := func(word string) bool {
		return slices.ContainsFunc(e.Values, func(v json.RawMessage) bool { return string(v) == word })
	}
	if !has("true") || !has("false") {
		return
	}
	others := &Form{Kinds: f.Kinds &^ KindBoolean}
	f.Enum = others.enumWithin(e)
}

// onlyEnum says that f lists values and says nothing else.
func (f *Form) onlyEnum() bool {
	return f.Enum != nil && f.Kinds == f.Enum.Kinds && f.Number == nil && f.Text == nil && f.Array == nil && f.Object == nil &&
		f.Alts == nil && f.Ref == nil && f.Rest == nil
}

// mergeEnums makes one alternative of those that only list values. If one is
// set, values that two of them list do not fit; ok is false if that cannot be
// told without them.
func (r *formReader) mergeEnums(list []*Form, one bool) (merged []*Form, ok bool) {
	var enums []*Form
	var others Kinds
	at := 0
	for _, f := range list {
		switch {
		case !f.onlyEnum():
			others |= f.Kinds
			merged = append(merged, f)
		case len(enums) == 0:
			at = len(merged)
			fallthrough
		default:
			enums = append(enums, f)
		}
	}
	if len(enums) < 2 {
		return list, true
	}
	all, twice := together(enums, one)
	if twice&others != 0 {
		return nil, false
	}
	all.booleans()
	all.Notes.Description = labels(enums)
	if all.Kinds == 0 {
		return merged, true
	}
	return slices.Insert(merged, at, all), true
}

// together lists the values of all enums, without those listed twice if one is
// set. It returns the types of these.
func together(enums []*Form, one bool) (all *Form, twice Kinds) {
	seen := map[string]int{}
	for _, f := range enums {
		for _, v := range f.Enum.Values {
			seen[valueKey(v)]++
		}
	}
	all = &Form{At: enums[0].At, Enum: &EnumForm{}}
	for _, f := range enums {
		for _, v := range f.Enum.Values {
			k := valueKey(v)
			n := seen[k]
			if n > 1 && one {
				twice |= kindOfValue(v)
				continue
			}
			if n > 0 {
				all.Enum.Values = append(all.Enum.Values, v)
				all.Enum.Kinds |= kindOfValue(v)
			}
			seen[k] = -1
		}
	}
	if all.Kinds = all.Enum.Kinds; all.Kinds == 0 {
		all.Enum = nil
	}
	return all, twice
}

// labels tells what the values of enums mean, "" if no schema says so.
func labels(enums []*Form) string {
	var all []string
	for _, f := range enums {
		label := cmp.Or(f.Notes.Description, f.Notes.Title)
		if label == "" {
			continue
		}
		var names []string
		for _, v := range f.Enum.Values {
			name := string(v)
			if v[0] == '"' {
				name = parseValue(v).text
			}
			names = append(names, name)
		}
		all = append(all, strings.Join(names, ", ")+": "+label)
	}
	return strings.Join(all, "; ")
}

// valueKey returns a text that equal values have in common.
func valueKey(v json.RawMessage) string {
	if v[0] == '"' && special(v, 1) == len(v)-1 {
		return string(v)
	}
	return string(parseValue(v).appendKey(nil))
}

func (v *value) appendKey(b []byte) []byte {
	switch {
	case v.kind == KindString:
		return strconv.AppendQuote(b, v.text)
	case v.kind&KindNumber != 0:
		d := parseDecimal(v.raw)
		if d.neg {
			b = append(b, '-')
		}
		return strconv.AppendInt(append(d.appendDigits(b), 'e'), d.exp, 10)
	case v.kind == KindArray:
		b = append(b, '[')
		for _, kid := range v.kids {
			b = append(kid.appendKey(b), ',')
		}
		return append(b, ']')
	case v.kind == KindObject:
		kids := slices.Clone(v.kids)
		slices.SortStableFunc(kids, func(a, b *value) int { return strings.Compare(a.name, b.name) })
		b = append(b, '{')
		for _, kid := range kids {
			b = append(strconv.AppendQuote(b, kid.name), ':')
			b = append(kid.appendKey(b), ',')
		}
		return append(b, '}')
	}
	return append(b, v.raw...)
}
