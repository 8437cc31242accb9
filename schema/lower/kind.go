package lower

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// typesOf names the types of kinds, as a schema does.
func typesOf(k jsontree.Kinds) []string {
	var types []string
	for _, t := range []struct {
		kind jsontree.Kinds
		name string
	}{
		{jsontree.KindNull, "null"}, {jsontree.KindBoolean, "boolean"}, {jsontree.KindNumber, "number"},
		{jsontree.KindString, "string"}, {jsontree.KindArray, "array"}, {jsontree.KindObject, "object"},
	} {
		switch {
		case k&t.kind == 0:
		case t.name == "number" && k&jsontree.KindFraction == 0:
			types = append(types, "integer")
		default:
			types = append(types, t.name)
		}
	}
	return types
}

// kindsOf is the other way.
func kindsOf(types ...string) (all jsontree.Kinds) {
	for _, name := range types {
		switch name {
		case "null":
			all |= jsontree.KindNull
		case "boolean":
			all |= jsontree.KindBoolean
		case "integer":
			all |= jsontree.KindInteger
		case "number":
			all |= jsontree.KindNumber
		case "string":
			all |= jsontree.KindString
		case "array":
			all |= jsontree.KindArray
		default:
			all |= jsontree.KindObject
		}
	}
	return all
}

// kindOf returns the kind of a value. A number with a fraction of zero is an integer.
func kindOf(src []byte) jsontree.Kinds {
	if len(src) == 0 {
		return 0
	}
	switch src[0] {
	case '{':
		return jsontree.KindObject
	case '[':
		return jsontree.KindArray
	case '"':
		return jsontree.KindString
	case 't', 'f':
		return jsontree.KindBoolean
	case 'n':
		return jsontree.KindNull
	}
	if isInteger(string(src)) {
		return jsontree.KindInteger
	}
	return jsontree.KindFraction
}

// kind returns the kind of the value that comes next.
func (x *trip) kind() jsontree.Kinds {
	q := x.parser
	switch q.peek() {
	case '{', '[', '"':
		return kindOf(q.src[q.pos : q.pos+1])
	}
	return kindOf(q.value())
}

const nested = jsontree.KindArray | jsontree.KindObject

func isNull(src []byte) bool { return string(src) == "null" }

// isInteger reports whether a JSON number has no fraction, however it is
// written.
func isInteger(s string) bool {
	i := strings.IndexAny(s, "eE")
	if i < 0 && !strings.Contains(s, ".") {
		return true
	}
	exponent := 0
	if i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(s[i+1:]); err != nil { // it is huge
			return !strings.HasPrefix(s[i+1:], "-")
		}
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := strings.TrimRight(whole+fraction, "0")
	return strings.Trim(digits, "0") == "" || len(digits) <= len(whole)+exponent
}

// isNumber reports whether s is exactly a JSON number.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
