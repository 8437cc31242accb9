package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

// quickSchema has every kind of property that the short ways of validation know, and
// others between them.
const quickSchema = `{"type":"object","properties":{
"id":{"type":"integer","minimum":-3,"maximum":900},"text":{"type":"string","minLength":1,"maxLength":12},"number":{"type":"number"},
"needed":{"type":"string"},"a_name_of_more_than_eight_bytes":{"type":["integer","string"]},"flag":{"type":"boolean"},"é":{"type":"string"},
"choice":{"enum":["a","b",1]},"half":{"type":"number","minimum":0.5},"pattern":{"type":"string","pattern":"^a"},"any":{},"never":false,
"list":{"type":"array","items":{"type":"string"},"minItems":1},"inner":{"$ref":"#"},"ten":{"type":"integer","exclusiveMaximum":10},
"union":{"anyOf":[{"type":"string","maxLength":2},{"type":"integer"}]}},
"required":["needed","undeclared"],"dependentRequired":{"flag":["id"]},"maxProperties":9}`

// A quickPair validates by one schema with the short ways and without, in this order.
type quickPair [2]*schema.Validator

// quickPairs returns a pair for which null is a value, and one for which it counts as left out.
func quickPairs(s *schema.Schema) []quickPair {
	return []quickPair{{s.Validator(), schema.Unhurried(s, false)}, {schema.Lenient(s), schema.Unhurried(s, true)}}
}

// compare reports whether the value fits, and fails if the two disagree.
func (p quickPair) compare(t *testing.T, value string) (fits bool) {
	t.Helper()
	got, want := p[0].Validate([]byte(value)), p[1].Validate([]byte(value))
	if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
		t.Fatalf("value %q\nquick: %v\nunhurried: %v", value, got, want)
	}
	return got == nil
}

// quickValues are members, valid ones and others, for objects of quickSchema.
var quickValues = []string{
	`"id":1`, `"id":-3`, `"id":-4`, `"id":901`, `"id":01`, `"id":-`, `"id":1.0`, `"id":1e2`, `"id":1.5`, `"id":1.`, `"id":99999999999999999999`, `"id":-0`, `"id": 7`, `"id"  :  7`,
	`"text":"a"`, `"text":""`, `"text":"twelve bytes"`, `"text":"thirteen byte"`, `"text":"éé"`, `"text":"\n\u0041"`, "\"text\":\"\n\"", "\"text\":\"\xff\"", "\"text\":\"1234567\xa2\"", "\"text\":\"123\xdc\"", "\"text\":\"\x80\"", "\"text\":\"\x1f\"", `"text":"a`, `"text":null`,
	`"number":1`, `"number":-1.5`, `"number":1.5e3`, `"number":1.5e`, `"number":1.`, `"number":-`, `"number":123456789.123456789012345678901`, `"number":.5`, `"number":"1"`,
	`"needed":"` + strings.Repeat("a long text ", 9) + `"`, `"needed":"` + strings.Repeat("a long text ", 9) + `\u00e9"`, `"needed":"a long text that is not closed, whatever`, `"needed":null`, `"undeclared":1`, `"other":[1,{}]`,
	`"a_name_of_more_than_eight_bytes":3`, `"a_name_of_more_than_eight_bytex":3`, `"a_name_of_more_than_eight_bytes" :"x"`, `"a_name_\u006ff_more_than_eight_bytes":3`, `"flag":true`, `"flag":tru`, `"é":"é"`, `"\u00e9":"e"`,
	`"choice":"a"`, `"choice":1.0`, `"choice":"c"`, `"half":0.5`, `"half":0.4`, `"pattern":"ab"`, `"pattern":"ba"`, `"any":{"a":1,"a":2}`, `"any":null`, `"never":1`,
	`"list":["a","b"]`, `"list":["a", 1]`, `"list":[]`, `"list":["a",]`, `"ten":9`, `"ten":10`, `"union":"ab"`, `"union":"abc"`, `"union":12`, ``, ` `,
	`"inner":{"needed":"x","undeclared":0}`, `"inner":{"needed":"x", "id":3, "undeclared":0, "text":"t"}`, `"inner":{}`, `"inner":[`,
}

// TestQuick has all members in the place of each of a valid object, and before and behind it.
func TestQuick(t *testing.T) {
	valid := []string{`"id":1`, `"text":"a"`, `"needed":"x"`, `"flag":true`, `"list":["a"]`, `"undeclared":{}`}
	pairs, fits, broken := quickPairs(schema.MustParse(quickSchema)), 0, 0
	check := func(value string) {
		for _, p := range pairs {
			if p.compare(t, value) {
				fits++
			} else {
				broken++
			}
		}
	}
	for _, member := range quickValues {
		for i := range valid {
			for _, with := range [][]string{{member}, {member, valid[i]}, {valid[i], member}} {
				all := slices.Concat(valid[:i], with, valid[i+1:])
				for _, join := range []string{",", ", ", " ,\n\t"} {
					value := "{" + strings.Join(all, join) + "}"
					check(value)
					check(value[:len(value)-1])
				}
			}
		}
	}
	if fits < 1000 || broken < 1000 {
		t.Errorf("%d values fit, %d do not: the test is out of balance", fits, broken)
	}
}

// FuzzQuick compares validation with and without its short ways.
func FuzzQuick(f *testing.F) {
	f.Add(quickSchema, `{"id":1, "text":"a","needed":"x","flag":true,"list":["a"],"undeclared":{},"inner":{"needed":null}}`)
	f.Add(callSchema, callValue)
	seedSchemas(func(raw string) { f.Add(raw, `{"a":{"a":[1,"x",null]},"b":1.0}`) })
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := schema.Parse([]byte(raw))
		if err != nil {
			return
		}
		for _, p := range quickPairs(s) {
			p.compare(t, value)
		}
	})
}
