package lower

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// enumOf returns the values of the enum that are of the given kinds, nil if
// those kinds are free of it.
func enumOf(f *form.Form, kinds jsontree.Kinds) []json.RawMessage {
	if f.Enum == nil || f.Enum.Kinds&kinds == 0 {
		return nil
	}
	rules := *f
	rules.Enum = nil
	list := []json.RawMessage{}
	for _, v := range f.Enum.Values {
		fuel := minFuel + fuelPerByte*len(v)
		if jsontree.ExactKind(v)&kinds != 0 && fits(&rules, v, &fuel) != misfit {
			list = append(list, v)
		}
	}
	return list
}

// writeEnum writes the values of one type.
func writeEnum(l *lowering, f *form.Form, name string, list []json.RawMessage) (*node, codec) {
	n := l.typeNode(name)
	switch {
	case len(list) == 0:
		return writeNever(l, f), nil
	case name == "boolean" && len(list) == 2:
		return n, nil
	case !l.valuesFit(list):
		l.lose(Encoded, f.At, "enum", "written as strings")
		return writeTable(l, f.At, list)
	case !l.enumFits(list):
		describe(l, n, f.At, "enum", "")
		return n, nil
	}
	constrain(l, n, f.At, "enum", values(list), "One of: "+strings.Join(plainValues(list), ", ")+".")
	if l.rules.Enum.AnyCase && name == "string" {
		return n, newTable(list, plainTexts(list))
	}
	return n, nil
}

// writeMixedEnum writes values of several types.
func writeMixedEnum(l *lowering, f *form.Form, list []json.RawMessage) (*node, codec) {
	switch {
	case len(list) == 0:
		return writeNever(l, f), nil
	case !l.mixedFits(list):
		l.lose(Encoded, f.At, "enum", "written as strings")
		return writeTable(l, f.At, list)
	}
	n := &node{}
	if l.rules.Array.Typed { // it may be about items
		n.set("type", names(typesOf(f.Kinds)))
	}
	if f.Kinds&jsontree.KindNull != 0 && !l.rules.Enum.Numbers {
		list = append(slices.Clone(list), json.RawMessage("null"))
	}
	n.set("enum", values(list))
	return n, nil
}

// plainValues are values as a person writes them in a sentence.
func plainValues(list []json.RawMessage) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = plainValue(v)
	}
	return all
}

// writeTable writes values of any type as an enum of texts.
func writeTable(l *lowering, at string, list []json.RawMessage) (*node, codec) {
	if !l.enumFits(list) {
		l.reshape(Checked, at, "too many values to list; written as a string of JSON")
		return jsonText(l.reader, "Written as JSON text."), jsonCodec{lenient: true}
	}
	written := texts(list)
	n := l.typeNode("string")
	raw := make([]json.RawMessage, len(written))
	for i, s := range written {
		raw[i] = quote(s)
	}
	constrain(l, n, at, "enum", values(raw), "One of: "+strings.Join(plainValues(raw), ", ")+".")
	return n, newTable(list, written)
}

// plainTexts returns strings as they are.
func plainTexts[T ~[]byte](list []T) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i], _ = unquote(v)
	}
	return all
}

// texts gives each value a text of its own: a string itself, others as JSON.
func texts(list []json.RawMessage) []string {
	used := map[string]bool{}
	all := make([]string, len(list))
	for pass := range 2 { // strings come first: they keep their text
		for i, v := range list {
			s, isString := unquote(v)
			if isString != (pass == 0) {
				continue
			}
			switch {
			case !isString:
				s = string(v)
			case s == "":
				s = "empty"
			}
			text := s
			for n := 2; used[text]; n++ {
				text = s + " " + strconv.Itoa(n)
			}
			used[text], all[i] = true, text
		}
	}
	return all
}

// A tableCodec writes values as texts.
type tableCodec struct {
	values  []json.RawMessage
	texts   []string
	byText  map[string]int
	byLower map[string]int // -1 where two texts differ in case only
}

func newTable(list []json.RawMessage, texts []string) codec {
	c := &tableCodec{list, texts, make(map[string]int, len(list)), make(map[string]int, len(list))}
	for i, s := range texts {
		c.byText[s] = i
		lower := strings.ToLower(s)
		if _, again := c.byLower[lower]; again {
			i = -1
		}
		c.byLower[lower] = i
	}
	return c
}

// plain reports whether each text stands for itself.
func (c *tableCodec) plain() bool {
	return slices.Equal(c.texts, plainTexts(c.values))
}

func (c *tableCodec) decode(x *trip, dst []byte) []byte {
	src := x.value()
	s, ok := unquote(src)
	if !ok {
		return append(dst, src...)
	}
	if i, known := c.byText[s]; known {
		return append(dst, c.values[i]...)
	}
	if i, known := c.byLower[strings.ToLower(strings.TrimSpace(s))]; known && i >= 0 {
		x.note(strconv.Quote(s) + " was read as " + strconv.Quote(c.texts[i]))
		return append(dst, c.values[i]...)
	}
	return append(dst, src...)
}

func (c *tableCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	for i, v := range c.values {
		if equalValues(v, src) {
			return appendQuoted(dst, c.texts[i]), true
		}
	}
	return dst, false
}

func (c *tableCodec) seenPath(path []string) []string { return nil }
