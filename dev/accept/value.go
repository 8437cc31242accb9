package accept

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A value is one JSON value. Members keep their order, numbers their digits.
type value struct {
	kind    kind
	text    string // of a string or number
	truth   bool
	items   []*value
	members []member
	index   map[string]int // of many members, as they were read
}

type member struct {
	name  string
	value *value
}

type kind byte

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// parse reads one JSON value. It has no limit of depth but the stack's, so
// that hostile schemas can be judged too.
func parse(raw []byte) (*value, error) {
	tree, fault := jsontree.ParseLenient(raw, math.MaxInt)
	if fault != nil {
		return nil, fmt.Errorf("parse JSON: %w", fault)
	}
	return read(tree), nil
}

func read(tree *jsontree.Value) *value {
	switch tree.Kind {
	case jsontree.KindNull:
		return &value{}
	case jsontree.KindBoolean:
		return newBool(tree.Is("true"))
	case jsontree.KindString:
		return newText(tree.Text)
	case jsontree.KindArray:
		v := &value{kind: array}
		for _, item := range tree.Kids {
			v.items = append(v.items, read(item))
		}
		return v
	case jsontree.KindObject:
		v := &value{kind: object}
		for _, m := range tree.Kids {
			v.members = append(v.members, member{m.Name, read(m)})
		}
		if len(v.members) > 16 {
			v.index = make(map[string]int, len(v.members))
			for i, m := range v.members {
				v.index[m.name] = i
			}
		}
		return v
	}
	return &value{kind: number, text: string(tree.Raw)}
}

func newText(s string) *value { return &value{kind: text, text: s} }

func newNumber[N int | int64](n N) *value {
	return &value{kind: number, text: strconv.FormatInt(int64(n), 10)}
}

func newObject(members ...member) *value { return &value{kind: object, members: members} }

func newArray(items ...*value) *value { return &value{kind: array, items: items} }

func newBool(b bool) *value { return &value{kind: boolean, truth: b} }

// get returns the member of that name, nil if there is none. The last wins.
func (v *value) get(name string) *value {
	if v == nil || v.kind != object {
		return nil
	}
	if len(v.index) == len(v.members) && len(v.index) > 0 {
		if i, ok := v.index[name]; ok {
			return v.members[i].value
		}
		return nil
	}
	for i := len(v.members) - 1; i >= 0; i-- {
		if v.members[i].name == name {
			return v.members[i].value
		}
	}
	return nil
}

// set puts a member in the place of the one of that name, or at the end.
func (v *value) set(name string, to *value) {
	for i := range v.members {
		if v.members[i].name == name {
			v.members[i].value = to
			return
		}
	}
	v.members = append(v.members, member{name, to})
}

// is reports whether v is the string s.
func (v *value) is(s string) bool { return v != nil && v.kind == text && v.text == s }

// isObject reports whether v is one; nil is none.
func (v *value) isObject() bool { return v != nil && v.kind == object }

// texts returns the strings of an array, and whether it is one of strings only.
func (v *value) texts() ([]string, bool) {
	if v == nil || v.kind != array {
		return nil, false
	}
	all := make([]string, 0, len(v.items))
	for _, i := range v.items {
		if i.kind != text {
			return all, false
		}
		all = append(all, i.text)
	}
	return all, true
}

func (v *value) append(b []byte) []byte {
	switch v.kind {
	case boolean:
		return strconv.AppendBool(b, v.truth)
	case number:
		return append(b, v.text...)
	case text:
		return appendText(b, v.text)
	case array:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, m.name), ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func (v *value) raw() json.RawMessage { return v.append(nil) }

func appendText(b []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // strings always marshal
	return append(b, quoted...)
}

// plain returns v as the validator wants it.
func (v *value) plain() any {
	switch v.kind {
	case boolean:
		return v.truth
	case number:
		return json.Number(v.text)
	case text:
		return v.text
	case array:
		all := make([]any, 0, len(v.items))
		for _, i := range v.items {
			all = append(all, i.plain())
		}
		return all
	case object:
		all := make(map[string]any, len(v.members))
		for _, m := range v.members {
			all[m.name] = m.value.plain()
		}
		return all
	}
	return nil
}

// computable reports whether all numbers can be distinguished exactly: a huge
// exponent would be a number of as many digits, and ends the validator.
func (v *value) computable() bool {
	if v.kind == number {
		_, exponent, _ := strings.Cut(strings.ToLower(v.text), "e")
		return len(strings.TrimLeft(exponent, "+-")) < 5
	}
	for _, i := range v.items {
		if !i.computable() {
			return false
		}
	}
	for _, m := range v.members {
		if !m.value.computable() {
			return false
		}
	}
	return true
}
