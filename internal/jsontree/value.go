// Package jsontree reads foreign JSON: as tokens, without
// allocating, or as a tree that keeps the order of members and the digits of
// numbers. Numbers are compared exactly.
package jsontree

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Value is JSON as a tree. Members keep their order, numbers their digits.
type Value struct {
	Kind  Kinds
	Raw   []byte   // the exact bytes
	Start int      // where they begin in what was parsed
	Name  string   // the name, if it is a member of an object
	Text  string   // the text of a string
	Kids  []*Value // items of an array, members of an object in order

	index map[string]*Value // of the members of a large object, once one was asked for
}

// A SyntaxError says where data stops being JSON.
type SyntaxError struct {
	Expected, Got string
	Offset        int
}

func (e *SyntaxError) Error() string { return "expected " + e.Expected + ", got " + e.Got }

// Parse returns the tree of data, which may be nested so many levels deep.
// Repeated names are let pass.
func Parse(data []byte, levels int) (*Value, *SyntaxError) {
	r := reader{Scanner: Scanner{Data: data}, levels: levels}
	return r.all()
}

// ParseLenient is [Parse] for data with invalid UTF-8 or halves of surrogate pairs:
// texts have U+FFFD in their place.
func ParseLenient(data []byte, levels int) (*Value, *SyntaxError) {
	r := reader{Scanner: Scanner{Data: data, Lenient: true}, levels: levels}
	return r.all()
}

// Read returns the tree of data whose syntax was checked, an empty one if
// it was not and is wrong.
func Read(data []byte) *Value {
	v, err := Parse(data, math.MaxInt)
	if err != nil {
		return &Value{}
	}
	return v
}

// A reader makes trees.
type reader struct {
	Scanner
	levels int // how many more may follow
}

func (r *reader) all() (*Value, *SyntaxError) {
	v := &Value{}
	if r.value(v) && r.End() {
		return v, nil
	}
	got := "the end of the data"
	if r.Pos < len(r.Data) {
		got = strconv.Quote(Clip(string(r.Data[r.Pos:min(len(r.Data), r.Pos+40)]), 20))
	}
	return nil, &SyntaxError{r.want, got + " at byte " + strconv.Itoa(r.Pos) + "; it is not JSON", r.Pos}
}

// value reads the next value into v.
func (r *reader) value(v *Value) bool {
	c := r.Peek()
	v.Start = r.Pos
	ok := false
	switch c {
	case '{':
		v.Kind, ok = KindObject, r.inside(v, '}')
	case '[':
		v.Kind, ok = KindArray, r.inside(v, ']')
	case '"':
		v.Kind = KindString
		v.Text, ok = r.string()
	case 'n':
		v.Kind, ok = KindNull, r.Literal("null")
	case 't':
		v.Kind, ok = KindBoolean, r.Literal("true")
	case 'f':
		v.Kind, ok = KindBoolean, r.Literal("false")
	default:
		ok = r.numeric(v, c)
	}
	v.Raw = r.Data[v.Start:r.Pos]
	return ok
}

func (r *reader) numeric(v *Value, first byte) bool {
	if first != '-' && first-'0' > 9 {
		return r.Fail("a value")
	}
	raw, plain, ok := r.Number()
	v.Kind = KindInteger
	if ok && !plain && !ParseDecimal(raw).IsInteger() {
		v.Kind = KindFraction
	}
	return ok
}

// inside reads the items of an array or the members of an object.
func (r *reader) inside(v *Value, closing byte) bool {
	if r.levels == 0 {
		return r.Fail("no deeper nesting")
	}
	r.levels--
	r.Pos++
	more, ok := r.Peek() != closing, true
	if !more {
		r.Pos++
	}
	for more && ok {
		kid := &Value{}
		if closing == '}' {
			kid.Name, ok = r.memberName()
		}
		if ok = ok && r.value(kid); ok {
			v.Kids = append(v.Kids, kid)
			more, ok = r.More(closing)
		}
	}
	r.levels++
	return ok
}

// memberName reads a name and the colon behind it.
func (r *reader) memberName() (string, bool) {
	if r.Peek() != '"' {
		return "", r.Fail("a quoted name")
	}
	name, ok := r.string()
	if !ok {
		return "", false
	}
	if r.Peek() != ':' {
		return "", r.Fail(`":"`)
	}
	r.Pos++
	return name, true
}

func (r *reader) string() (string, bool) {
	start := r.Pos
	raw, escaped, ok := r.Text()
	switch {
	case ok && r.Lenient:
		raw, _ = jsontext.AppendUnquote(nil, r.Data[start:r.Pos]) // its only error is the replacement of what is not Unicode
	case ok && escaped:
		raw = Unescape(raw)
	}
	return string(raw), ok
}

// Get returns the member of that name, nil if there is none, or if v is nil or
// not an object. Of duplicates the last one counts, as it does for most readers.
func (v *Value) Get(name string) *Value {
	if v == nil || v.Kind != KindObject {
		return nil
	}
	if len(v.Kids) > 32 {
		if v.index == nil {
			v.index = make(map[string]*Value, len(v.Kids))
			for _, kid := range v.Kids {
				v.index[kid.Name] = kid
			}
		}
		return v.index[name]
	}
	for i := len(v.Kids) - 1; i >= 0; i-- {
		if v.Kids[i].Name == name {
			return v.Kids[i]
		}
	}
	return nil
}

