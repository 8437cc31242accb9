package accept_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// TestRandomSchemas wants schemas that are ones, that most have values, and
// that they use what tools use.
func TestRandomSchemas(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	satisfied := 0
	const n = 300
	for seed := range uint64(n) {
		schema := accept.RandomSchema(source(seed))
		if again := accept.RandomSchema(source(seed)); !bytes.Equal(schema, again) {
			t.Fatalf("seed %d gives two schemas", seed)
		}
		for _, v := range accept.Check("mcp", []accept.Tool{{Name: "t", Input: schema}}) {
			t.Errorf("%s: %s", schema, v)
		}
		if _, ok := accept.RandomInstance(source(seed), schema); ok {
			satisfied++
		}
		all.Write(schema)
	}
	if satisfied < n*95/100 {
		t.Errorf("%d of %d have values", satisfied, n)
	}
	for _, keyword := range strings.Fields("anyOf oneOf allOf $ref $defs enum const prefixItems items pattern format minLength maxLength minimum maximum exclusiveMinimum multipleOf minItems maxItems uniqueItems additionalProperties patternProperties propertyNames maxProperties dependentRequired not default title description __proto__") {
		if !bytes.Contains(all.Bytes(), []byte(`"`+keyword+`":`)) {
			t.Errorf("no schema has %s", keyword)
		}
	}
}

