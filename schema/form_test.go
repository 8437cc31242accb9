package schema_test

import (
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
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
		{"beside a reference", `{"properties":{"u":{"$ref":"#/$defs/U","pattern":"b"},"v":{"$ref":"#/$defs/U"}},"$defs":{"U":{"type":"string","pattern":"a"}}}`, `any {u?: string /a +pattern="b", v?: @U}
U = string /a`},
		{"closed beside a pattern", `{"type":"object","patternProperties":{"^x":{}},"additionalProperties":false,"allOf":[{"properties":{"a":{}}}]}`, `object +patternProperties={"^x":{}} +additionalProperties=false +allOf=[{"properties":{"a":{}}}]`},
		{"pattern beside closed", `{"type":"object","properties":{"a":{}},"additionalProperties":false,"allOf":[{"patternProperties":{"^x":{}}}]}`, `object {a?: any, ...never} +allOf=[{"patternProperties":{"^x":{}}}]`},
		{"two conditions", `{"if":{"minLength":1},"then":{"maxLength":2},"allOf":[{"if":{"maxLength":5},"else":{"maxLength":9}}]}`, `any +if={"minLength":1} +then={"maxLength":2} +allOf=[{"if":{"maxLength":5},"else":{"maxLength":9}}]`},
		{"two contained", `{"contains":{"minLength":1},"allOf":[{"contains":{"maxLength":5},"minContains":0}]}`, `any +contains={"minLength":1} +allOf=[{"contains":{"maxLength":5},"minContains":0}]`},
		{"contained in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","contains":{"minLength":1},"minContains":0}`, `any +contains={"minLength":1}`},
		{"patterns", `{"type":"string","pattern":"a","allOf":[{"pattern":"b"}]}`, `string /a +allOf=[{"pattern":"b"}]`},
		{"conditions", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `object {a?: any, b?: any} +anyOf=[{"required":["a"]},{"required":["b"]}]`},
		{"record", `{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"number"},"required":["a"]}`, `object {a: number, b?: number, ...never}`},
		{"flattened", `{"anyOf":[{"anyOf":[{"type":"object","minProperties":1},{"type":"object","maxProperties":1}]},{"oneOf":[{"type":"string"},{"type":"null"}]}]}`, `string or object or null any of (object {} members 1+  | object {} members 0-1  | string)`},
		{"same", `{"anyOf":[{"type":"object","minProperties":1},{"minProperties":1,"type":"object","title":"again"}]}`, `object {} members 1+ `},
		{"exactly one of the same", `{"oneOf":[{"type":"string"},{"type":"string"},{"type":"integer"}]}`, `string or integer +oneOf=[{"type":"string"},{"type":"string"},{"type":"integer"}]`},
		{"exactly one of overlapping", `{"oneOf":[{"type":"string","minLength":1},{"type":"string","maxLength":3}]}`, `string one of (string  length 1+  | string  length 0-3 )`},
		{"numbers", `{"anyOf":[{"type":"integer"},{"type":"number"},{"type":"number","minimum":3}]}`, `number any of (integer | number | number >=3)`},
		{"never", `{"anyOf":[false,{"not":{}},{"type":"string"}]}`, `string`},
		{"properties beside alternatives", `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"properties":{"b":{"type":"integer"}},"required":["b"]},{"properties":{"c":{}},"required":["c"]}]}`, `object {a?: string} +anyOf=[{"properties":{"b":{"type":"integer"}},"required":["b"]},{"properties":{"c":{}},"required":["c"]}]`},
		{"types of alternatives", `{"type":["object","null"],"anyOf":[{"properties":{"b":{"type":"integer"}},"required":["b"]},{"properties":{"c":{}},"required":["c"]}]}`, `object or null any of (object {b: integer} | object {c: any})`},
		{"descriptions", `{"anyOf":[{"type":"string","description":"a name"},{"type":"integer","description":"a number"}]}`, `string or integer ("a name; a number")`},
		{"own description", `{"description":"d","anyOf":[{"type":"string","description":"a name"},{"type":"integer"}]}`, `string or integer ("d")`},
		{"closed branch", `{"allOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}}}]}`, `any {a?: any, b?: never, ...never}`},
		{"impossible", `{"type":["object","null"],"required":["b"],"additionalProperties":false}`, `null`},
		{"prefixes", `{"allOf":[{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}},{"prefixItems":[{"minLength":1},{"minimum":2}]}]}`, `any [string...integer] +allOf=[{"prefixItems":[{"minLength":1},{"minimum":2}]}]`},
		{"multiples", `{"allOf":[{"multipleOf":2},{"multipleOf":6},{"multipleOf":4}]}`, `any multiple 2 +allOf=[{"multipleOf":6},{"multipleOf":4}]`},
		{"unevaluated alone", `{"properties":{"b":{}},"unevaluatedProperties":false}`, `any {b?: any, ...never}`},
		{"unevaluated items", `{"prefixItems":[{"type":"string"}],"unevaluatedItems":{"type":"integer"}}`, `any [string] +unevaluatedItems={"type":"integer"}`},
		{"unevaluated in one of several", `{"properties":{"b":{}},"allOf":[{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}]}`, `any {b?: any} +allOf=[{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}]`},
		{"two unions", `{"anyOf":[{"type":"string","minLength":1},{"type":"string","pattern":"a"}],"allOf":[{"anyOf":[{"minLength":2},{"maxLength":9}]}]}`, `string any of (string  length 1+  | string /a) +allOf=[{"anyOf":[{"minLength":2},{"maxLength":9}]}]`},
		{"unevaluated", `{"allOf":[{"properties":{"a":{}}}],"properties":{"b":{}},"unevaluatedProperties":false}`, `any {b?: any, a?: any} +unevaluatedProperties=false`},
		{"unevaluated beside a union", `{"anyOf":[{"properties":{"a":{}}},{"minProperties":2}],"unevaluatedProperties":false}`, `any any of (string or number or boolean or object or array {a?: any} | string or number or boolean or object or array {} members 2+ ) +unevaluatedProperties=false`},
		{"every name", `{"patternProperties":{".*":{"type":"string"}}}`, `any {...string}`},
		{"patterns of names", `{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":false}`, `any +patternProperties={"^a":{"type":"string"}} +additionalProperties=false`},
		{"recursive and more", `{"properties":{"n":{"$ref":"#","minProperties":1}}}`, `any {n?: any @root {} members 1+ }
root = any {n?: any @root {} members 1+ }`},
		{"recursive union", `{"$ref":"#/$defs/e","$defs":{"e":{"oneOf":[{"$ref":"#/$defs/and"},{"$ref":"#/$defs/leaf"}]},"and":{"type":"object","properties":{"k":{"const":"and"},"of":{"type":"array","items":{"$ref":"#/$defs/e"}}},"required":["k"]},"leaf":{"type":"object","properties":{"k":{"const":"leaf"}},"required":["k"]}}}`, `object any of by k (@and | object {k: string {"leaf"}})
e = object any of by k (@and | object {k: string {"leaf"}})
and = object {k: string {"and"}, of?: array [...@e]}`},
		{"optional shared", `{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]},"b":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"object","title":"X"}}}`, `any {a?: object or null ("X"), b?: @x}
x = object ("X")`},
		{"anchor", `{"properties":{"a":{"$ref":"#x"},"b":{"$ref":"#x"}},"$defs":{"y":{"$anchor":"x","type":"string"}}}`, `any {a?: @y, b?: @y}
y = string`},
		{"order", `{"properties":{"z":{},"a":{},"m":{}},"required":["q","a"]}`, `any {z?: any, a: any, m?: any, q*: any}`},
		{"exact numbers", `{"maximum":9223372036854775807,"enum":[12345678901234567890.10,1]}`, `number <=9223372036854775807 {12345678901234567890.10,1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := form.Read(schema.MustParse(test.schema).Raw())
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