// Items returns the items of an array, none of nil or anything else.
func (v *Value) Items() []*Value {
	if v == nil || v.Kind != KindArray {
		return nil
	}
	return v.Kids
}

// Members returns the members of an object, none of nil or anything else.
func (v *Value) Members() []*Value {
	if v == nil || v.Kind != KindObject {
		return nil
	}
	return v.Kids
}

// Drop removes the member of that name.
func (v *Value) Drop(name string) {
	v.index = nil
	v.Kids = slices.DeleteFunc(v.Kids, func(kid *Value) bool { return kid.Name == name })
}

// Set replaces the member of that name.
func (v *Value) Set(name, raw string) {
	v.Drop(name)
	v.add(name, Read([]byte(raw)))
}

// add appends a member.
func (v *Value) add(name string, kid *Value) {
	v.index = nil
	kid.Name = name
	v.Kids = append(v.Kids, kid)
}

// Rename gives a member another name.
func (v *Value) Rename(kid *Value, name string) {
	v.index = nil
	kid.Name = name
}

// KeepLast removes all but the last of members with one name, and calls f for
// each that it removes.
func (v *Value) KeepLast(f func(name string)) {
	last := make(map[string]*Value, len(v.Kids))
	for _, kid := range v.Kids {
		if last[kid.Name] != nil {
			f(kid.Name)
		}
		last[kid.Name] = kid
	}
	if len(last) < len(v.Kids) {
		v.index = nil
		v.Kids = slices.DeleteFunc(v.Kids, func(kid *Value) bool { return last[kid.Name] != kid })
	}
}

// IsText reports whether v is the string s.
func (v *Value) IsText(s string) bool { return v != nil && v.Kind == KindString && v.Text == s }

// Is reports whether v is written as exactly this text.
func (v *Value) Is(word string) bool { return string(v.Raw) == word }

// Duplicates calls f with the JSON pointer of every repeated name in v.
func Duplicates(v *Value, pointer string, f func(pointer string)) {
	seen := map[string]bool{}
	for i, kid := range v.Kids {
		at := strconv.Itoa(i)
		if v.Kind == KindObject {
			at = kid.Name
			if seen[at] {
				f(pointer + "/" + EscapePointer(at))
			}
			seen[at] = true
		}
		if len(kid.Kids) > 0 {
			Duplicates(kid, pointer+"/"+EscapePointer(at), f)
		}
	}
}

// Repeated returns the indexes of two equal items of an array, -1 if there are
// none.
func Repeated(list *Value) (first, second int) {
	seen := make(map[string]int, len(list.Kids))
	for i, kid := range list.Kids {
		key := Key(kid)
		if before, ok := seen[key]; ok {
			return before, i
		}
		seen[key] = i
	}
	return -1, -1
}

// Equal compares two values as JSON Schema does: numbers by value, objects
// whatever the order of their members.
func (v *Value) Equal(w *Value) bool {
	switch {
	case v.Kind != w.Kind || len(v.Kids) != len(w.Kids):
		return false
	case v.Kind&KindNumber != 0:
		return ParseDecimal(v.Raw) == ParseDecimal(w.Raw)
	case v.Kind == KindString:
		return v.Text == w.Text
	case v.Kind&(KindArray|KindObject) == 0:
		return bytes.Equal(v.Raw, w.Raw)
	}
	var byName map[string]*Value
	if v.Kind == KindObject {
		byName = make(map[string]*Value, len(w.Kids))
		for _, kid := range w.Kids {
			byName[kid.Name] = kid
		}
	}
	for i, kid := range v.Kids {
		other := w.Kids[i]
		if v.Kind == KindObject {
			other = byName[kid.Name]
		}
		if other == nil || !kid.Equal(other) {
			return false
		}
	}
	return true
}

// Key returns a text that equal values have in common.
func Key(v *Value) string { return string(v.appendKey(nil)) }

// appendKey appends a text that only values which are equal to v have.
func (v *Value) appendKey(b []byte) []byte {
	switch {
	case v.Kind == KindString:
		b, _ = jsontext.AppendQuote(b, v.Text)
	case v.Kind&KindNumber != 0:
		d := ParseDecimal(v.Raw)
		if d.neg {
			b = append(b, '-')
		}
		b = strconv.AppendInt(append(d.appendDigits(b), 'e'), d.Exp, 10)
	case v.Kind == KindArray:
		b = append(b, '[')
		for _, kid := range v.Kids {
			b = append(kid.appendKey(b), ',')
		}
		b = append(b, ']')
	case v.Kind == KindObject:
		kids := slices.Clone(v.Kids)
		slices.SortStableFunc(kids, func(a, b *Value) int { return strings.Compare(a.Name, b.Name) })
		b = append(b, '{')
		for _, kid := range kids {
			b, _ = jsontext.AppendQuote(b, kid.Name)
			b = append(kid.appendKey(append(b, ':')), ',')
		}
		b = append(b, '}')
	default:
		b = append(b, v.Raw...)
	}
	return b
}

// Canonical returns a text that all spellings of a JSON value have in common:
// the order of members and white space do not matter. Nothing is the empty
// object. Invalid JSON stays as it is.
func Canonical(raw []byte) string {
	const levels = 1000
	if len(raw) == 0 {
		return "{}"
	}
	v, fault := Parse(raw, levels)
	if fault != nil {
		return string(raw)
	}
	return Key(v)
}
