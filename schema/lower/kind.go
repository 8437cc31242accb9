package lower

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// typesOf names the types of kinds, as a schema does.
func typesOf(k schema.Kinds) []string {
	var types []string
	for _, t := range []struct {
		kind schema.Kinds
		name string
	}{
		{schema.KindNull, "null"}, {schema.KindBoolean, "boolean"}, {schema.KindNumber, "number"},
		{schema.KindString, "string"}, {schema.KindArray, "array"}, {schema.KindObject, "object"},
	} {
		switch {
		case k&t.kind == 0:
		case t.name == "number" && k&schema.KindFraction == 0:
			types = append(types, "integer")
		default:
			types = append(types, t.name)
		}
	}
	return types
}

// kindsOf is the other way.
func kindsOf(types ...string) (all schema.Kinds) {
	for _, name := range types {
		switch name {
		case "null":
			all |= schema.KindNull
		case "boolean":
			all |= schema.KindBoolean
		case "integer":
			all |= schema.KindInteger
		case "number":
			all |= schema.KindNumber
		case "string":
			all |= schema.KindString
		case "array":
			all |= schema.KindArray
		default:
			all |= schema.KindObject
		}
	}
	return all
}

// kindOf returns the kind of a value. A number with a fraction of zero is an integer.
func kindOf(src []byte) schema.Kinds {
	if len(src) == 0 {
		return 0
	}
	switch src[0] {
	case '{':
		return schema.KindObject
	case '[':
		return schema.KindArray
	case '"':
		return schema.KindString
	case 't', 'f':
		return schema.KindBoolean
	case 'n':
		return schema.KindNull
	}
	if isInteger(string(src)) {
		return schema.KindInteger
	}
	return schema.KindFraction
}

// kind returns the kind of the value that comes next.
func (x *trip) kind() schema.Kinds {
	q := x.parser
	switch q.peek() {
	case '{', '[', '"':
		return kindOf(q.src[q.pos : q.pos+1])
	}
	return kindOf(q.value())
}

const nested = schema.KindArray | schema.KindObject

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
