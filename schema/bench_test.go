package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A call of some 950 bytes: 12 members, 5 of them objects.
const (
	callSchema = `{"type":"object","properties":{
"project":{"type":"string","minLength":1,"maxLength":100},"title":{"type":"string"},"description":{"type":"string"},
"priority":{"type":"integer","minimum":1,"maximum":5},"estimate":{"type":"number","minimum":0},"private":{"type":"boolean"},
"labels":{"type":"array","items":{"type":"string"},"maxItems":20},
"assignee":{"$ref":"#/$defs/user"},"reporter":{"$ref":"#/$defs/user"},
"due":{"type":"object","properties":{"date":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\d$"},"strict":{"type":"boolean"}},"required":["date"],"additionalProperties":false},
"location":{"type":"object","properties":{"lat":{"type":"number","minimum":-90,"maximum":90},"lon":{"type":"number"},"name":{"type":["string","null"]}},"required":["lat","lon"],"additionalProperties":false},
"meta":{"type":"object","additionalProperties":{"anyOf":[{"type":"string"},{"type":"number"}]}}},
"required":["project","title","priority"],"additionalProperties":false,
"$defs":{"user":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"email":{"type":"string"},"role":{"enum":["admin","member","guest"]}},"required":["id","name"],"additionalProperties":false}}}`

	callValue = `{"project":"toolpost","title":"Validate raw bytes in one pass without allocating anything","description":"` +
		`The arguments of a tool call arrive as raw bytes and should be checked as such. Decoding them into maps first costs four to five times as much as the decode into the struct that the handler wants, ` +
		`rounds large integers, and loses the order of the members.","priority":3,"estimate":12.5,"private":false,"labels":["performance","schema","core","json"],` +
		`"assignee":{"id":42,"name":"Ada Lovelace","email":"ada@example.com","role":"admin"},"reporter":{"id":1815,"name":"Charles Babbage","email":"charles@example.com","role":"member"},` +
		`"due":{"date":"2026-12-10","strict":true},"location":{"lat":51.5074,"lon":-0.1278,"name":"London"},` +
		`"meta":{"source":"benchmark","attempt":1,"build":"2026.11.21-rc1","weight":0.75,"trace":"4bf92f3577b34da6a3ce929d0e0e4736"}}`
)

func BenchmarkValidate(b *testing.B) {
	data := []byte(callValue)
	b.Run("toolpost", func(b *testing.B) {
		v := compile(b, callSchema)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if err := v.Validate(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("santhosh", func(b *testing.B) {
		v := reference(b, callSchema)
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(callValue))
			if err != nil {
				b.Fatal(err)
			}
			if err := v.Validate(doc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("syntax only, encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if !json.Valid(data) {
				b.Fatal("not JSON")
			}
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compile(b, callSchema)
	}
}

func TestValidateDoesNotAllocate(t *testing.T) {
	for _, test := range []struct{ name, schema, value string }{
		{"call", callSchema, callValue},
		{"untyped", `{}`, callValue},
		{"recursive", `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"required":["v"]}`, `{"v":1,"next":{"v":2,"next":{"v":3}}}`},
		{"enum", `{"items":{"enum":["a",1,null,true,2.50]}}`, `["a",1.0,null,true,2.5]`},
		{"const", `{"items":{"const":9007199254740993}}`, `[9007199254740993]`},
		{"bounds", `{"items":{"type":"number","exclusiveMinimum":0,"maximum":1e3,"multipleOf":0.01}}`, `[19.99,1000,1e-2,3]`},
		{"lengths", `{"items":{"minLength":2,"maxLength":4}}`, `["äöü","日本語","ab"]`},
		{"counts", `{"minProperties":1,"maxProperties":3,"properties":{"a":{"minItems":1,"maxItems":2}}}`, `{"a":[1,2],"b":2}`},
		{"pattern", `{"items":{"pattern":"^[a-z]+-\\d+$"}}`, `["abc-123","x-0"]`},
		{"tuple", `{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`, `["a",1]`},
		{"one of by kind", `{"items":{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"array","items":{"type":"null"}}]}}`, `["a",1,[null]]`},
		{"any of objects", `{"items":{"anyOf":[{"properties":{"k":{"const":"a"},"x":{"type":"integer"}},"required":["k","x"]},{"properties":{"k":{"const":"b"}},"required":["k"],"additionalProperties":false}]}}`,
			`[{"k":"a","x":1},{"k":"b"}]`},
		{"all of", `{"allOf":[{"required":["a"]},{"properties":{"a":{"type":"integer"}}}]}`, `{"a":1,"b":[{},{"c":1,"d":2}]}`},
		{"names", `{"propertyNames":{"maxLength":3},"additionalProperties":{"type":"integer"}}`, `{"a":1,"b":2,"c":3}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, data := compile(t, test.schema), []byte(test.value)
			if err := v.Validate(data); err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(100, func() { _ = v.Validate(data) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
