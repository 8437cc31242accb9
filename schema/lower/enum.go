package lower

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/schema"
)

// enumOf returns the values of the enum that are of the given kinds, nil if
// those kinds are free of it.
func enumOf(f *schema.Form, kinds schema.Kinds) []json.RawMessage {
	if f.Enum == nil || f.Enum.Kinds&kinds == 0 {
		return nil
	}
	rules := *f
	rules.Enum = nil
	list := []json.RawMessage{}
	for _, v := range f.Enum.Values {
		if kindOf(v)&kinds != 0 && fits(&rules, v) {
			list = append(list, v)
		}
	}
	return list
}

// enum writes the values of one type.
func (l *lowering) enum(f *schema.Form, name string, list []json.RawMessage) (*node, codec) {
	nested := name == "array" || name == "object"
	switch e := l.rules.Enum; {
	case len(list) == 0:
		return l.never(f), nil
	case l.rules.Silent && !l.allows("enum"):
		l.lose(Dropped, f.At, "enum", "not told; checked when the tool is called")
		return typed(l.typeName(name)), nil
	case name == "boolean" && len(list) == 2:
		return typed(l.typeName(name)), nil
	case e.Strings && name != "string", e.Numbers && name == "boolean", (e.Scalars || e.Numbers) && nested, e.NoEmpty && slices.ContainsFunc(list, isEmpty):
		l.lose(Encoded, f.At, "enum", "written as texts")
		return l.table(f, list)
	}
	n := typed(l.typeName(name))
	if !l.enumFits(list) {
		l.describe(n, f.At, "enum", "")
		return n, nil
	}
	l.constraint(n, f.At, "enum", values(list), "One of: "+choices(list)+".")
	if l.rules.Enum.AnyCase && name == "string" {
		return n, newTable(list, plainTexts(list))
	}
	return n, nil
}

// mixedEnum writes values of several types.
func (l *lowering) mixedEnum(f *schema.Form, list []json.RawMessage) (*node, codec) {
	e := l.rules.Enum
	nested := slices.ContainsFunc(list, func(v json.RawMessage) bool { return kindOf(v)&(schema.KindArray|schema.KindObject) != 0 })
	if len(list) == 0 {
		return l.never(f), nil
	}
	odd := slices.ContainsFunc(list, func(v json.RawMessage) bool { return kindOf(v)&(schema.KindString|schema.KindNumber) == 0 })
	if e.Strings || e.Scalars && nested || e.Numbers && odd || l.rules.Union.None || l.rules.Union.NoList || l.rules.TypeRequired || !l.allows("enum") {
		l.lose(Encoded, f.At, "enum", "written as texts")
		return l.table(f, list)
	}
	if f.Kinds&schema.KindNull != 0 && !e.Numbers {
		list = append(list[:len(list):len(list)], json.RawMessage("null"))
	}
	return &node{members: []member{{name: "enum", raw: values(list)}}}, nil
}

func isEmpty(v json.RawMessage) bool { return string(v) == `""` }

// enumFits says that an enum is not too long.
func (l *lowering) enumFits(list []json.RawMessage) bool {
	limits := l.rules.Limits
	if limits.EnumValues > 0 && len(list) > limits.EnumValues {
		return false
	}
	return limits.LongEnum == 0 || len(list) <= limits.LongEnum || utf8.RuneCount(values(list)) <= limits.LongEnumRunes
}

func choices(list []json.RawMessage) string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = plainValue(v)
	}
	return strings.Join(all, ", ")
}

// table writes values of any type as an enum of texts.
func (l *lowering) table(f *schema.Form, list []json.RawMessage) (*node, codec) {
	if !l.enumFits(list) {
		l.lose(Checked, f.At, l.source.keyword(f.At), "too many values to list; written as JSON text")
		return l.jsonText("Written as JSON text."), jsonCodec{lenient: true}
	}
	written := texts(list)
	n := typed(l.typeName("string"))
	raw := make([]json.RawMessage, len(written))
	for i, s := range written {
		raw[i] = quote(s)
	}
	if l.allows("enum") {
		n.set("enum", values(raw))
	} else {
		l.describe(n, f.At, "enum", "One of: "+choices(raw)+".")
	}
	return n, newTable(list, written)
}

// plainTexts returns strings as they are.
func plainTexts(list []json.RawMessage) []string {
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

func (c *tableCodec) decode(x *trip, dst, src []byte) []byte {
	s, ok := unquote(src)
	if !ok {
		return append(dst, src...)
	}
	if i, known := c.byText[s]; known {
		return append(dst, c.values[i]...)
	}
	if i, known := c.byLower[strings.ToLower(strings.TrimSpace(s))]; known && i >= 0 {
		x.note(strconv.Quote(s) + " was taken for " + strconv.Quote(c.texts[i]))
		return append(dst, c.values[i]...)
	}
	return append(dst, src...)
}

func (c *tableCodec) encode(dst, src []byte) ([]byte, bool) {
	for i, v := range c.values {
		if same(v, src) {
			return appendQuoted(dst, c.texts[i]), true
		}
	}
	return dst, false
}

func (c *tableCodec) seen(path []string) []string { return nil }
