package schema_test

import (
	"testing"

	"github.com/toolpost/toolpost/schema"
)

func TestForm(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"types", `{"type":["string","null"],"minLength":2}`, `string or null  length 2+ `},
		{"object", `{"type":"object","properties":{"b":{"type":"integer","minimum":1},"a":{"description":"x"}},"required":["c","b"],"additionalProperties":{"type":"string"}}`, `object {b: integer >=1, a?: any ("x"), c*: string, ...string}`},
		{"optional", `{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}],"default":null,"title":"T"}`, `string or null  length 0-3  ("T"; default null)`},
		{"kinds", `{"anyOf":[{"enum":["a","b"]},{"type":"integer","minimum":1}]}`, `string or integer >=1 {string: "a","b"}`},
		{"labels", `{"oneOf":[{"const":"a","title":"first"},{"const":"b","description":"second"}]}`, `string {"a","b"} ("a: first; b: second")`},
		{"tag", `{"oneOf":[{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},{"type":"object","properties":{"k":{"const":"b"},"x":{"type":"string"}},"required":["k"]}]}`, `object any of by k (object {k: string {"a"}} | object {k: string {"b"}, x?: string})`},
		{"recursive", `{"$ref":"#/$defs/N","$defs":{"N":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/N"},{"type":"null"}]}}}}}`, `object {next?: object or null any of (@N)}
N = object {next?: object or null any of (@N)}`},
		{"root", `{"type":"object","properties":{"next":{"$ref":"#"}}}`, `object {next?: @root}
root = object {next?: @root}`},
		{"once", `{"properties":{"u":{"$ref":"#/$defs/U","description":"here"}},"$defs":{"U":{"type":"string","description":"there"}}}`, `any {u?: string ("here")}`},
		{"twice", `{"properties":{"u":{"$ref":"#/$defs/U","description":"here"},"v":{"$ref":"#/$defs/U","minLength":1}},"$defs":{"U":{"type":"string","maxLength":5}}}`, `any {u?: @U ("here"), v?: string  length 1-5 }
U = string  length 0-5 `},
		{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"number","minimum":1}}},{"properties":{"a":{"type":"integer","minimum":3,"maximum":9}},"required":["a"]}]}`, `object {a: integer >=3<=9}`},
		{"patterns", `{"type":"string","pattern":"a","allOf":[{"pattern":"b"}]}`, `string /a +allOf=[{"pattern":"b"}]`},
		{"conditions", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `object {a?: any, b?: any} +anyOf=[{"required":["a"]},{"required":["b"]}]`},
		{"record", `{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"number"},"required":["a"]}`, `object {a: number, b?: number, ...never}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := schema.MustParse(test.schema).Form()
			got := text(d)
			if got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			for _, c := range d.Changes {
				t.Log(c)
			}
		})
	}
}
