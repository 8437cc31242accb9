package form

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// mergeEnums gives m the values that a and b, of which each may be nil, have
// in common. Each is about some types only.
func mergeEnums(m *Form, a, b *Enum) {
	if a == nil || b == nil {
		m.Enum = cmp.Or(a, b).filterKinds(m.Kinds)
		return
	}
	inB := make(map[string]bool, len(b.Values))
	for _, v := range b.Values {
		inB[valueKey(v)] = true
	}
	e := &Enum{Kinds: a.Kinds | b.Kinds}
	var left jsontree.Kinds
	add := func(v json.RawMessage, kind jsontree.Kinds) {
		e.Values = append(e.Values, v)
		left |= kind
	}
	for _, v := range a.Values {
		if kind := jsontree.ExactKind(v); b.Kinds&kind == 0 || inB[valueKey(v)] {
			add(v, kind)
		}
	}
	for _, v := range b.Values {
		if kind := jsontree.ExactKind(v); a.Kinds&kind == 0 {
			add(v, kind)
		}
	}
	m.Kinds &^= e.Kinds &^ left
	m.Enum = e.filterKinds(m.Kinds)
}

// filterKinds returns an Enum of the values of e that are of some types, nil if
// there are none. e may be nil.
func (e *Enum) filterKinds(kinds jsontree.Kinds) *Enum {
	if e == nil || e.Kinds&^kinds == 0 {
		return e
	}
	c := &Enum{Kinds: e.Kinds & kinds}
	for _, v := range e.Values {
		if jsontree.ExactKind(v)&c.Kinds != 0 {
			c.Values = append(c.Values, v)
		}
	}
	if c.Kinds == 0 {
		return nil
	}
	return c
}

// withoutBooleans forgets true and false if both are listed: they are all
// booleans that there are. It returns nil if nothing is left.
func (e *Enum) withoutBooleans() *Enum {
	has := func(word string) bool {
		return slices.ContainsFunc(e.Values, func(v json.RawMessage) bool { return string(v) == word })
	}
	if e.Kinds&jsontree.KindBoolean == 0 || !has("true") || !has("false") {
		return e
	}
	return e.filterKinds(jsontree.KindAny &^ jsontree.KindBoolean)
}

// onlyLists reports whether f lists values and says nothing else.
func onlyLists(f *Form) bool {
	c := Form{Kinds: jsontree.KindAny, Number: f.Number, Text: f.Text, Array: f.Array, Object: f.Object, Alts: f.Alts, Ref: f.Ref, Rest: f.Rest}
	return f.Enum != nil && f.Kinds == f.Enum.Kinds && c.Any()
}

// joinLists makes one alternative of those that only list values. If one is
// set, ok is false if two of them list the same value.
func joinLists(list []*Form, one bool) (joined []*Form, ok bool) {
	lists := slices.DeleteFunc(slices.Clone(list), func(f *Form) bool { return !onlyLists(f) })
	if len(lists) < 2 {
		return list, true
	}
	e := &Enum{}
	seen := map[string]bool{}
	for _, f := range lists {
		for _, v := range f.Enum.Values {
			key := valueKey(v)
			if seen[key] && one {
				return nil, false
			}
			if !seen[key] {
				e.Values = append(e.Values, v)
				e.Kinds |= jsontree.ExactKind(v)
			}
			seen[key] = true
		}
	}
	all := &Form{At: lists[0].At, Kinds: e.Kinds, Enum: e.withoutBooleans()}
	all.Notes.Description = labels(lists)
	for _, f := range list {
		switch {
		case f == lists[0]:
			joined = append(joined, all)
		case !onlyLists(f):
			joined = append(joined, f)
		}
	}
	return joined, true
}

// labels describes the values of lists, "" if no schema describes them.
func labels(lists []*Form) string {
	var all []string
	for _, f := range lists {
		label := cmp.Or(f.Notes.Description, f.Notes.Title)
		if label == "" {
			continue
		}
		var names []string
		for _, v := range f.Enum.Values {
			name := string(v)
			if v[0] == '"' {
				name = jsontree.Read(v).Text
			}
			names = append(names, name)
		}
		all = append(all, strings.Join(names, ", ")+": "+label)
	}
	return strings.Join(all, "; ")
}

// valueKey returns a text that equal values have in common.
func valueKey(v json.RawMessage) string {
	if n, ascii := jsontree.LiteralText(v[1:]); v[0] == '"' && ascii && n == len(v)-2 {
		return string(v)
	}
	return jsontree.Key(jsontree.Read(v))
}
