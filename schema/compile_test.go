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
	return s.Validator()
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
		{`{"minimum":9007199254740993,"not":{"const":1}}`, `5`, `expected number from 9007199254740993 and not 1, got integer 5`},
		{`{"$id":"http://x/y","properties":{"a":{"multipleOf":0.10}},"not":{"const":1}}`, `{"a":0.15}`, `/a: expected number that is a multiple of 0.10, got number 0.15`},
		{`{"patternProperties":{"^a":{}},"properties":{"c":{}},"additionalProperties":false}`, `{"b":1}`, `/b: unknown property; valid names: c, any that matches ^a`},
		{`{"patternProperties":{"^x":{}},"properties":{"a":{"propertyNames":{"pattern":"^[a-z]+$"}},"z":{}}}`, `{"m":1,"a":{"K 1":{"a":"q"}},"z":{}}`,
			`/a/K 1: expected a name that is string matching ^[a-z]+$, got "K 1"`},
		{`{"propertyNames":{"not":{"const":"b"}}}`, `{"b":1}`, `/b: expected a name that is not "b", got "b"`},
		{`{"patternProperties":{"^a":{"type":"integer"}}}`, `{"ab":"1","b":2}`, `/ab: expected integer, got string "1"`},
		{`{"patternProperties":{"^a":{},"b$":{"minimum":2}},"additionalProperties":false}`, `{"ab":1}`, `/ab: expected number from 2, got integer 1`},
		{`{"not":{"type":"integer"}}`, `5`, `expected another value; this one is excluded, got integer 5`},
		{`{"if":{"properties":{"kind":{"const":"file"}},"required":["kind"]},"then":{"required":["path"]},"else":{"required":["url"]}}`, `{"kind":"file"}`,
			`/path: expected a value, got nothing: the property is required`},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":false}`, `1`, `expected nothing: no value is allowed here, got integer 1`},
		{`{"contains":{"type":"integer"}}`, `["a"]`, `expected array with at least 1 item that is integer, got array ["a"]`},
		{`{"contains":{"type":"integer"},"minContains":2,"maxContains":3}`, `[1,2,3,4]`, `expected array with 2 to 3 items that are integer, got array [1,2,3,4]`},
		{`{"contains":{"type":"integer"},"minContains":0}`, `[]`, ""},
		{`{"uniqueItems":true}`, `[{"a":1,"b":[2]},3,{"b":[2.0],"a":1}]`, `expected unique items (items 0 and 2 are equal), got array [{"a":1,"b":[2]},3,{"b":[2.0],"a":1}]`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b: expected a value, got nothing: it is required together with "a"`},
		{`{"dependentSchemas":{"a":{"maxProperties":1}}}`, `{"a":1,"b":2}`, `expected object with at most 1 property, got 2 properties`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"c":1}`,
			`/d: expected a value, got nothing: the property is required`},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"b":1}`, `/b: unknown property; valid names: a`},
		{`{"prefixItems":[{}],"unevaluatedItems":{"type":"null"}}`, `[1,2]`, `/1: expected null, got integer 2`},
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

// TestBadMembersOfLists: what is not a schema in a list of schemas is not checked; the
// others are, if the list does not leave a choice.
func TestBadMembersOfLists(t *testing.T) {
	for _, test := range []struct {
		schema, value string
		valid         bool
	}{
		{`{"allOf":[{"type":"object","required":["a"]},5]}`, `{}`, false},
		{`{"allOf":[{"type":"object","required":["a"]},5]}`, `{"a":1}`, true},
		{`{"anyOf":[{"type":"string"},5]}`, `1`, true},
		{`{"oneOf":[{"type":"string"},null]}`, `"a"`, true},
		{`{"prefixItems":[5,{"type":"string"}]}`, `[1,2]`, false},
		{`{"prefixItems":[5,{"type":"string"}]}`, `[1,"a"]`, true},
		{`{"items":[{"type":"string"},5]}`, `[1]`, false},
		{`{"dependentRequired":{"a":"b","c":["d"]}}`, `{"a":1,"c":2}`, false},
		{`{"dependentRequired":{"a":"b","c":["d"]}}`, `{"a":1}`, true},
		{`{"dependencies":{"a":5,"c":["d"]}}`, `{"c":1}`, false},
		{`{"type":"STRING"}`, `1`, false},
		{`{"type":["Int","none"]}`, `null`, true},
		{`{"type":["string","file"]}`, `1`, true},
	} {
		if err := schema.MustParse(test.schema).Validate([]byte(test.value)); (err == nil) != test.valid {
			t.Errorf("%s for %s: %v", test.value, test.schema, err)
		}
	}
}
