package schema_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// doubling returns a schema whose definitions each refer twice to the next:
// 2^n ways lead through it.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"integer"}}}`, n)
	return b.String()
}

// byAnchor makes all references of doubling those to an anchor.
func byAnchor(raw string) string {
	raw = regexp.MustCompile(`"(d\d+)":{`).ReplaceAllString(raw, `"$1":{"$$anchor":"$1",`)
	return strings.ReplaceAll(raw, "#/$defs/", "#")
}

func wrap(n int, open, inner, closing string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(closing, n)
}

func TestHostileSchemas(t *testing.T) {
	for _, test := range []struct {
		name, schema   string
		report         string // part of the findings; "" for none
		accept, refuse string // values; "" for none
	}{
		{"refers to itself", `{"$ref":"#"}`, "refers to itself", `1`, ``},
		{"all of itself", `{"allOf":[{"$ref":"#"}],"type":"object"}`, "refers to itself", `{}`, `1`},
		{"mutual", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "refers to itself", ``, ``},
		{"entered in the middle", `{"properties":{"x":{"$ref":"#/$defs/a/allOf/0"}},"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "refers to itself", `{"x":1}`, ``},
		{"recursion that goes deeper", `{"type":"object","properties":{"x":{"$ref":"#"}}}`, "", `{"x":{"x":{}}}`, `{"x":{"x":1}}`},
		{"anchor of itself", `{"$anchor":"a","$ref":"#a","type":"string"}`, "refers to itself", `"x"`, `1`},
		{"id of itself", `{"$id":"http://x/y","$ref":"http://x/y","type":"string"}`, "refers to itself", `"x"`, `1`},
		{"inner id of itself", `{"$ref":"http://x/y","$defs":{"x":{"$id":"http://x/y","allOf":[{"$ref":"y"}],"type":"string"}}}`, "refers to itself", `"x"`, `1`},
		{"dynamic anchor of itself", `{"$dynamicAnchor":"a","$dynamicRef":"#a","type":"string"}`, "may depend on", `"x"`, `1`},
		{"recursive anchor of itself", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$recursiveRef":"#","type":"string"}`, "may depend on", `"x"`, `1`},
		{"recursive reference below an id", `{"$schema":"https://json-schema.org/draft/2019-09/schema","if":{"not":{}},"else":{"items":{"anyOf":[{"$recursiveRef":"#"}],"$id":"sub.json"}}}`, "may depend on", `[0.1]`, ``},
		{"anchor in a union", `{"$defs":{"x":{"$anchor":"a","anyOf":[{"$ref":"#a"},{"type":"string"}]}},"$ref":"#a"}`, "refers to itself", `"x"`, ``},
		{"anchor that goes deeper", `{"$anchor":"a","type":"object","properties":{"x":{"$ref":"#a"}}}`, "", `{"x":{}}`, `{"x":1}`},
		{"dynamic anchor that goes deeper", `{"$dynamicAnchor":"a","type":"object","properties":{"x":{"$dynamicRef":"#a"}}}`, "may depend on", `{"x":1}`, `1`},
		{"2^24 paths by anchors", byAnchor(doubling(24)), "multiply", `"x"`, ``},
		{"long id", `{"properties":{"a":{"$id":"http://x/` + strings.Repeat("y", 500) + `","$anchor":"b","type":"string"}}}`, "$id has more than 500 bytes", `{"a":"c"}`, `{"a":1}`},
		{"dynamic reference in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","$dynamicRef":"#a"}`, "", `1`, ``},
		{"missing ref beside unevaluated properties", `{"$ref":"http://x/y","unevaluatedProperties":false}`, "unevaluatedProperties is not checked", `{"a":1}`, ``},
		{"2^24 paths", doubling(24), "multiply", `"x"`, ``},
		{"2^10 paths", doubling(10), "", `1`, `"x"`},
		{"4900 nested not", wrap(4900, `{"not":`, `{}`, `}`), "nothing is validated", `1`, ``},
		{"nested arrays", `{"default":` + wrap(5000, "[", "", "]") + `}`, "nothing is validated", `1`, ``},
		{"65 subschemas deep", wrap(65, `{"items":`, `{}`, `}`), "nested more than", `1`, ``},
		{"64 subschemas deep", wrap(64, `{"items":`, `{}`, `}`), "", `[]`, ``},
		{"too many subschemas", `{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 10_000) + `{}]}`, "more than 10000", `1`, ``},
		{"many subschemas beside not", `{"not":{"type":"null"},"anyOf":[` + strings.Repeat(`{"type":"null"},`, 9000) + `{}]}`, "", `1`, `null`},
		{"not of a pattern no engine compiles", `{"not":{"pattern":"("}}`, "not checked", `1`, ``},
		{"one of two, one not checked", `{"oneOf":[{"items":{"$ref":"#/no"}},{"type":"array"}]}`, "not in the schema", `[1]`, ``},
		{"if not checked", `{"if":{"pattern":"("},"then":false}`, "not checked", `1`, ``},
		{"unevaluated beside others", `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, "unevaluatedProperties is not checked", `{"a":1,"b":2}`, ``},
		{"not unevaluated beside others", `{"not":{"anyOf":[true],"unevaluatedProperties":false}}`, "unevaluatedProperties is not checked", `{"b":2}`, ``},
		{"dynamic references to several", `{"$dynamicRef":"#a","$defs":{"x":{"$id":"x","$dynamicAnchor":"a"},"y":{"$id":"y","$dynamicAnchor":"a"}}}`, "may depend on", `1`, ``},
		{"dynamic reference behind an unknown keyword", `{"$ref":"#/x","x":{"$dynamicRef":"http://x/y"}}`, "may depend on", `1`, ``},
		{"metaschema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "not fetched", `1`, ``},
		{"an object of the same name within", `{"dependentSchemas":{"a":{"$ref":"#"}}}`, "refers to itself", `{"a":1}`, ``},
		{"many subschemas", `{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 9000) + `{"type":"string"}]}`, "", `"x"`, `1`},
		{"10 MB", `{"description":"` + strings.Repeat("x", 10<<20) + `"}`, "larger than", `1`, ``},
		{"huge enum", `{"enum":[` + strings.Repeat(`"x",`, 200_000) + `"y"]}`, "", `"y"`, `"z"`},
		{"lookahead", `{"pattern":"^(?!a)b"}`, "", `"b"`, `"ab"`},
		{"no engine", `{"pattern":"(","type":"string"}`, "not checked", `"x"`, `1`},
		{"pattern property no engine", `{"patternProperties":{"(":{"type":"null"}},"additionalProperties":false}`, "not checked", `{"x":1}`, ``},
		{"backtracking in RE2", `{"pattern":"^(a+)+$"}`, "", `"aaa"`, `"` + strings.Repeat("a", 50_000) + `b"`},
		{"exclusiveMinimum true", `{"minimum":1,"exclusiveMinimum":true}`, "draft-04", `2`, `1`},
		{"exclusiveMinimum false", `{"minimum":1,"exclusiveMinimum":false}`, "draft-04", `1`, `0`},
		{"draft-04 exclusiveMinimum", `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, "", `2`, `1`},
		{"required true", `{"properties":{"a":{"type":"string","required":true}}}`, "draft-03", `{"a":"x"}`, `{}`},
		{"required a string", `{"required":"a"}`, "required cannot be string", `{}`, ``},
		{"required of the root", `{"required":true}`, "required cannot be boolean", `{}`, ``},
		{"enum a string", `{"enum":"a"}`, "only choice", `"a"`, `"b"`},
		{"type any", `{"type":"any"}`, "draft 3", `1`, ``},
		{"type unknown", `{"type":"objekt","minProperties":1}`, "type cannot be", `1`, `{}`},
		{"type list unknown", `{"type":["string",7]}`, "type cannot be", `1`, ``},
		{"nulls", `{"type":"object","properties":null,"required":null,"items":null,"additionalProperties":null}`, "properties cannot be null", `{"a":1}`, `1`},
		{"nullable", `{"type":"string","nullable":true}`, "OpenAPI", `null`, `1`},
		{"tuple in 2020-12", `{"items":[{"type":"string"}],"additionalItems":false}`, "older drafts", `["a"]`, `["a",1]`},
		{"missing ref", `{"type":"object","properties":{"a":{"$ref":"#/$defs/no"},"b":{"type":"string"}}}`, "is not in the schema", `{"a":1}`, `{"b":1}`},
		{"http ref", `{"properties":{"a":{"$ref":"http://169.254.169.254/x"},"b":{"type":"string"}}}`, "is not fetched", `{"a":1}`, `{"b":1}`},
		{"file ref", `{"$ref":"file:///etc/passwd"}`, "is not fetched", `1`, ``},
		{"http ref from an id", `{"$id":"http://localhost/a/b","$ref":"c"}`, "not fetched", `1`, ``},
		{"ref to no schema", `{"$ref":"#/x","x":7}`, "is not in the schema", `1`, ``},
		{"ref that is no URI", `{"$ref":"%zz"}`, "cannot be", `1`, ``},
		{"ref that is not a string", `{"$ref":7}`, "cannot be", `1`, ``},
		{"largest int64", `{"maximum":9223372036854775807,"maxLength":9223372036854775808}`, "", `9223372036854775807`, `9223372036854775808`},
		{"huge exponent", `{"maximum":1e999999999999}`, "maximum cannot be", `1`, ``},
		{"negative length", `{"minLength":-1}`, "minLength cannot be", `""`, ``},
		{"multipleOf 0", `{"multipleOf":0}`, "multipleOf cannot be", `1`, ``},
		{"names with NUL", `{"properties":{"a":{"type":"string"},"a\u0000":{"type":"integer"}},"additionalProperties":false}`, "", `{"a":"x","a\u0000":1}`, `{"a\u0000":"x"}`},
		{"names of keywords", `{"properties":{"type":{"type":"string"},"properties":{"type":"integer"},"$ref":{"type":"null"},"required":{"enum":[1]},"__proto__":{"type":"boolean"}}}`, "",
			`{"type":"x","properties":1,"$ref":null,"required":1,"__proto__":true}`, `{"__proto__":1}`},
		{"repeated keyword", `{"type":"string","type":"integer"}`, "repeated", `1`, `"x"`},
		{"unknown dialect", `{"$schema":"http://localhost/my","type":"string"}`, "is unknown", `"x"`, `1`},
		{"annotations of any shape", `{"title":7,"description":[],"examples":"x","default":{"a":1},"readOnly":"no","format":3,"uniqueItems":true}`, "", `[1,2]`, `[1,1]`},
		{"annotation within not", `{"not":{"title":7,"type":"string"},"properties":{"format":{"format":"email"}}}`, "", `{"format":"x"}`, `"x"`},
		{"half a surrogate", `{"description":"\ud800"}`, "nothing is validated", `1`, ``},
		{"true", `true`, "", `1`, ``},
		{"false", `false`, "", ``, `1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			start := cpu()
			s, err := schema.Parse([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			v := s.Validator()
			report := fmt.Sprint(v.Report())
			if test.report == "" && report != "[]" || !strings.Contains(report, test.report) {
				t.Errorf("report %.500s, want %q", report, test.report)
			}
			if test.accept != "" {
				if err := v.Validate([]byte(test.accept)); err != nil {
					t.Errorf("%.100s is refused: %v", test.accept, err)
				}
			}
			if test.refuse != "" {
				if err := v.Validate([]byte(test.refuse)); err == nil {
					t.Errorf("%.100s is accepted", test.refuse)
				} else if len(err.Error()) > 2048 {
					t.Errorf("the text has %d bytes", len(err.Error()))
				}
			}
			if d := cpu() - start; d > 5*slowdown*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// numbered returns n members, each of the form.
func numbered(n int, form string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(parts, ",")
}

func TestHostileValues(t *testing.T) {
	branching := `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}}},{"type":"object","properties":{"x":{"$ref":"#/$defs/n"},"y":{}}},{"type":"integer"}]}}}`
	deep := wrap(900, `{"x":`, `"no"`, `}`)
	for _, test := range []struct{ name, schema, value, want string }{
		{"100,000 unknown names", `{"properties":{"alpha":{}},"additionalProperties":false}`, `{` + numbered(100_000, `"k%d":1`) + `}`, "and 99"},
		{"100,000 untyped names", `{}`, `{` + numbered(100_000, `"k%d":1`) + `}`, ""},
		{"100,000 untyped names, one twice", `{}`, `{` + numbered(100_000, `"k%d":1`) + `,"k7":1}`, "/k7: expected one property of this name"},
		{"20,000 names in the full validator", `{"not":{"type":"null"}}`, `{` + numbered(20_000, `"k%d":1`) + `}`, ""},
		{"many problems", `{"items":{"type":"string"}}`, `[` + numbered(100_000, `%d`) + `]`, "/0: expected string"},
		{"too deep", `{}`, wrap(1001, "[", "", "]"), "no deeper nesting"},
		{"deepest", `{}`, wrap(1000, "[", "", "]"), ""},
		{"far too deep", `{}`, strings.Repeat("[", 1_000_000), "no deeper nesting"},
		{"branching recursion", branching, deep, "expected"},
		{"branching recursion beside not", strings.Replace(branching, `"$ref":`, `"not":{"type":"null"},"$ref":`, 1), deep, "with less work"},
		{"2^63", `{"type":"integer"}`, `9223372036854775808`, ""},
		{"above the largest int64", `{"type":"integer","maximum":9223372036854775807}`, `9223372036854775808`, "expected integer up to 9223372036854775807, got integer 9223372036854775808"},
		{"1e30", `{"type":"integer"}`, `1e30`, ""},
		{"1e30 above the maximum", `{"type":"integer","maximum":9223372036854775807}`, `1e30`, "up to 9223372036854775807"},
		{"1.0 as an integer", `{"type":"integer"}`, `1.0`, ""},
		{"1.5 as an integer", `{"type":"integer"}`, `1.5`, "expected integer"},
		{"long number", `{"multipleOf":7}`, strings.Repeat("7", 1001), "at most 1000"},
		{"huge exponent", `{"multipleOf":7}`, `7e999999999999`, ""},
		{"tiny", `{"minimum":0}`, `-1e-999999999999`, "expected number from 0"},
		{"huge exponent, full validator", `{"not":{"multipleOf":7},"maximum":1e308}`, `1e999999999999`, "up to 1e308"},
		{"long text", `{"type":"integer"}`, `"` + strings.Repeat("x", 1<<20) + `"`, "expected integer, got string"},
		{"long name", `{"additionalProperties":false}`, `{"` + strings.Repeat("x", 1<<20) + `":1}`, "expected"},
		{"line breaks", `{"type":"integer"}`, "{\n\"a\"\n:1}", `got object { "a" :1}`},
		{"invalid UTF-8", `{}`, "\"\xff\"", "valid UTF-8"},
		{"control character", `{}`, "\"\x01\"", "control character"},
		{"byte order mark", `{}`, "\ufeff{}", "expected a value"},
		{"two values", `{}`, `{} {}`, "expected the end"},
		{"leading zero", `{}`, `01`, "leading zeros"},
		{"catastrophic branch", `{"oneOf":[{"type":"string"},{"pattern":"^(?=a)(a+)+!?$"}]}`, `"` + strings.Repeat("a", 64) + `?"`, "with less work"},
		{"catastrophic lookahead", `{"pattern":"^(?=a)(a+)+$"}`, `"` + strings.Repeat("a", 64) + `!"`, "with less work"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := compile(t, test.schema)
			start := cpu()
			err := v.Validate([]byte(test.value))
			if d := cpu() - start; d > 5*slowdown*time.Second {
				t.Errorf("took %v", d)
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %.600s, want %q", got, test.want)
			}
			if len(got) > 2048 {
				t.Errorf("the text has %d bytes", len(got))
			}
		})
	}
}

// A value is checked in time, or refused.
func TestWorkIsBounded(t *testing.T) {
	texts := `[` + strings.Repeat(`"v59999",`, 5000) + `"v1"]`
	names := `{` + numbered(2000, `"`+strings.Repeat("ab", 50)+`z%d":1`) + `}`
	ones := `[` + strings.Repeat(`1,`, 20_000) + `1]`
	nest := `{"$ref":"#/$defs/n","not":{"type":"null"},"$defs":{"n":{"anyOf":[{"properties":{"x":{"$ref":"#/$defs/n"}}},{"properties":{"x":{"$ref":"#/$defs/n"},"y":{}}}],"minProperties":1}}}`
	for _, test := range []struct {
		name, schema, value string
		want                string // part of the error, "" for none
	}{
		{"large enum", `{"contains":{},"items":{"enum":[` + numbered(60_000, `"v%d"`) + `]}}`, texts, ""},
		{"large enum of arrays", `{"contains":{},"items":{"enum":[` + numbered(60_000, `["v%d"]`) + `]}}`, `[` + strings.Repeat(`["v59999"],`, 5000) + `["v1"]]`, tooMuch},
		{"branches", `{"contains":{},"items":{"oneOf":[` + numbered(40, `{"const":%d}`) + `]}}`, ones, ""},
		{"many branches", `{"contains":{},"items":{"oneOf":[` + numbered(400, `{"const":%d}`) + `]}}`, ones, tooMuch},
		{"contains one of many", `{"contains":{"oneOf":[` + numbered(400, `{"const":-%d}`) + `]}}`, ones, tooMuch},
		{"at most many", `{"contains":{"oneOf":[` + numbered(400, `{"const":-%d}`) + `]},"minContains":0,"maxContains":1}`, ones, tooMuch},
		{"not many", `{"items":{"not":{"oneOf":[` + numbered(400, `{"const":-%d}`) + `]}}}`, ones, tooMuch},
		{"if many", `{"items":{"if":{"oneOf":[` + numbered(400, `{"const":-%d}`) + `]},"else":true}}`, ones, tooMuch},
		{"patterns", `{"patternProperties":{` + numbered(200, `"^(a|b)*c%d":{}`) + `}}`, names, tooMuch},
		{"names", `{"propertyNames":{"not":{"oneOf":[` + numbered(2000, `{"const":"%d"}`) + `]}}}`, names, tooMuch},
		{"dependent", `{"dependentSchemas":{` + numbered(2000, `"k%d":{"maxProperties":3000}`) + `}}`, `{` + numbered(2000, `"k%d":1`) + `}`, tooMuch},
		{"unique", `{"uniqueItems":true}`, `[` + numbered(100_000, `{"a":%d}`) + `]`, ""},
		{"unique at every level", `{"uniqueItems":true,"items":{"$ref":"#"}}`, wrap(900, `[`, `"`+strings.Repeat("a", 1<<20)+`"`, `]`), tooMuch},
		{"not at every level", `{"not":{"not":{"items":{"$ref":"#"}}}}`, wrap(900, `[`, ``, `]`), ""},
		{"not twice at every level", `{"allOf":[{"not":{"not":{"items":{"$ref":"#"}}}},{"not":{"not":{"items":{"$ref":"#"}}}}]}`, wrap(900, `[`, ``, `]`), tooMuch},
		{"alternatives at every level", nest, wrap(900, `{"x":`, `{}`, `}`), tooMuch},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := compile(t, test.schema)
			if len(v.Report()) > 0 {
				t.Fatalf("report %v", v.Report())
			}
			start := cpu()
			got := ""
			if err := v.Validate([]byte(test.value)); err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %.300s, want %q", got, test.want)
			}
			if d := cpu() - start; d > 5*slowdown*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

const tooMuch = "can be checked with less work"

func TestLargeEnum(t *testing.T) {
	v := compile(t, `{"properties":{"a":{"enum":[`+numbered(100, `"v%d",%[1]d,[%[1]d]`)+`,null]}},"not":{"required":["z"]}}`)
	for _, value := range []string{`"v99"`, `99.0`, `[1e0]`, `null`} {
		if err := v.Validate([]byte(`{"a":` + value + `}`)); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{`"v100"`, `100`, `[100]`, `false`, `{}`} {
		if err := v.Validate([]byte(`{"a":` + value + `}`)); err == nil || !strings.Contains(err.Error(), `/a: expected one of "v0", 0, [0], "v1"`) {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestSlowPattern: a value for which a pattern takes too long is refused, and
// the pattern stays in force for the values after it.
func TestSlowPattern(t *testing.T) {
	slow := `"` + strings.Repeat("a", 64) + `!"`
	var all sync.WaitGroup // a match may take some time by the clock: beside each other they take less of the processor's
	defer all.Wait()
	for _, raw := range []string{
		`{"type":"array","items":{"type":"string","pattern":"^(?=a)(a+)+$"}}`,
		`{"type":"array","items":{"pattern":"^(?=a)(a+)+$"},"not":{"type":"null"}}`,
		`{"type":"array","items":{"not":{"pattern":"^(?=a)(a+)+$"}}}`,
	} {
		v := compile(t, raw)
		good, bad := `["a"]`, `["b"]`
		if strings.Contains(raw, `"not":{"pattern"`) {
			good, bad = bad, good
		}
		all.Go(func() {
			for range 2 {
				if err := v.Validate([]byte(good)); err != nil {
					t.Errorf("%s: %v", raw, err)
				}
				if err := v.Validate([]byte(bad)); err == nil {
					t.Errorf("%s: the pattern is not checked", raw)
				}
				start := cpu()
				err := v.Validate([]byte(`[` + strings.Repeat(slow+",", 200) + slow + `]`))
				if err == nil || !strings.Contains(err.Error(), "can be checked with less work") {
					t.Errorf("%s: got %.200v", raw, err)
				}
				if d := cpu() - start; d > 5*slowdown*time.Second { // of all three
					t.Errorf("%s: 200 slow texts take %v", raw, d)
				}
			}
			if len(v.Report()) > 0 {
				t.Errorf("report: %v", v.Report())
			}
		})
	}
}

func TestNullIsAbsent(t *testing.T) {
	fast := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"enum":[1]}}},"r":{"type":"integer"}},"required":["r"],"additionalProperties":{"type":"string"}}`
	for _, raw := range []string{fast, strings.Replace(fast, "{", `{"not":{"type":"array"},`, 1)} {
		s, err := schema.Parse([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		strict, lenient := s.Validator(), schema.Lenient(s)
		for _, test := range []struct {
			value           string
			strict, lenient bool
		}{
			{`{"r":1}`, true, true},
			{`{"r":1,"a":null}`, false, true},
			{`{"r":1,"b":{"c":null}}`, false, true},
			{`{"r":1,"b":{"c":2}}`, false, false},
			{`{"r":null}`, false, false},
			{`{"r":1,"x":null}`, false, false},
			{`{"r":1,"a":null,"a":null}`, false, false},
			{`{"r":1,"a":nul}`, false, false},
		} {
			if got := strict.Validate([]byte(test.value)) == nil; got != test.strict {
				t.Errorf("strict: %s valid is %v", test.value, got)
			}
			if got := lenient.Validate([]byte(test.value)) == nil; got != test.lenient {
				t.Errorf("lenient: %s valid is %v: %v", test.value, got, lenient.Validate([]byte(test.value)))
			}
		}
	}
}

func TestNullIsAbsentBehindReferences(t *testing.T) {
	s := schema.MustParse(`{"not":{"type":"array"},"properties":{"a b":{"$ref":"#/$defs/x"},"u":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"additionalProperties":{"$ref":"#/$defs/x"},"$defs":{"x":{"type":"string"}}}`)
	v := schema.Lenient(s)
	if err := v.Validate([]byte(`{"a b":null,"u":null}`)); err != nil {
		t.Error(err)
	}
	if err := v.Validate([]byte(`{"other":null}`)); err == nil {
		t.Error("null is accepted for a property that is not declared")
	}
}

// TestRefusalIsReported: the reason why nothing is validated is among the
// findings, however many there are.
func TestRefusalIsReported(t *testing.T) {
	raw := `{"properties":{` + numbered(60, `"p%d":{"pattern":"("}`) + `},"items":` + wrap(65, `{"items":`, `{}`, `}`) + `}`
	report := compile(t, raw).Report()
	if len(report) == 0 || !strings.HasPrefix(report[0].Message, "nothing is validated: ") {
		t.Errorf("report: %v", report)
	}
	s, err := schema.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	changes := form.Read(s.Raw()).Changes
	if last := changes[len(changes)-1]; !strings.HasPrefix(last.Detail, "nothing is validated: ") {
		t.Errorf("the form says %q", last.Detail)
	}
}

// A reference to another document is neither fetched nor read.
func TestReferencesAreNotFetched(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"type":"string"}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{server.URL + "/x", "file://" + filepath.ToSlash(file)} {
		for _, raw := range []string{fmt.Sprintf(`{"$ref":%q}`, ref), fmt.Sprintf(`{"$schema":%q,"not":{"$ref":%q}}`, ref, ref), fmt.Sprintf(`{"$id":%q,"$ref":"y"}`, ref)} {
			s, err := schema.Parse([]byte(raw))
			if err != nil {
				continue // it is refused, which is as good
			}
			if err := s.Validate([]byte(`1`)); err != nil {
				t.Errorf("%s was read: %v", raw, err)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