// TestSamplesVary wants all of a small schema's values, not one over and over.
func TestSamplesVary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema string
		want   []string
	}{
		{`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"const":1}},"required":["a"]}`, []string{`{"a":true}`, `{"a":false}`, `{"a":true,"b":1}`, `{"a":false,"b":1}`}},
		{`{"anyOf":[{"const":1},{"enum":["x","y"]},{"type":"null"}]}`, []string{`1`, `"x"`, `"y"`, `null`}},
		{`{"type":"integer","minimum":3,"exclusiveMaximum":7,"multipleOf":2}`, []string{`4`, `6`}},
		{`{"type":"number","minimum":0,"maximum":0.5}`, []string{`0`, `0.5`}},
		{`{"type":"string","pattern":"^(a|b)c?$"}`, []string{`"a"`, `"b"`, `"ac"`, `"bc"`}},
		{`{"type":"string","pattern":"^(?!a)[ab]$"}`, []string{`"b"`}},
		{`{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2,"uniqueItems":true}`, []string{`[true,false]`, `[false,true]`}},
		{`{"type":"array","prefixItems":[{"const":1},{"const":2}],"items":false}`, []string{`[]`, `[1]`, `[1,2]`}},
		{`{"type":"object","properties":{"n":{"$ref":"#"}},"additionalProperties":false}`, []string{`{}`, `{"n":{}}`, `{"n":{"n":{}}}`}},
		{`{"allOf":[{"type":["string","null"]},{"enum":["a",null,1]}]}`, []string{`"a"`, `null`}},
		{`{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`, []string{`-9223372036854775808`, `9223372036854775807`}},
		{`{"type":"OBJECT","properties":{"a":{"type":"STRING","enum":["x"],"nullable":true},"n":{"type":"INTEGER","format":"enum","enum":["1"]}},"required":["a","n"],"propertyOrdering":["n","a"]}`, []string{`{"a":"x","n":1}`, `{"a":null,"n":1}`}},
		{`{"type":"object","properties":{"k":{"enum":["a","b"]},"x":{"const":1}},"required":["k"],"additionalProperties":false,"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["x"]},"else":{"properties":{"x":false}}}`, []string{`{"k":"a","x":1}`, `{"k":"b"}`}},
		{`{"type":"object","additionalProperties":{"const":1},"propertyNames":{"enum":["a","b"]},"minProperties":1}`, []string{`{"a":1}`, `{"b":1}`, `{"a":1,"b":1}`}},
	} {
		s, err := accept.NewSampler(json.RawMessage(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		rng := source(1)
		seen := map[string]bool{}
		for range 1_000 {
			if v, ok := s.Sample(rng); ok {
				seen[string(v)] = true
			}
		}
		for _, want := range c.want {
			if !seen[want] {
				t.Errorf("%s: never %s", c.schema, want)
			}
		}
	}
	if v, ok := accept.RandomInstance(source(1), nil); !ok || string(v) != "{}" {
		t.Errorf("no schema: %s %v", v, ok)
	}
	if v, ok := accept.RandomInstance(source(1), json.RawMessage(`{"allOf":[{"type":"string"},{"type":"integer"}]}`)); ok {
		t.Errorf("a contradiction has the value %s", v)
	}
}

// TestMutate wants JSON that is near: another value, sometimes a valid one.
func TestMutate(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"l":{"type":"array","items":{"type":"boolean"}},"o":{"type":"object","properties":{"x":{"type":"null"}}}}}`)
	s, err := accept.Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	rng := source(3)
	before := json.RawMessage(`{"s":"a","n":-7,"l":[true,false],"o":{"x":null},"e":[],"f":{}}`)
	valid, changed := 0, 0
	const n = 2_000
	for range n {
		after := accept.Mutate(rng, before)
		if !json.Valid(after) {
			t.Fatalf("no JSON: %s", after)
		}
		if failing, err := s.Failing(after); err == nil && failing == nil {
			valid++
		}
		if !bytes.Equal(before, after) {
			changed++
		}
	}
	if valid < n/20 || valid > n*9/10 || changed < n*9/10 {
		t.Errorf("of %d, %d are valid, %d are others", n, valid, changed)
	}
	if got := accept.Mutate(rng, json.RawMessage(`{`)); string(got) != "{" {
		t.Errorf("of no JSON: %s", got)
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, r := range accept.Schemas() {
		s, err := accept.Compile(r.Schema)
		if err != nil {
			if r.Name != "wild_inplace_cycle" && r.Name != "wild_draft04" {
				t.Errorf("%s: %v", r.Name, err)
			}
			continue
		}
		for _, v := range r.Valid {
			if failing, err := s.Failing(v); err != nil || failing != nil {
				t.Errorf("%s: %s: %v %v", r.Name, v, failing, err)
			}
		}
		for _, v := range r.Invalid {
			if failing, err := s.Failing(v); err != nil || failing == nil {
				t.Errorf("%s: %s is valid: %v", r.Name, v, err)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	flat := func(all []accept.Failure) []string {
		var lines []string
		for _, f := range all {
			lines = append(lines, fmt.Sprintf("%s %s +%d", f.InstancePath, f.KeywordLocation, len(f.Causes)))
		}
		slices.Sort(lines)
		return lines
	}
	for _, c := range []struct {
		schema, instance string
		want             []string
	}{
		{`{"type":"object","properties":{"a/b":{"type":"string"}}}`, `{"a/b":1}`, []string{"/a~1b /properties/a~1b/type +0"}},
		{`{"properties":{"x":{"$ref":"#/$defs/名"}},"$defs":{"名":{"minimum":5}}}`, `{"x":1}`, []string{"/x /$defs/名/minimum +0"}},
		{`{"anyOf":[{"type":"string"},{"type":"integer","minimum":3}]}`, `1`, []string{" /anyOf +2"}},
		{`{"allOf":[{"minimum":3},{"maximum":0}]}`, `1`, []string{" /allOf/0/minimum +0", " /allOf/1/maximum +0"}},
		{`{"not":{"type":"string"}}`, `"a"`, []string{" /not +0"}},
		{`{"properties":{"a":false}}`, `{"a":1}`, []string{"/a /properties/a +0"}},
		{`{"type":"object","additionalProperties":false,"required":["r"]}`, `{"x":1}`, []string{" /additionalProperties +0", " /required +0"}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `[1,2]`, []string{" /additionalItems +0", "/0 /items/0/type +0"}},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`, `"no date"`, nil},
		{`{"pattern":"^(?!x)"}`, `"x"`, []string{" /pattern +0"}},
		{`{"pattern":"^(a)\\1$"}`, `"nothing knows"`, nil},
		{`{"enum":[9007199254740993]}`, `9007199254740992`, []string{" /enum +0"}},
	} {
		failing, err := accept.Valid(json.RawMessage(c.schema), json.RawMessage(c.instance))
		if err != nil || !slices.Equal(flat(failing), c.want) {
			t.Errorf("%s: %s: %q, want %q (%v)", c.schema, c.instance, flat(failing), c.want, err)
		}
	}
	for _, schema := range []string{`{`, `{"type":"any"}`, `{"$ref":"#"}`, `{"$ref":"https://example.com"}`, `{"maximum":1e99999}`, `{"$schema":"https://example.com"}`} {
		if _, err := accept.Valid(json.RawMessage(schema), json.RawMessage(`1`)); err == nil {
			t.Errorf("%s compiles", schema)
		}
	}
	for _, instance := range []string{``, `{`, `1 2`, `1e99999`} {
		if _, err := accept.Valid(json.RawMessage(`{}`), json.RawMessage(instance)); err == nil {
			t.Errorf("%q is a value", instance)
		}
	}
}

func TestValidFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, instance string
		valid            bool
	}{
		{upper(`{"type":"STRING","nullable":true}`), `{"x":null}`, true},
		{upper(`{"type":"STRING"}`), `{"x":null}`, false},
		{upper(`{"type":"string"}`), `{"x":"a"}`, true},
		{upper(`{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true}`), `{"x":null}`, true},
		{upper(`{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`), `{"x":null}`, false},
		{upper(`{"type":"INTEGER","format":"enum","enum":["1","2"]}`), `{"x":2}`, true},
		{upper(`{"type":"INTEGER","format":"enum","enum":["1","2"]}`), `{"x":"2"}`, false},
		{upper(`{"type":"STRING","enum":["a"],"nullable":true}`), `{"x":null}`, true},
		{upper(`{"type":"ARRAY","items":{"type":"NUMBER"},"maxItems":"1"}`), `{"x":[1,2]}`, false},
		{upper(`{"type":"OBJECT","properties":{"type":{"type":"STRING"},"nullable":{"type":"BOOLEAN"}},"required":["nullable"]}`), `{"x":{"type":"STRING","nullable":true}}`, true},
		{upper(`{"type":"OBJECT","properties":{"nullable":{"type":"BOOLEAN"}},"required":["nullable"]}`), `{"x":{}}`, false},
		{``, `{}`, true}, {``, `{"a":1}`, false},
	} {
		var schema json.RawMessage
		if c.schema != "" {
			schema = json.RawMessage(c.schema)
		}
		failing, err := accept.ValidFor("gemini-schema", schema, json.RawMessage(c.instance))
		if err != nil || (failing == nil) != c.valid {
			t.Errorf("%s: %s: %v %v", c.schema, c.instance, failing, err)
		}
	}
	if _, err := accept.ValidFor("gemini-schema", json.RawMessage(`{`), json.RawMessage(`1`)); err == nil {
		t.Error("no JSON compiles")
	}
	if failing, err := accept.ValidFor("mcp", json.RawMessage(with(`{"type":"string"}`)), json.RawMessage(`{"x":1}`)); err != nil || failing == nil {
		t.Errorf("mcp: %v %v", failing, err)
	}
}

func BenchmarkSample(b *testing.B) {
	s, err := accept.NewSampler(accept.Tools()[0].Input())
	if err != nil {
		b.Fatal(err)
	}
	rng := source(5)
	for b.Loop() {
		s.Sample(rng)
	}
}

func BenchmarkCheck(b *testing.B) {
	var tools []accept.Tool
	for _, s := range accept.Tools() {
		tools = append(tools, accept.Tool{Server: s.Server, Name: s.Name(), Input: s.Input(), Strict: true})
	}
	for b.Loop() {
		for _, target := range accept.Targets() {
			accept.Check(target, tools)
		}
	}
}
