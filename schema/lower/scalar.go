package lower

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// string writes what f says for strings.
func (l *lowering) string(f *schema.Form) (*node, codec) {
	n := typed(l.typeName("string"))
	t := f.Text
	if t == nil {
		return n, nil
	}
	if t.Format != "" {
		l.format(n, f.At, "string", t.Format)
	}
	if t.MinLength > 0 {
		l.constraint(n, f.At, "minLength", number(t.MinLength), "At least "+count(t.MinLength, "character")+".")
	}
	if t.MaxLength >= 0 {
		l.constraint(n, f.At, "maxLength", number(t.MaxLength), "At most "+count(t.MaxLength, "character")+".")
	}
	if t.Pattern != "" {
		l.pattern(n, f.At, t.Pattern)
	}
	for _, k := range t.Content {
		if l.allows(k.Name) {
			n.set(k.Name, k.Value)
		} else {
			l.describe(n, k.At, k.Name, restSentence(k))
		}
	}
	return n, nil
}

func number(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// count is "1 character", "2 characters".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// format writes a format if it is taken for the type.
func (l *lowering) format(n *node, at, typeName, format string) {
	list, limited := l.rules.Formats[typeName]
	if l.allows("format") && (l.rules.Formats == nil || limited && slices.Contains(list, format)) {
		n.set("format", quote(format))
		return
	}
	l.describe(n, at, "format", "Format: "+format+".")
}

// pattern writes a regular expression if its kind is taken.
func (l *lowering) pattern(n *node, at, pattern string) {
	if l.allows("pattern") && PatternFits(l.rules.Pattern, pattern) {
		n.set("pattern", quote(pattern))
		return
	}
	sentence := "Pattern: " + pattern + " ."
	if len(pattern) > maxTold {
		sentence = ""
	}
	l.describe(n, at, "pattern", sentence)
}

// number writes what f says for numbers.
func (l *lowering) number(f *schema.Form, name string) (*node, codec) {
	n := typed(l.typeName(name))
	r := f.Number
	if r == nil {
		return n, nil
	}
	if r.Format != "" {
		l.format(n, f.At, name, r.Format)
	}
	for _, b := range []struct {
		keyword string
		value   json.Number
		words   string
	}{
		{"minimum", r.Minimum, "At least %s."}, {"maximum", r.Maximum, "At most %s."},
		{"exclusiveMinimum", r.ExclusiveMinimum, "More than %s."}, {"exclusiveMaximum", r.ExclusiveMaximum, "Less than %s."},
		{"multipleOf", r.MultipleOf, "A multiple of %s."},
	} {
		if b.value == "" {
			continue
		}
		if noise(name, b.value) && !l.allows(b.keyword) {
			l.lose(Widened, f.At, b.keyword, "not told: it only keeps out integers that JavaScript does not hold exactly")
			continue
		}
		if l.nextInteger(n, f.At, name, b.keyword, b.value) {
			continue
		}
		l.constraint(n, f.At, b.keyword, json.RawMessage(b.value), fmt.Sprintf(b.words, b.value))
	}
	return n, nil
}

// noise is the bound that generators write on every integer of a JavaScript number.
func noise(name string, bound json.Number) bool {
	return name == "integer" && strings.TrimPrefix(string(bound), "-") == "9007199254740991"
}

// nextInteger writes an exclusive bound of integers as an inclusive one, where
// only that is taken.
func (l *lowering) nextInteger(n *node, at, name, keyword string, value json.Number) bool {
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

func isInteger(s string) bool {
	if !strings.ContainsAny(s, ".eE") {
		return true
	}
	whole, fraction, _ := strings.Cut(s, ".")
	return whole != "" && !strings.ContainsAny(s, "eE") && strings.Trim(fraction, "0") == ""
}

// isNumber says that s is exactly a JSON number.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
