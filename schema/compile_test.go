package schema_test

import (
	"testing"

	"github.com/toolpost/toolpost/schema"
)

func compile(t testing.TB, raw string) *schema.Validator {
	t.Helper()
	s, err := schema.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Compile(s, nil)
}

func TestProblems(t *testing.T) {
	for _, test := range []struct{ schema, value, want string }{
		{`{"type":"integer"}`, `7`, ""},
		{`{"type":"integer"}`, `1e2`, ""},
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"type":"integer"}`, `"7"`, `expected integer, got string "7"`},
		{`{"properties":{"items":{"items":{"properties":{"id":{"type":"integer"}}}}}}`, `{"items":[{"id":"7"}]}`,
			`/items/0/id: expected integer, got string "7"`},
		{`{"properties":{"items":{},"id":{}},"additionalProperties":false}`, `{"itmes":[]}`,
			`/itmes: unknown property; valid names: items, id`},
		{`{"properties":{"id":{"type":"integer","minimum":1}},"required":["id"]}`, `{}`,
			`/id: expected integer from 1, got nothing: the property is required`},
		{`{"enum":["open","closed"]}`, `"opne"`, `expected one of "open", "closed", got string "opne"`},
		{`{"const":9007199254740993}`, `9007199254740992`, `expected 9007199254740993, got integer 9007199254740992`},
		{`{"const":1.0}`, `1`, ""},
		{`{"multipleOf":0.01}`, `19.99`, ""},
		{`{"multipleOf":0.01}`, `19.999`, `expected number that is a multiple of 0.01, got number 19.999`},
		{`{}`, `{"a":1,"\u0061":2}`, `/a: expected one property of this name, got a duplicate`},
		{`{}`, `{"a":{"b":[{"x":1,"x":2}]}}`, `/a/b/0/x: expected one property of this name, got a duplicate`},
		{`{}`, `{"a":1}}`, `expected the end, got "}" at byte 7; it is not JSON`},
		{`{}`, ``, `expected a value, got the end of the data at byte 0; it is not JSON`},
		{`{}`, `{"a" 1}`, `expected ":", got "1}" at byte 5; it is not JSON`},
		{`{}`, `"\ud800"`, `expected a valid escape in a string, got "\\ud800\"" at byte 1; it is not JSON`},
		{`{"type":["string","null"]}`, `5`, `expected string or null, got integer 5`},
		{`{"anyOf":[{"type":"string","minLength":2},{"type":"integer"}]}`, `"a"`, `expected string with at least 2 characters or integer, got string "a"`},
		{`{"anyOf":[{"type":"string","minLength":2},{"type":"integer"}]}`, `null`, `expected string with at least 2 characters or integer, got null`},
		{`{"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"enum":["b","c"]}},"required":["k"]}]}`, `{"k":"d"}`,
			`/k: expected one of "a", "b", "c", got string "d"`},
		{`{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"null"}},"required":["k","x"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`, `{"k":"a","x":1}`,
			`/x: expected null, got integer 1`},
		{`{"oneOf":[{"minimum":1},{"maximum":5}]}`, `3`,
			`expected a value that matches exactly one of 2 forms: number from 1 or number up to 5, got integer 3, which matches 2 of them`},
		{`{"anyOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"]}}`, `{}`, `expected object with "a" or object with "b", got object {}`},
		{`{"minProperties":1,"uniqueItems":true,"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"null"}]}`, `{"a":1}`, `/a: expected string, got integer 1`},
		{`{"minimum":9007199254740993,"not":{"const":1}}`, `5`, `expected number from 9007199254740993, got integer 5`},
		{`{"$id":"http://x/y","properties":{"a":{"multipleOf":0.10}},"not":{"const":1}}`, `{"a":0.15}`, `/a: expected number that is a multiple of 0.10, got number 0.15`},
		{`{"patternProperties":{"^a":{}},"properties":{"c":{}},"additionalProperties":false}`, `{"b":1}`, `/b: unknown property; valid names: c, any that matches ^a`},
		{`{"patternProperties":{"^x":{}},"properties":{"a":{"propertyNames":{"pattern":"^[a-z]+$"}},"z":{}}}`, `{"m":1,"a":{"K 1":{"a":"q"}},"z":{}}`,
			`/a/K 1: expected another property name, got this one, which is not allowed`},
		{`{"type":"object"}`, `[1,2]`, `expected object, got array [1,2]`},
	} {
		err := compile(t, test.schema).Validate([]byte(test.value))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s against %s:\n got %s\nwant %s", test.value, test.schema, got, test.want)
		}
	}
}
