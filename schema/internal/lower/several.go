package lower

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeSeveralAsOne writes values of several types for a reader without
// alternatives.
func writeSeveralAsOne(l *lowering, f *form.Form, types []string, at place) (*node, codec) {
	switch {
	case kindsOf(types...)&nested == 0:
		return writeScalars(l, f, types)
	case oneOrMany(f):
		only := *f
		only.Kinds = jsontree.KindArray
		n, c := writeArray(l, &only, at)
		l.reshape(Narrowed, f.At, "a single value is written as a list of one")
		n.addSentence("A list, even for a single value.")
		return n, join(listCodec{}, c)
	}
	l.reshape(Checked, f.At, "values of several types are written as a string of JSON")
	n := jsonText(l.reader, "Written as JSON text: "+strings.Join(types, " or ")+".")
	return n, jsonCodec{lenient: f.Kinds&jsontree.KindString != 0}
}

// oneOrMany reports whether f is a scalar or a list of such scalars.
func oneOrMany(f *form.Form) bool {
	if f.Kinds&nested != jsontree.KindArray || f.Array == nil ||
		f.Array.Items == nil || f.Array.Prefix != nil || f.Array.MinItems > 1 {
		return false
	}
	single := f.Kinds &^ jsontree.KindArray &^ jsontree.KindNull
	return single&^f.Array.Items.Kinds == 0
}

// A listCodec writes a single value as a list of one.
type listCodec struct{}

func (listCodec) decode(x *trip, dst []byte) []byte { return append(dst, x.value()...) }

func (listCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	if jsontree.ExactKind(src) == jsontree.KindArray {
		return append(dst, src...), true
	}
	return append(append(append(dst, '['), src...), ']'), true
}

func (listCodec) seenPath(path []string) []string { return path }

// writeScalars writes numbers, texts, booleans and null as texts.
func writeScalars(l *lowering, f *form.Form, types []string) (*node, codec) {
	kinds := kindsOf(types...)
	if plain := kinds &^ jsontree.KindNull; f.Enum != nil && f.Enum.Kinds&plain == plain {
		l.reshape(Encoded, f.At, "written as strings")
		list := enumOf(f, plain)
		if kinds != plain {
			list = append(list, json.RawMessage("null"))
		}
		return writeTable(l, f.At, list)
	}
	c := &scalarCodec{kinds: kinds}
	var words []string
	for _, t := range types {
		words = append(words, c.fix(f, t)...)
	}
	kind := Encoded
	if f.Text != nil || f.Number != nil || f.Enum != nil || kinds&jsontree.KindString == 0 || kinds&jsontree.KindNumber == jsontree.KindInteger {
		kind = Checked
	}
	l.reshape(kind, f.At, "%s: written as a string, and converted back", strings.Join(types, " or "))
	n := l.typeNode("string")
	n.addSentence("Written as text: " + orList(words) + ".")
	return n, c
}

// scalarWords describes the texts for a type whose values are not listed.
func scalarWords(name string) []string {
	switch name {
	case "string":
		return []string{"a text"}
	case "boolean":
		return []string{"true", "false"}
	case "null":
		return []string{"null"}
	}
	return []string{"a number"}
}

// A scalarCodec writes numbers, booleans and null as texts.
type scalarCodec struct {
	kinds jsontree.Kinds
	fixed []json.RawMessage // strings among them mean themselves, whatever they look like
}

// fix keeps the values that f lists of a type, and describes the texts for the
// type.
func (c *scalarCodec) fix(f *form.Form, name string) (words []string) {
	list := enumOf(f, kindsOf(name))
	if list == nil {
		return scalarWords(name)
	}
	for _, v := range list {
		if c.spells(f, v) {
			words = append(words, string(v))
		} else {
			c.fixed, words = append(c.fixed, v), append(words, plainValue(v))
		}
	}
	return words
}

