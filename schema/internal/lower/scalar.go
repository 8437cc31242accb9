package lower

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeString writes what f says for strings.
func writeString(l *lowering, f *form.Form) *node {
	n := l.typeNode("string")
	t := f.Text
	if t == nil {
		return n
	}
	writeFormat(l, n, f.At, "string", t.Format)
	if t.MinLength > 0 {
		constrain(l, n, f.At, "minLength", number(t.MinLength), "At least "+count(t.MinLength, "character")+".")
	}
	if t.MaxLength >= 0 {
		constrain(l, n, f.At, "maxLength", number(t.MaxLength), "At most "+count(t.MaxLength, "character")+".")
	}
	if t.Pattern != "" {
		writePattern(l, n, f.At, t.Pattern)
	}
	for _, k := range t.Content {
		constrain(l, n, k.At, k.Name, k.Value, restSentence(k))
	}
	return n
}

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// count is "1 character", "2 characters".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// writeFormat writes a format if it is taken for the type.
func writeFormat(l *lowering, n *node, at, typeName, format string) {
	switch {
	case format == "":
	case l.formatFits(typeName, format):
		n.set("format", quote(format))
	default:
		describe(l, n, at, "format", "Format: "+format+".")
	}
}

// writePattern writes a regular expression if its kind is taken.
func writePattern(l *lowering, n *node, at, pattern string) {
	if l.allows("pattern") && l.rules.PatternFits(pattern) {
		n.set("pattern", quote(pattern))
		return
	}
	sentence := "Pattern: " + pattern + " ."
	if len(pattern) > maxDescribed {
		sentence = ""
	}
	describe(l, n, at, "pattern", sentence)
}

// writeNumber writes what f says for numbers.
func writeNumber(l *lowering, f *form.Form, name string) *node {
	n := l.typeNode(name)
	r := f.Number
	if r == nil {
		return n
	}
	writeFormat(l, n, f.At, name, r.Format)
	for _, b := range []struct {
		keyword string
		value   json.Number
		words   string
	}{
		{"minimum", r.Minimum, "At least %s."}, {"maximum", r.Maximum, "At most %s."},
		{"exclusiveMinimum", r.ExclusiveMinimum, "More than %s."}, {"exclusiveMaximum", r.ExclusiveMaximum, "Less than %s."},
		{"multipleOf", r.MultipleOf, "A multiple of %s."},
	} {
		switch {
		case b.value == "":
		case isNoise(name, b.value) && !l.allows(b.keyword):
			l.lose(Widened, f.At, b.keyword, "not stated: it only excludes integers that JavaScript cannot represent exactly")
		case l.rules.Dialect == "openapi" && !isFloat(b.value): // its numbers are 64-bit floats
			describe(l, n, f.At, b.keyword, fmt.Sprintf(b.words, b.value))
		case writeNextInteger(l, n, f.At, name, b.keyword, b.value):
		default:
			constrain(l, n, f.At, b.keyword, json.RawMessage(b.value), fmt.Sprintf(b.words, b.value))
		}
	}
	return n
}

func isFloat(n json.Number) bool {
	_, err := n.Float64()
	return err == nil
}

// isNoise reports whether a bound is what generators write on every integer of
// a JavaScript number.
func isNoise(name string, bound json.Number) bool {
	return name == "integer" && strings.TrimPrefix(string(bound), "-") == "9007199254740991"
}

// writeNextInteger writes an exclusive bound of integers as an inclusive one,
// where only that is taken.
func writeNextInteger(l *lowering, n *node, at, name, keyword string, value json.Number) bool {
	step, inclusive := int64(1), "minimum"
	if keyword == "exclusiveMaximum" {
		step, inclusive = -1, "maximum"
	}
	i, err := strconv.ParseInt(string(value), 10, 53)
	if name != "integer" || err != nil || !strings.HasPrefix(keyword, "exclusive") ||
		l.allows(keyword) || !l.allows(inclusive) || n.get(inclusive) != nil {
		return false
	}
	n.set(inclusive, strconv.AppendInt(nil, i+step, 10))
	l.lose(Noop, at, keyword, "written as %s %d", inclusive, i+step)
	return true
}
