package schema

import (
	"bytes"
	"slices"
	"strconv"
)

// A value is JSON as a tree, for the paths where speed does not matter:
// schemas, and values that are known to be wrong.
type value struct {
	kind Kinds
	raw  []byte   // the exact bytes
	name string   // the name, if it is a member of an object
	text string   // the text of a string
	kids []*value // items of an array, members of an object in order
}

// parseValue returns the tree of data, whose syntax must have been checked.
func parseValue(data []byte) *value {
	r := reader{scanner{data: data}}
	return r.value()
}

// A reader makes trees. It relies on the syntax.
type reader struct{ scanner }

func (r *reader) value() *value {
	c := r.peek()
	v := &value{}
	start := r.pos
	switch c {
	case '{':
		v.kind = KindObject
		r.kids(v, '}')
	case '[':
		v.kind = KindArray
		r.kids(v, ']')
	case '"':
		v.kind, v.text = KindString, r.string()
	case 'n':
		v.kind = KindNull
		r.pos += len("null")
	case 't':
		v.kind = KindBoolean
		r.pos += len("true")
	case 'f':
		v.kind = KindBoolean
		r.pos += len("false")
	default:
		raw, plain, _ := r.number()
		v.kind = KindInteger
		if !plain && !parseDecimal(raw).isInteger() {
			v.kind = KindFraction
		}
	}
	v.raw = r.data[start:r.pos]
	return v
}

// kids reads the items of an array or the members of an object.
func (r *reader) kids(v *value, closing byte) {
	r.pos++
	more := r.peek() != closing
	if !more {
		r.pos++
	}
	for more {
		name := ""
		if closing == '}' {
			raw, _ := r.name()
			name = string(raw)
		}
		kid := r.value()
		kid.name = name
		v.kids = append(v.kids, kid)
		more, _ = r.more(closing)
	}
}

func (r *reader) string() string {
	raw, escaped, _ := r.text()
	if escaped {
		raw = unescape(raw)
	}
	return string(raw)
}

// get returns the member of that name, nil if there is none. Of duplicates
// the last one counts, as it does for most readers.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for i := len(v.kids) - 1; i >= 0; i-- {
		if v.kind == KindObject && v.kids[i].name == name {
			return v.kids[i]
		}
	}
	return nil
}

// drop removes the member of that name.
func (v *value) drop(name string) {
	v.kids = slices.DeleteFunc(v.kids, func(kid *value) bool { return kid.name == name })
}

// set replaces the member of that name.
func (v *value) set(name, raw string) {
	v.drop(name)
	k := parseValue([]byte(raw))
	k.name = name
	v.kids = append(v.kids, k)
}

func (v *value) is(word string) bool { return string(v.raw) == word }

// duplicates calls f with the JSON pointer of every repeated name in v.
func duplicates(v *value, pointer string, f func(pointer string)) {
	seen := map[string]bool{}
	for i, kid := range v.kids {
		at := strconv.Itoa(i)
		if v.kind == KindObject {
			at = kid.name
			if seen[at] {
				f(pointer + "/" + escapePointer(at))
			}
			seen[at] = true
		}
		if len(kid.kids) > 0 {
			duplicates(kid, pointer+"/"+escapePointer(at), f)
		}
	}
}

// repeated returns the indexes of two equal items of an array, -1 if there are
// none.
func repeated(list *value) (first, second int) {
	seen := make(map[string]int, len(list.kids))
	for i, kid := range list.kids {
		key := string(kid.appendKey(nil))
		if before, ok := seen[key]; ok {
			return before, i
		}
		seen[key] = i
	}
	return -1, -1
}

// equal compares two values as JSON Schema does: numbers by value, objects
// whatever the order of their members.
func (v *value) equal(w *value) bool {
	switch {
	case v.kind != w.kind || len(v.kids) != len(w.kids):
		return false
	case v.kind&KindNumber != 0:
		return parseDecimal(v.raw) == parseDecimal(w.raw)
	case v.kind == KindString:
		return v.text == w.text
	case v.kind&(KindArray|KindObject) == 0:
		return bytes.Equal(v.raw, w.raw)
	}
	var byName map[string]*value
	if v.kind == KindObject {
		byName = make(map[string]*value, len(w.kids))
		for _, kid := range w.kids {
			byName[kid.name] = kid
		}
	}
	for i, kid := range v.kids {
		other := w.kids[i]
		if v.kind == KindObject {
			other = byName[kid.name]
		}
		if other == nil || !kid.equal(other) {
			return false
		}
	}
	return true
}
