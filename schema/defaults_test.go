package schema_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

func TestDefaults(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"none", `{"type":"object","properties":{"a":{"type":"string"},"b":{"properties":{"c":{}}}}}`, ""},
		{"no properties", `{"type":"object","default":{"a":1}}`, ""},
		{"boolean", `true`, ""},
		{"in order", `{"properties":{"b":{"default":1},"a":{"default":[1, 9007199254740993]},"c":{"default":null}}}`,
			`{"b":1,"a":[1,9007199254740993],"c":null}`},
		{"nested", `{"properties":{"a":{"properties":{"b":{"properties":{"c":{"default":1}}},"d":{}}}}}`, `{"a":{"b":{"c":1}}}`},
		{"own before nested", `{"properties":{"a":{"default":{},"properties":{"b":{"default":1}}}}}`, `{"a":{}}`},
		{"references", `{"properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$ref":"#/$defs/o"},"c":{"$ref":"#/$defs/o"}},
			"$defs":{"x/y":{"default":1},"o":{"properties":{"p":{"$ref":"#/$defs/x~1y"}}}}}`, `{"a":1,"b":{"p":1},"c":{"p":1}}`},
		{"foreign and broken references", `{"properties":{"a":{"$ref":"http://example.org"},"b":{"$ref":"#/$defs/none"},"c":{"$ref":"#x"},"d":{"default":1}}}`, `{"d":1}`},
		{"recursion", `{"properties":{"n":{"default":1},"next":{"$ref":"#/$defs/node"}},
			"$defs":{"node":{"properties":{"n":{"default":1},"next":{"$ref":"#/$defs/node"}}}}}`, `{"n":1}`},
		{"recursion to the root", `{"properties":{"n":{"default":1},"next":{"$ref":"#"}}}`, `{"n":1}`},
		{"bare recursion", `{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, ""},
		{"twice the same name", `{"properties":{"a":{"default":1},"a":{"default":2}}}`, ""},
	}
	for _, tt := range tests {
		if got := string(schema.MustParse(tt.raw).Defaults()); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Each definition holds the next one twice: 2^30 paths end in a default.
func TestDefaultsOfPoison(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{`)
	name := "a"
	for range 30 {
		b.WriteString(`"` + name + `":{"properties":{"x":{"$ref":"#/$defs/` + name + `a"},"y":{"$ref":"#/$defs/` + name + `a"}}},`)
		name += "a"
	}
	b.WriteString(`"` + name + `":{"default":1}}}`)
	if got := schema.MustParse(b.String()).Defaults(); got != nil {
		t.Errorf("got %d bytes, want none", len(got))
	}
}

func TestIsObject(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type":["object","null"]}`: false, `{"type":"array"}`: false, `{}`: false, `true`: false,
		`{"properties":{"type":{"type":"object"}}}`: false,
	} {
		if got := schema.MustParse(raw).IsObject(); got != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
}
