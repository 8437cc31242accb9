package schema_test

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

func TestApplyDefaults(t *testing.T) {
	node := `{"properties":{"n":{"default":1},"next":{"$ref":"#/$defs/node"}}}`
	list := `{"items":{"properties":{"n":{"default":1}}}}`
	tests := []struct{ name, schema, data, want string }{
		{"in order, behind the others", `{"properties":{"b":{"default":1},"a":{"default":[1, 9007199254740993]},"c":{"default":null}}}`,
			`{"x": 1e2 }`, `{"x": 1e2 ,"b":1,"a":[1, 9007199254740993],"c":null}`},
		{"names are quoted", `{"properties":{"a\"\n":{"default":1}}}`, ` { } `, ` { "a\"\n":1} `},
		{"what is there stays", `{"properties":{"a":{"default":1}}}`, `{"\u0061":2}`, `{"\u0061":2}`},
		{"null is absent", `{"properties":{"a":{"type":"integer","default":1},"b":{"default":1}}}`, `{"a":null,"b":null}`, `{"a":1,"b":null}`},
		{"null is absent by allOf", `{"properties":{"a":{"allOf":[{"type":"integer"}],"default":1}}}`, `{"a":null}`, `{"a":1}`},
		{"null is a value", `{"properties":{"a":{"type":["integer","null"],"default":1},"b":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":1},
			"c":{"enum":[1,null],"default":1},"d":{"$ref":"#/$defs/d","default":1}},"$defs":{"d":{"type":"null"}}}`,
			`{"a":null,"b":null,"c":null,"d":null}`, `{"a":null,"b":null,"c":null,"d":null}`},
		{"null is no value", `{"properties":{"a":{"oneOf":[{"type":"integer"},{"type":"string"}],"default":1},"b":{"const":1,"default":1},
			"c":{"enum":[1],"default":1},"d":{"$ref":"#/$defs/d","default":1},"e":{"type":"string"}},"$defs":{"d":{"type":["string","integer"]}}}`,
			`{"a":null,"b":null,"c":null,"d":null,"e":null}`, `{"a":1,"b":1,"c":1,"d":1,"e":null}`},
		{"objects that are present", `{"properties":{"a":{"properties":{"b":{"properties":{"c":{"default":1}}}}}}}`, `{"a":{"b":{}}}`, `{"a":{"b":{"c":1}}}`},
		{"objects that are absent", `{"properties":{"a":{"properties":{"b":{"default":1}}}}}`, `{}`, `{}`},
		{"a default is filled", `{"properties":{"a":{"default":{},"properties":{"b":{"default":1},"c":{"default":{"d":2},"properties":{"e":{"default":3}}}}}}}`,
			`{}`, `{"a":{"b":1,"c":{"d":2,"e":3}}}`},
		{"a default is replaced, not merged", `{"properties":{"a":{"default":[{"A":1,"B":2}]},"b":{"default":{"x":1}}}}`,
			`{"a":[{"A":9}],"b":{"y":2}}`, `{"a":[{"A":9}],"b":{"y":2}}`},
		{"items", list, `[{}, {"n":2},null,[{}]]`, `[{"n":1}, {"n":2},null,[{}]]`},
		{"first items", `{"prefixItems":[true,{"properties":{"n":{"default":1}}}],"items":` + list + `}`, `[{},{},[{}]]`, `[{},{"n":1},[{"n":1}]]`},
		{"first items of draft 7", `{"items":[true,{"properties":{"n":{"default":1}}}]}`, `[{},{},{}]`, `[{},{"n":1},{}]`},
		{"other members", `{"properties":{"a":{}},"additionalProperties":` + list + `}`, `{"a":[{}],"b":[{}]}`, `{"a":[{}],"b":[{"n":1}]}`},
		{"members by pattern", `{"patternProperties":{"a":{}},"additionalProperties":` + list + `}`, `{"a":[{}]}`, `{"a":[{}]}`},
		{"references", `{"properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$ref":"#/$defs/o"},"c":{"$ref":"#/$defs/p","default":{}}},
			"$defs":{"x/y":{"default":1},"p":{"$ref":"#/$defs/o"},"o":{"properties":{"p":{"$ref":"#/$defs/x~1y"}}}}}`,
			`{"b":{}}`, `{"b":{"p":1},"a":1,"c":{"p":1}}`},
		{"foreign and broken references", `{"properties":{"a":{"$ref":"http://example.org"},"b":{"$ref":"#/$defs/none"},"c":{"$ref":"#x"},"e":{"$ref":1},"d":{"default":1}}}`,
			`{"a":{}}`, `{"a":{},"d":1}`},
		{"recursion", `{"$ref":"#/$defs/node","$defs":{"node":` + node + `}}`, `{"next":{"next":{}}}`, `{"next":{"next":{"n":1},"n":1},"n":1}`},
		{"recursion to the root", `{"properties":{"n":{"default":1},"next":{"$ref":"#"}}}`, `{"next":{}}`, `{"next":{"n":1},"n":1}`},
		{"bare recursion", `{"properties":{"a":{"$ref":"#/$defs/a"},"n":{"default":1}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{"a":{}}`, `{"a":{},"n":1}`},
		{"a default that contains itself", `{"properties":{"n":{"default":1},"next":{"default":{},"$ref":"#"}}}`, `{"next":{}}`, `{"next":{"n":1},"n":1}`},
		{"defaults that contain each other", `{"properties":{"a":{"default":{},"properties":{"b":{"$ref":"#/$defs/b"}}},"n":{"default":{},"properties":{"c":{"$ref":"#"}}}},
			"$defs":{"b":{"default":{"x":null},"properties":{"x":{"type":"object","default":{},"$ref":"#/properties/a"}}}}}`, `{}`, `{"a":{},"n":{}}`},
		{"a default that ends", `{"properties":{"n":{"default":1},"next":{"default":{"next":7},"$ref":"#"}}}`, `{}`, `{"n":1,"next":{"next":7,"n":1}}`},
		{"twice the same name", `{"properties":{"a":{"default":1},"a":{"default":2}}}`, `{}`, `{"a":2}`},
		{"the root's own default", `{"default":{"a":1}}`, `{}`, `{}`},
		{"boolean", `true`, `{}`, `{}`},
	}
	for _, tt := range tests {
		s := schema.MustParse(tt.schema)
		got := string(s.ApplyDefaults([]byte(tt.data)))
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if again := string(s.ApplyDefaults([]byte(got))); again != got {
			t.Errorf("%s: filled again, %s is %s", tt.name, got, again)
		}
	}
}

