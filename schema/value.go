package schema

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// kinds is a set of JSON types. A number is an integer or a fraction.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindInteger
	kindFraction
	kindString
	kindArray
	kindObject

	kindNumber = kindInteger | kindFraction
	kindAny    = kindNull | kindBoolean | kindNumber | kindString | kindArray | kindObject
)

// A value is JSON as a tree, for the paths where speed does not matter:
// schemas, and values that are known to be wrong.
type value struct {
	kind kinds
	raw  []byte   // the exact bytes
	name string   // the name, if it is a member of an object
	text string   // the text of a string
	kids []*value // items of an array, members of an object in order
}

// parseValue returns the tree of data, whose syntax must have been checked.
func parseValue(data []byte) *value {
	s := scanner{data: data}
	return s.value()
}

func (s *scanner) value() *value {
	c := s.peek()
	v := &value{}
	start := s.pos
	switch c {
	case '{':
		v.kind = kindObject
		s.pos++
		for s.peek() != '}' {
			name := s.decoded()
			s.peek()
			s.pos++ // the colon
			kid := s.value()
			kid.name = name
			v.kids = append(v.kids, kid)
			s.comma()
		}
		s.pos++
	case '[':
		v.kind = kindArray
		s.pos++
		for s.peek() != ']' {
			v.kids = append(v.kids, s.value())
			s.comma()
		}
		s.pos++
	case '"':
		v.kind, v.text = kindString, s.decoded()
	case 'n':
		v.kind = kindNull
		s.pos += len("null")
	case 't':
		v.kind = kindBoolean
		s.pos += len("true")
	case 'f':
		v.kind = kindBoolean
		s.pos += len("false")
	default:
		raw, plain, _ := s.number()
		v.kind = kindInteger
		if !plain && !parseDecimal(raw).isInteger() {
			v.kind = kindFraction
		}
	}
	v.raw = s.data[start:s.pos]
	return v
}

func (s *scanner) comma() {
	if s.peek() == ',' {
		s.pos++
	}
}

func (s *scanner) decoded() string {
	raw, escaped, _ := s.text()
	if escaped {
		raw = unescape(raw)
	}
	return string(raw)
}

// get returns the member of that name, nil if there is none. Of duplicates
// the last one counts, as it does for most readers.
func (v *value) get(name string) *value {
	for i := len(v.kids) - 1; i >= 0; i-- {
		if v.kind == kindObject && v.kids[i].name == name {
			return v.kids[i]
		}
	}
	return nil
}

func (v *value) is(word string) bool { return string(v.raw) == word }

// duplicates calls f with the JSON pointer of every repeated name.
func (v *value) duplicates(pointer string, f func(pointer string)) {
	seen := map[string]bool{}
	for i, kid := range v.kids {
		at := strconv.Itoa(i)
		if v.kind == kindObject {
			at = kid.name
			if seen[at] {
				f(pointer + "/" + escapePointer(at))
			}
			seen[at] = true
		}
		if len(kid.kids) > 0 {
			kid.duplicates(pointer+"/"+escapePointer(at), f)
		}
	}
}

// equal compares two values as JSON Schema does: numbers by value, objects
// whatever the order of their members.
func (v *value) equal(w *value) bool {
	switch {
	case v.kind != w.kind || len(v.kids) != len(w.kids):
		return false
	case v.kind&kindNumber != 0:
		return parseDecimal(v.raw) == parseDecimal(w.raw)
	case v.kind == kindString:
		return v.text == w.text
	case v.kind&(kindArray|kindObject) == 0:
		return bytes.Equal(v.raw, w.raw)
	}
	var byName map[string]*value
	if v.kind == kindObject {
		byName = make(map[string]*value, len(w.kids))
		for _, kid := range w.kids {
			byName[kid.name] = kid
		}
	}
	for i, kid := range v.kids {
		other := w.kids[i]
		if v.kind == kindObject {
			other = byName[kid.name]
		}
		if other == nil || !kid.equal(other) {
			return false
		}
	}
	return true
}

// decode returns v as encoding/json would have it, with exact numbers.
func (v *value) decode() any {
	switch v.kind {
	case kindObject:
		m := make(map[string]any, len(v.kids))
		for _, kid := range v.kids {
			m[kid.name] = kid.decode()
		}
		return m
	case kindArray:
		list := make([]any, len(v.kids))
		for i, kid := range v.kids {
			list[i] = kid.decode()
		}
		return list
	case kindString:
		return v.text
	case kindNull:
		return nil
	case kindBoolean:
		return v.raw[0] == 't'
	}
	return boundedNumber(v.raw)
}

// boundedNumber brings exponents into a range in which rational arithmetic is
// cheap. Nothing that a schema can tell apart changes: see the bounds that
// keywordFits allows.
func boundedNumber(raw []byte) json.Number {
	i := bytes.IndexAny(raw, "eE")
	if i < 0 {
		return json.Number(raw)
	}
	exp := max(-2*maxNumber, min(2*maxNumber, parseExp(raw[i+1:])))
	return json.Number(string(raw[:i]) + "e" + strconv.FormatInt(exp, 10))
}
