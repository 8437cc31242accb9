package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator makes random schemas of the keywords that the fast path checks,
// and values that often come close to fitting them.
type generator struct {
	*rand.Rand
	refs   []string // what a $ref may name here without a cycle
	draft7 bool
}

func newGenerator(a, b uint64) generator {
	g := generator{Rand: rand.New(rand.NewPCG(a, b)), refs: []string{"a", "b", "tree"}}
	g.draft7 = g.chance(50)
	return g
}

func pick[T any](g generator, list ...T) T { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// document returns a whole schema; draft-07 as often as 2020-12.
func (g generator) document() map[string]any {
	s, _ := g.schema(3).(map[string]any)
	if s == nil {
		s = map[string]any{}
	}
	all := g.refs
	g.refs = all[1:]
	a := g.schema(2)
	g.refs = all[2:]
	s["$defs"] = map[string]any{"a": a, "b": g.schema(1), "tree": map[string]any{
		"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/tree"}, "b": g.schema(1)},
	}}
	if g.draft7 {
		s["$schema"] = "http://json-schema.org/draft-07/schema#"
	}
	return s
}

func (g generator) schema(depth int) any {
	if g.chance(4) {
		return g.chance(60)
	}
	s := map[string]any{}
	for range 1 + g.IntN(3) {
		g.keyword(s, depth)
	}
	if ref := s["$ref"]; ref != nil && g.draft7 { // the full validator heeds some of what it should ignore
		return map[string]any{"$ref": ref}
	}
	return s
}

func (g generator) keyword(s map[string]any, depth int) {
	if depth > 0 && g.chance(60) {
		g.applicator(s, depth-1)
		return
	}
	switch g.IntN(9) {
	case 0, 1, 2:
		s["type"] = g.types()
	case 3:
		s["enum"] = []any{g.number(), pick[any](g, "a", "ab", "12", true, nil), map[string]any{"a": g.value(1)}}
	case 4:
		s["const"] = g.value(1)
	case 5:
		s[pick(g, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")] = g.number()
	case 6:
		s["multipleOf"] = pick(g, json.Number("2"), "0.5", "0.01", "3", "1e1", "9007199254740993")
	case 7:
		s[pick(g, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")] = g.IntN(4)
	case 8:
		s["pattern"] = pick(g, "^a", "b+$", "^[a-z]*$", "é", `^\d{2}$`, "a(?=b)")
	}
}

func (g generator) types() any {
	names := []string{"null", "boolean", "integer", "number", "string", "array", "object"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if g.chance(70) {
		return names[0]
	}
	return []any{names[0], names[1], names[2]}
}

func (g generator) applicator(s map[string]any, depth int) {
	list := func() []any { return []any{g.schema(depth), g.schema(depth), g.schema(depth)}[:1+g.IntN(3)] }
	switch g.IntN(10) {
	case 0, 1:
		props := map[string]any{}
		for range 1 + g.IntN(3) {
			props[g.name()] = g.schema(depth)
		}
		s["properties"] = props
	case 2:
		s["required"] = []any{"a", "b", "c"}[:1+g.IntN(2)]
	case 3:
		s["additionalProperties"] = pick[any](g, false, g.schema(depth))
	case 4:
		s["items"] = g.schema(depth)
	case 5:
		s["prefixItems"] = list()
	case 6:
		s[pick(g, "anyOf", "oneOf")] = list()
	case 7:
		s["allOf"] = list()
	case 8:
		s["$ref"] = "#/$defs/" + pick(g, g.refs...)
	case 9:
		s["propertyNames"] = map[string]any{pick(g, "minLength", "maxLength"): 1}
	}
}

func (g generator) name() string {
	return pick(g, "a", "b", "c", "d", "é", "a/b", "", "type", "$ref", "__proto__")
}

func (g generator) number() json.Number {
	return pick(g, json.Number("0"), "-0", "1", "1.0", "2", "3", "0.5", "-1.5", "10", "1e1", "100e-1", "19.99", "9007199254740992", "9007199254740993",
		"9007199254740993.0", "12345678901234567890123", "1.2345678901234567890123e22", "-9223372036854775808", "1e-3", "0.001")
}

func (g generator) value(depth int) any {
	kind := g.IntN(7)
	if depth == 0 {
		kind = g.IntN(5)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return g.chance(50)
	case 2, 3:
		return g.number()
	case 4:
		return pick(g, "", "a", "ab", "abb", "é", "12", "日本語", "\"\\\n", "1")
	case 5:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range g.IntN(5) {
		object[g.name()] = g.value(depth - 1)
	}
	return object
}

// text writes v as JSON in one of many ways: escapes and white space vary.
func (g generator) text(v any) string {
	space := func() string { return pick(g, "", "", "", " ", "\n\t") }
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for name, member := range v {
			parts = append(parts, space()+g.text(name)+space()+":"+g.text(member))
		}
		return space() + "{" + strings.Join(parts, ",") + space() + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, g.text(item))
		}
		return "[" + strings.Join(parts, ",") + space() + "]" + space()
	case string:
		if g.chance(20) {
			var b strings.Builder
			for _, r := range v {
				fmt.Fprintf(&b, "\\u%04x", r)
			}
			return `"` + b.String() + `"`
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // the generator makes nothing that cannot be encoded
	}
	return space() + string(raw) + space()
}