// spells reports whether v is a text that spells another value of f: the text
// 1 where 1 is allowed too. It is written in quotes.
func (c *scalarCodec) spells(f *form.Form, v []byte) bool {
	s, ok := unquote(v)
	fuel := minFuel
	return ok && c.literal(s) && fits(f, []byte(s), &fuel) != misfit
}

// literal reports whether a text is read as the number, boolean or null that it
// spells.
func (c *scalarCodec) literal(s string) bool {
	if slices.ContainsFunc(c.fixed, func(v json.RawMessage) bool { t, ok := unquote(v); return ok && t == s }) {
		return false
	}
	switch s {
	case "true", "false":
		return c.kinds&jsontree.KindBoolean != 0
	case "null":
		return c.kinds&jsontree.KindNull != 0
	}
	if c.kinds&jsontree.KindNumber == 0 || !isNumber(s) || c.kinds&jsontree.KindString != 0 && !isCanonical(s) {
		return false
	}
	return c.kinds&jsontree.KindFraction != 0 || jsontree.ExactKind([]byte(s)) == jsontree.KindInteger
}

// isCanonical reports whether a number is spelled in the only way without an
// exponent and without digits that could be left out. Where texts are allowed,
// others are texts: a version 1.10 is not the number 1.1.
func isCanonical(s string) bool {
	if strings.ContainsAny(s, "eE") || s == "-0" {
		return false
	}
	_, fraction, found := strings.Cut(s, ".")
	return !found || !strings.HasSuffix(fraction, "0")
}

// canonicalNumber returns a number as isCanonical wants it; ok is false for those that
// are too long to be written so.
func canonicalNumber(s string) (string, bool) {
	if isCanonical(s) {
		return s, true
	}
	n, ok := rational(s)
	if !ok {
		return "", false
	}
	digits := strings.TrimRight(n.FloatString(maxDigits), "0")
	digits = strings.TrimSuffix(digits, ".")
	back, ok := new(big.Rat).SetString(digits)
	return digits, ok && back.Cmp(n) == 0 && len(digits) <= maxDigits && isCanonical(digits)
}

// rational reads a number of ordinary size.
func rational(s string) (*big.Rat, bool) {
	if i := strings.IndexAny(s, "eE"); len(s) > maxDigits || i >= 0 && len(s)-i > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

// maxDigits bounds numbers that are spelled out.
const maxDigits = 64

// unescape returns the string that s writes in quotes: "5" with quotes is the text 5.
func (c *scalarCodec) unescape(s string) (inner string, ok bool) {
	if len(s) < 2 || s[0] != '"' || !json.Valid([]byte(s)) {
		return "", false
	}
	inner, ok = unquote([]byte(s))
	return inner, ok && (c.literal(inner) || inner != "" && inner[0] == '"')
}

func (c *scalarCodec) decode(x *trip, dst []byte) []byte {
	src := x.value()
	s, ok := unquote(src)
	if !ok {
		return append(dst, src...)
	}
	if inner, ok := c.unescape(s); ok {
		return appendQuoted(dst, inner)
	}
	if c.literal(s) {
		return append(dst, s...)
	}
	if short := strings.TrimSpace(s); c.kinds&jsontree.KindString == 0 && c.literal(short) {
		x.note("whitespace around the value was ignored")
		return append(dst, short...)
	}
	return append(dst, src...)
}

func (c *scalarCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	s, ok := unquote(src)
	switch {
	case !ok && c.kinds&jsontree.KindString != 0 && jsontree.ExactKind(src)&jsontree.KindNumber != 0:
		n, ok := canonicalNumber(string(src))
		return appendQuoted(dst, n), ok
	case !ok:
		return appendQuoted(dst, string(src)), true
	}
	if _, twice := c.unescape(s); twice || c.literal(s) {
		return appendQuoted(dst, string(quote(s))), true
	}
	return append(dst, src...), true
}

func (c *scalarCodec) seenPath([]string) []string { return nil }
