package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// A jsonCodec writes a value as a string that holds JSON.
type jsonCodec struct {
	lenient bool // what is no JSON is the string itself
}

func (c jsonCodec) decode(x *trip, dst, src []byte) []byte {
	s, ok := unquote(src)
	if !ok {
		return append(dst, src...) // the value itself, as it was before
	}
	if inner := trim([]byte(s)); len(inner) > 0 && json.Valid(inner) {
		return append(dst, inner...)
	}
	if c.lenient {
		x.note("the text is no JSON; taken as it is")
	}
	return append(dst, src...)
}

func (c jsonCodec) encode(dst, src []byte) ([]byte, bool) {
	return appendQuoted(dst, string(src)), true
}

func (c jsonCodec) seen([]string) []string { return nil }

// severalAsOne writes values of several types for a reader without alternatives.
func (l *lowering) severalAsOne(f *schema.Form, types []string, at place) (*node, codec) {
	keyword := l.source.keyword(f.At)
	switch {
	case l.scalars(types):
		return l.scalarUnion(f, types)
	case oneOrMany(f, types):
		only := *f
		only.Kinds = schema.KindArray
		n, c := l.array(&only, at)
		l.lose(Narrowed, f.At, keyword, "a single value is written as a list of one")
		n.tell("A list, also for a single value.")
		return n, join(listCodec{}, c)
	}
	l.lose(Checked, f.At, keyword, "values of several types are written as JSON text")
	n := l.jsonText("Written as JSON text: " + strings.Join(types, " or ") + ".")
	return n, jsonCodec{lenient: f.Kinds&schema.KindString != 0}
}

// oneOrMany says that f is a scalar or a list of such scalars.
func oneOrMany(f *schema.Form, types []string) bool {
	if !slices.Contains(types, "array") || slices.Contains(types, "object") || f.Array == nil ||
		f.Array.Items == nil || f.Array.Prefix != nil || f.Array.MinItems > 1 {
		return false
	}
	single := f.Kinds &^ schema.KindArray &^ schema.KindNull
	return single&^f.Array.Items.Kinds == 0
}

// A listCodec writes a single value as a list of one.
type listCodec struct{}

func (listCodec) decode(_ *trip, dst, src []byte) []byte { return append(dst, src...) }

func (listCodec) encode(dst, src []byte) ([]byte, bool) {
	if kindOf(src) == schema.KindArray {
		return append(dst, src...), true
	}
	return append(append(append(dst, '['), src...), ']'), true
}

func (listCodec) seen(path []string) []string { return path }

// scalarUnion writes numbers, texts, booleans and null as texts.
func (l *lowering) scalarUnion(f *schema.Form, types []string) (*node, codec) {
	keyword := l.source.keyword(f.At)
	var kinds schema.Kinds
	for _, t := range types {
		kinds |= kindsOf(t)
	}
	if f.Enum != nil && f.Enum.Kinds&kinds == kinds {
		l.lose(Encoded, f.At, keyword, "written as texts")
		return l.table(f, enumOf(f, kinds))
	}
	c := &scalarCodec{kinds: kinds}
	words := make([]string, 0, len(types))
	for _, t := range types {
		list := enumOf(f, kindsOf(t))
		switch {
		case list != nil:
			words = append(words, choices(list))
			c.fixed = append(c.fixed, list...)
		case t == "string":
			words = append(words, "a text")
		case t == "boolean":
			words = append(words, "true or false")
		case t == "null":
			words = append(words, "null")
		default:
			words = append(words, "a number")
		}
	}
	kind := Encoded
	if f.Text != nil || f.Number != nil || f.Enum != nil || kinds&schema.KindString == 0 || kinds&schema.KindNumber == schema.KindInteger {
		kind = Checked
	}
	l.lose(kind, f.At, keyword, "%s: written as a text, and turned back", strings.Join(types, " or "))
	n := typed(l.typeName("string"))
	n.tell("Written as text: " + strings.Join(words, ", or ") + ".")
	return n, c
}

// A scalarCodec writes numbers, booleans and null as texts.
type scalarCodec struct {
	kinds schema.Kinds
	fixed []json.RawMessage // strings among them mean themselves, whatever they look like
}

// literal says that a text is read as the number, boolean or null that it spells.
func (c *scalarCodec) literal(s string) bool {
	if slices.ContainsFunc(c.fixed, func(v json.RawMessage) bool { t, ok := unquote(v); return ok && t == s }) {
		return false
	}
	switch s {
	case "true", "false":
		return c.kinds&schema.KindBoolean != 0
	case "null":
		return c.kinds&schema.KindNull != 0
	}
	if c.kinds&schema.KindNumber == 0 || !isNumber(s) {
		return false
	}
	return c.kinds&schema.KindFraction != 0 || isInteger(s)
}

// escaped returns the string that s writes in quotes: "5" with quotes is the text 5.
func (c *scalarCodec) escaped(s string) (inner string, ok bool) {
	if len(s) < 2 || s[0] != '"' || !json.Valid([]byte(s)) {
		return "", false
	}
	inner, ok = unquote([]byte(s))
	return inner, ok && (c.literal(inner) || inner != "" && inner[0] == '"')
}

func (c *scalarCodec) decode(x *trip, dst, src []byte) []byte {
	s, ok := unquote(src)
	if !ok {
		return append(dst, src...)
	}
	if inner, ok := c.escaped(s); ok {
		return appendQuoted(dst, inner)
	}
	if c.literal(s) {
		return append(dst, s...)
	}
	if short := strings.TrimSpace(s); c.kinds&schema.KindString == 0 && c.literal(short) {
		x.note("white space around the value was ignored")
		return append(dst, short...)
	}
	return append(dst, src...)
}

func (c *scalarCodec) encode(dst, src []byte) ([]byte, bool) {
	s, ok := unquote(src)
	if !ok {
		return appendQuoted(dst, string(src)), true
	}
	if _, twice := c.escaped(s); twice || c.literal(s) {
		return appendQuoted(dst, string(quote(s))), true
	}
	return append(dst, src...), true
}

func (c *scalarCodec) seen([]string) []string { return nil }