// What is not valid comes back as it is, or not much worse; it is not looked at.
func TestFillOddBytes(t *testing.T) {
	s := schema.MustParse(`{"properties":{"a":{"type":"object","default":{},"properties":{"n":{"default":1}}}},"items":{"$ref":"#"}}`)
	deep := strings.Repeat(`[`, 1e6)
	for _, data := range []string{"", " ", "{", "[", "}", "]", `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":n`, `{"a":{}`, `{"a":null`, `{"a":1,`, `[,`, "[\x00", "{\x01}", `{]`, `[}`, deep} {
		if got := string(s.ApplyDefaults([]byte(data))); got != data {
			t.Errorf("%.20q: got %.20q", data, got)
		}
	}
}

// A schema without defaults, and data that lacks nothing, cost no memory.
func TestFillAllocations(t *testing.T) {
	none := schema.MustParse(`{"type":"object","properties":{"a":{"type":"string"},"b":{"items":{"properties":{"c":{}}}}}}`)
	some := schema.MustParse(`{"properties":{"a":{"default":"x"},"b":{"items":{"properties":{"c":{"default":1}}}}}}`)
	data := []byte(`{"a":"y","b":[{"c":1},{"c":{"d":["e"]}}]}`)
	for _, s := range []*schema.Schema{none, some} {
		if n := testing.AllocsPerRun(100, func() {
			if got := s.ApplyDefaults(data); &got[0] != &data[0] || len(got) != len(data) {
				t.Fatalf("%s is not the data itself", got)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", s.Raw(), n)
		}
	}
}

// Each definition holds the next one twice: filled, the default would have
// 2^30 members.
func TestFillFromPoison(t *testing.T) {
	for _, keyword := range []string{`"default":{},`, ``} {
		var b strings.Builder
		b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{`)
		name := "a"
		for range 30 {
			b.WriteString(`"` + name + `":{` + keyword + `"anyOf":[{"$ref":"#/$defs/` + name + `a"},{"$ref":"#/$defs/` + name + `a"}],
				"properties":{"x":{"$ref":"#/$defs/` + name + `a"},"y":{"$ref":"#/$defs/` + name + `a"}}},`)
			name += "a"
		}
		b.WriteString(`"` + name + `":{"type":"integer","default":1}}}`)
		if got := schema.MustParse(b.String()).ApplyDefaults([]byte(`{}`)); string(got) != `{}` {
			t.Errorf("got %d bytes, want none", len(got))
		}
	}
}

// A filled value is JSON, has all that was there, and lacks nothing more.
func FuzzApplyDefaults(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"integer","default":1},"b":{"default":{},"$ref":"#"}}}`, `{"a":null,"b":{"x":[]}}`)
	f.Add(`{"properties":{"a":{"default":{},"properties":{"b":{"default":"\u00e9"}}}},"additionalProperties":{"$ref":"#"}}`, `{"c":{},"d":{"a":{}}}`)
	f.Add(`{"items":{"$ref":"#"},"prefixItems":[{"properties":{"a":{"default":[]}}}],"additionalProperties":{"items":[{"$ref":"#"}]}}`, `[{},[{}]]`)
	any := schema.MustParse(`{}`).Validator()
	f.Fuzz(func(t *testing.T, raw, text string) {
		s, err := schema.Parse([]byte(raw))
		if err != nil {
			return
		}
		data := []byte(text)
		filled := s.ApplyDefaults(data)
		if any.Validate(data) != nil {
			return
		}
		if err := any.Validate(filled); err != nil {
			t.Fatalf("%s: %v", filled, err)
		}
		if again := s.ApplyDefaults(filled); string(again) != string(filled) {
			t.Fatalf("filled again, %s is %s", filled, again)
		}
		var before, after stdjson.RawMessage = data, filled
		if !contains(t, after, before) {
			t.Fatalf("%s does not have all of %s", after, before)
		}
	})
}

// contains says that after is before with more members, or members for null.
func contains(t *testing.T, after, before stdjson.RawMessage) bool {
	var members, had map[string]stdjson.RawMessage
	var items, hadItems []stdjson.RawMessage
	switch {
	case stdjson.Unmarshal(before, &had) == nil && had != nil:
		if err := stdjson.Unmarshal(after, &members); err != nil {
			return false
		}
		for name, value := range had {
			if string(value) != "null" && !contains(t, members[name], value) {
				return false
			}
		}
		return true
	case stdjson.Unmarshal(before, &hadItems) == nil && hadItems != nil:
		if err := stdjson.Unmarshal(after, &items); err != nil || len(items) != len(hadItems) {
			return false
		}
		for i := range items {
			if !contains(t, items[i], hadItems[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(strings.TrimSpace(string(after)), strings.TrimSpace(string(before)))
}
