package schema_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// spice adds keywords that the generator does not know to some schemas in v.
func spice(g generator, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		value := s[name]
		switch name {
		case "properties", "$defs":
			table := value.(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(table)) {
				spice(g, table[name])
			}
		case "allOf", "anyOf", "oneOf", "prefixItems":
			for _, sub := range value.([]any) {
				spice(g, sub)
			}
		case "items", "additionalProperties":
			spice(g, value)
		}
	}
	if s["$ref"] != nil && g.draft7 || g.chance(60) {
		return
	}
	switch g.IntN(12) {
	case 0:
		s["unevaluatedProperties"] = pick[any](g, false, map[string]any{"type": "integer"})
	case 1:
		s["propertyNames"] = map[string]any{"enum": []any{"a", "b", "é", 1}}
	case 2:
		s["not"] = pick(g, map[string]any{"type": g.types()}, map[string]any{"required": []any{"a"}}, map[string]any{})
	case 3:
		s["patternProperties"] = map[string]any{pick(g, "", "^a", ".*"): g.schema(1)}
	case 4:
		s["contains"] = map[string]any{"type": "integer"}
	case 8:
		s["contains"], s["minContains"], s["maxContains"] = g.schema(1), g.IntN(2), g.IntN(3)
	case 9:
		s["dependentRequired"] = map[string]any{g.name(): []any{g.name()}}
	case 10:
		s[pick(g, "dependentSchemas", "dependencies")] = map[string]any{g.name(): g.schema(1)}
	case 11:
		s["if"], s["then"], s["else"] = g.schema(1), g.schema(1), g.schema(1)
	case 5:
		s["if"] = map[string]any{"type": "object"}
		s["then"] = map[string]any{"required": []any{"a"}}
	case 6:
		s["uniqueItems"] = g.chance(80)
	case 7:
		s["oneOf"] = []any{
			map[string]any{"properties": map[string]any{"a": map[string]any{"const": "a"}}, "required": []any{"a"}},
			map[string]any{"properties": map[string]any{"a": map[string]any{"const": pick(g, "b", "a")}}, "required": []any{"a"}},
			map[string]any{"type": "null"},
		}
	}
}

func TestFormAgreesOnMore(t *testing.T) {
	fit, whole := 0, 0
	for seed := range uint64(500) {
		g := newGenerator(seed, 3)
		doc := g.document()
		spice(g, doc)
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		s := schema.MustParse(string(raw))
		d, v := form.Read(s.Raw()), s.Validator()
		if len(v.Report()) > 0 {
			continue
		}
		for range 20 {
			if agree(t, string(raw), d, v, []byte(g.text(g.value(3)))) {
				fit++
			}
		}
		if exact(d) {
			whole++
		}
	}
	t.Logf("%d values fit; %d of 500 forms say all", fit, whole)
	if fit < 2_000 || whole < 200 {
		t.Errorf("%d values fit; %d of 500 forms say all", fit, whole)
	}
}

// AnyOf takes what one of two forms takes.
func TestAnyOf(t *testing.T) {
	for seed := range uint64(200) {
		g := newGenerator(seed, 4)
		var list []*form.Form
		var raws []string
		for range 2 {
			raw, err := json.Marshal(g.document())
			if err != nil {
				t.Fatal(err)
			}
			d := form.Read(schema.MustParse(string(raw)).Raw())
			if !exact(d) {
				continue
			}
			list, raws = append(list, d.Root), append(raws, string(raw))
		}
		if len(list) < 2 {
			continue
		}
		both := form.AnyOf(list...)
		j := judge{TB: t}
		for range 30 {
			v := decode(t, []byte(g.text(g.value(3))))
			if want, got := j.fits(list[0], v) || j.fits(list[1], v), j.fits(both, v); want != got {
				t.Fatalf("%s\n%s\n%s\nvalue %v: want %v", strings.Join(raws, "\n"), dump(list[0])+"\n"+dump(list[1]), dump(both), v, want)
			}
		}
	}
	if f := form.AnyOf(); f.Kinds != 0 {
		t.Errorf("nothing: %s", dump(f))
	}
}

// What careless and older schemas mean is told as a change.
func TestFormChanges(t *testing.T) {
	for _, test := range []struct{ schema, form, change string }{
		{`{"type":"integer","minimum":1,"exclusiveMinimum":true}`, `integer >1`, `/exclusiveMinimum`},
		{`{"type":"string","nullable":true,"enum":["a"]}`, `string or null {"a"}`, `/nullable`},
		{`{"type":"any"}`, `any`, `/type`},
		{`{"enum":"a"}`, `string {"a"}`, `/enum`},
		{`{"items":[{"type":"string"}],"additionalItems":false}`, `any [string...never]`, `/items`},
		{`{"properties":{"a":{"required":true,"type":"string"}}}`, `any {a: string}`, `/properties/a/required`},
		{`{"type":"object","properties":null,"required":null}`, `object`, `/properties`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","const":1,"id":"x"}`, `any`, `/const`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","minLength":2,"description":"d","definitions":{"a":{"type":"string"}}}`, `string ("d")`, `/minLength`},
		{`{"type":"objekt"}`, `any`, `/type lost`},
		{`{"minLength":-1}`, `any`, `/minLength lost`},
		{`{"$ref":"#/no"}`, `any`, `/$ref lost`},
		{`{"$ref":"http://localhost/x","type":"string"}`, `string`, `/$ref lost`},
		{`{"pattern":"("}`, `any /(`, ``},
		{`{"title":"T","title":"U"}`, `any ("U")`, `/title`},
		{`{"minLength":0,"minItems":0,"uniqueItems":false}`, `any`, `/minLength`},
		{`{"multipleOf":1,"type":"number"}`, `integer`, `/multipleOf`},
		{`{"title":7,"examples":"x","x-a":{"b":1},"deprecated":true}`, `any (x-a {"b":1}; deprecated true)`, `/title`},
		{`{"type":"string","format":5,"nullable":"yes"}`, `string`, `/format`},
		{`{"type":"STRING"}`, `string`, `/type`},
		{`{"type":["Int","null"]}`, `integer or null`, `/type`},
		{`{"type":"bool"}`, `boolean`, `/type`},
		{`{"type":["string","objekt"]}`, `any`, `/type lost`},
		{`{"allOf":[{"type":"string"},5]}`, `string`, `/allOf lost`},
		{`{"anyOf":[{"type":"string"},"number"]}`, `string`, `/anyOf lost`},
		{`{"oneOf":[null,{"type":"string"}]}`, `string`, `/oneOf`},
		{`{"anyOf":[5]}`, `any`, `/anyOf lost`},
		{`{"prefixItems":[{"type":"string"},5,{"type":"null"}]}`, `any [string, any, null]`, `/prefixItems lost`},
		{`{"dependentRequired":{"a":"b","c":["d"]}}`, `any +dependentRequired={"a":"b","c":["d"]}`, `/dependentRequired/a lost`},
	} {
		d := form.Read(schema.MustParse(test.schema).Raw())
		if got := text(d); got != test.form {
			t.Errorf("%s: got %s, want %s", test.schema, got, test.form)
		}
		var all []string
		found := test.change == ""
		for _, c := range d.Changes {
			s := c.At + "/" + c.Keyword
			if c.Lost {
				s += " lost"
			}
			all = append(all, s)
			found = found || s == test.change
		}
		if !found {
			t.Errorf("%s: changes %v, want %s", test.schema, all, test.change)
		}
	}
}
