package dialect_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A ruleCase is one rule, demanded by a dialect that demands little else, with
// a tool that breaks it and one that does not.
type ruleCase struct {
	rule    string
	dialect string // laid over the zero dialect
	bad     string // a tool, or a list of tools; its input schema if it has no name
	want    []string
	good    string
}

var ruleCases = []ruleCase{
	{"poison-root-type", `{}`, `{"anyOf":[{"type":"object"}]}`, []string{"/inputSchema type"}, `{"type":"object"}`},
	{"poison-root-type", `{}`, `{"type":["object","null"]}`, []string{"/inputSchema type"}, `{"properties":{"type":{"type":"array"}},"type":"object"}`},
	{"poison-root-type", `{}`, `{"name":"x"}`, []string{"/inputSchema type"}, `{"name":"x","inputSchema":{"type":"object"}}`},
	{"poison-root-type", `{}`, `true`, []string{"/inputSchema type"}, `{"type":"object"}`},
	{"poison-null", `{}`, `{"type":"object","properties":null,"required":null}`, []string{"/inputSchema properties", "/inputSchema required"},
		`{"type":"object","properties":{"required":{"required":null}},"required":[]}`},
	{"poison-boolean", `{}`, `{"type":"object","properties":{"a/b":true,"c":null,"d":{}}}`,
		[]string{"/inputSchema properties", "/inputSchema/properties/a~1b "},
		`{"type":"object","properties":{"a":{"properties":{"b":true}}},"additionalProperties":true}`},
	{"poison-output-schema", `{"output":{"object":true}}`, `{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"pattern":"(?i)a"}}}}`, []string{"/outputSchema/properties/a pattern"},
		`{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{"pattern":"^a$"}}}}`},
	{"poison-output", `{}`, `{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`, []string{"/outputSchema type"},
		`{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`},

	{"mcp-header", `{}`, `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Re gion"},"b":{"type":"string","x-mcp-header":"X"},"c":{"type":"integer","x-mcp-header":"x"},"d":{"type":"number","x-mcp-header":"D"},"e":{"items":{"type":"string","x-mcp-header":"E"}}}}`,
		[]string{"/inputSchema/properties/a x-mcp-header", "/inputSchema/properties/c x-mcp-header", "/inputSchema/properties/d x-mcp-header", "/inputSchema/properties/e/items x-mcp-header"},
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"Region"}}},"x-mcp-header":{"type":"number"}}}`},

	{"root-object", `{"input":{"root":{"object":true}}}`, `{"type":"array"}`, nil, `{"type":"object"}`}, // told by poison-root-type
	{"root-union", `{"input":{"root":{"noUnion":true}}}`, `{"type":"object","anyOf":[{}],"not":{}}`, []string{"/inputSchema anyOf", "/inputSchema not"},
		`{"type":"object","properties":{"anyOf":{"anyOf":[{}]}}}`},
	{"root-properties", `{"input":{"root":{"properties":true}}}`, `{"type":"object"}`, []string{"/inputSchema properties"}, `{"type":"object","properties":{}}`},
	{"root-empty", `{"input":{"root":{"omitEmpty":true}}}`, `{"type":"object","properties":{}}`, []string{"/inputSchema properties"}, `{"name":"x"}`},

	{"no-union", `{"input":{"union":{"none":true}}}`, `{"type":"object","properties":{"id":{"type":["number","string"]},"b":{"anyOf":[{}]},"c":{"oneOf":[{}]}}}`,
		[]string{"/inputSchema/properties/id type", "/inputSchema/properties/b anyOf", "/inputSchema/properties/c oneOf"},
		`{"type":"object","properties":{"id":{"type":["number","null"]},"anyOf":{"type":"string","enum":["anyOf"]}}}`},
	{"type-list", `{"input":{"union":{"noList":true}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, []string{"/inputSchema/properties/a type"},
		`{"type":"object","properties":{"a":{"type":"string"},"type":{"default":["a"]}}}`},
	{"one-of", `{"input":{"union":{"oneOf":false}}}`, `{"type":"object","properties":{"a":{"oneOf":[{}]}}}`, []string{"/inputSchema/properties/a oneOf"},
		`{"type":"object","properties":{"oneOf":{"anyOf":[{}]}}}`},
	{"union-siblings", `{"input":{"union":{"siblings":["description"]}}}`, `{"type":"object","properties":{"a":{"type":"string","description":"","anyOf":[{}],"x y":1}}}`,
		[]string{"/inputSchema/properties/a type", "/inputSchema/properties/a x y"},
		`{"type":"object","properties":{"a":{"description":"","anyOf":[{"type":"string"}]}}}`},
	{"first-key", `{"input":{"union":{"firstKey":true}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"properties":{"k":{"type":"integer"}}}]}},"$defs":{"A":{"properties":{"k":{"type":"string"},"l":{}}}}}`,
		[]string{"/inputSchema/properties/a anyOf"},
		`{"type":"object","properties":{"a":{"anyOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"enum":["b"]}}},{"properties":{"l":{}}},{"type":"string"}]}}}`},

	{"null", `{"input":{"null":"none"}}`, `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"enum":["x",null]},"c":{"const":null},"d":{"nullable":true},"e":{"anyOf":[{"type":"null"}]}}}`,
		[]string{"/inputSchema/properties/a type", "/inputSchema/properties/b enum", "/inputSchema/properties/c const", "/inputSchema/properties/d nullable", "/inputSchema/properties/e/anyOf/0 type"},
		`{"type":"object","properties":{"null":{"type":"string","enum":["null"],"default":null}}}`},
	{"null", `{"input":{"null":"keyword"}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, []string{"/inputSchema/properties/a type"},
		`{"type":"object","properties":{"a":{"type":"string","nullable":true}}}`},
	{"untyped", `{"input":{"untyped":"json"}}`, `{"type":"object","properties":{"a":{},"b":{"title":"B","default":1}}}`,
		[]string{"/inputSchema/properties/a type", "/inputSchema/properties/b type"},
		`{"type":"object","properties":{"a":{"const":1},"b":{"minimum":1}},"additionalProperties":{}}`},
	{"type-required", `{"input":{"typeRequired":true}}`, `{"type":"object","properties":{"a":{"enum":["x"]},"b":{"minimum":1}}}`,
		[]string{"/inputSchema/properties/a type", "/inputSchema/properties/b type"},
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"string"}]}},"additionalProperties":{}}`},

	{"enum-type", `{"input":{"enum":{"strings":true}}}`, `{"type":"object","properties":{"a":{"enum":["x",1]},"b":{"enum":[{}]}}}`,
		[]string{"/inputSchema/properties/a enum", "/inputSchema/properties/b enum"}, `{"type":"object","properties":{"enum":{"enum":["1"]}}}`},
	{"enum-type", `{"input":{"enum":{"numbers":true}}}`, `{"type":"object","properties":{"a":{"enum":[true]}}}`,
		[]string{"/inputSchema/properties/a enum"}, `{"type":"object","properties":{"a":{"enum":["1",2]}}}`},
	{"enum-type", `{"input":{"enum":{"scalars":true}}}`, `{"type":"object","properties":{"a":{"enum":[[1]]},"b":{"const":{}}}}`,
		[]string{"/inputSchema/properties/a enum", "/inputSchema/properties/b const"}, `{"type":"object","properties":{"a":{"enum":["1",2,null]}}}`},
	{"enum-empty", `{"input":{"enum":{"noEmpty":true}}}`, `{"type":"object","properties":{"a":{"enum":["x",""]},"b":{"enum":[]}}}`,
		[]string{"/inputSchema/properties/a enum", "/inputSchema/properties/b enum"}, `{"type":"object","properties":{"":{"enum":[" "],"default":""}}}`},
	{"enum-empty", `{"input":{"enum":{"filled":true}}}`, `{"type":"object","properties":{"b":{"enum":[]}}}`,
		[]string{"/inputSchema/properties/b enum"}, `{"type":"object","properties":{"a":{"enum":["x",""]}}}`},
	{"enum-type", `{"input":{"enum":{"numbers":true}}}`, `{"type":"object","properties":{"a":{"type":"string","enum":["x",1]},"b":{"type":"integer","enum":[1,1.5]}}}`,
		[]string{"/inputSchema/properties/a enum", "/inputSchema/properties/b enum"}, `{"type":"object","properties":{"a":{"type":["string","integer"],"enum":["1",2.0]},"b":{"type":"number","enum":[1,1.5]}}}`},
	{"const", `{"input":{"enum":{"noConst":true}}}`, `{"type":"object","properties":{"a":{"const":1}}}`,
		[]string{"/inputSchema/properties/a const"}, `{"type":"object","properties":{"const":{"enum":[1]}}}`},

	{"format", `{"input":{"formats":{"string":["date"],"integer":["int64"]}}}`, `{"type":"object","properties":{"a":{"type":"string","format":"uuid"},"b":{"type":"string","format":"int64"},"c":{"type":"number","format":"double"}}}`,
		[]string{"/inputSchema/properties/a format", "/inputSchema/properties/b format", "/inputSchema/properties/c format"},
		`{"type":"object","properties":{"a":{"type":"string","format":"date"},"b":{"type":["integer","null"],"format":"int64"},"format":{}}}`},
	{"pattern", `{"input":{"pattern":"re2"}}`, `{"type":"object","properties":{"a":{"pattern":"^(?=a)"}}}`, []string{"/inputSchema/properties/a pattern"},
		`{"type":"object","properties":{"a":{"pattern":"a+"}}}`},
	{"pattern", `{"input":{"pattern":"anchored"}}`, `{"type":"object","properties":{"a":{"pattern":"a+"}}}`, []string{"/inputSchema/properties/a pattern"},
		`{"type":"object","properties":{"a":{"pattern":"^a+$"}}}`},
	{"pattern", `{"input":{"pattern":"whole"}}`, `{"type":"object","properties":{"a":{"pattern":"a+"},"b":{"pattern":"^a|b$"},"c":{"pattern":"^\\p{L}$"}}}`,
		[]string{"/inputSchema/properties/a pattern", "/inputSchema/properties/b pattern", "/inputSchema/properties/c pattern"}, `{"type":"object","properties":{"a":{"pattern":"^\\d+$"}}}`},
	{"min-items", `{"input":{"minItems":1}}`, `{"type":"object","properties":{"a":{"minItems":2}}}`, []string{"/inputSchema/properties/a minItems"},
		`{"type":"object","properties":{"a":{"minItems":1}}}`},

	{"map", `{"input":{"object":{"maps":"pairs"}}}`, `{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"object","additionalProperties":{"type":"string"}},"c":{"type":"object","properties":{"x":{}},"patternProperties":{"y":{}}}}}`,
		[]string{"/inputSchema/properties/a additionalProperties", "/inputSchema/properties/b additionalProperties", "/inputSchema/properties/c patternProperties"},
		`{"type":"object","properties":{"a":{"type":"object","properties":{"x":{}}},"b":{"type":"object","additionalProperties":false}}}`},
	{"map-open", `{"input":{"object":{"openMaps":true}}}`, `{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"array","items":{"type":"object"}}}}`,
		[]string{"/inputSchema/properties/a additionalProperties", "/inputSchema/properties/b/items additionalProperties"},
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":true},"b":{"type":"object","properties":{"c":{"type":"string"}}},"c":{"type":"object","additionalProperties":false}}}`},
	{"map-any", `{"input":{"object":{"noEmptyMaps":true}}}`, `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"description":"any"}}},"additionalProperties":{}}`,
		[]string{"/inputSchema additionalProperties", "/inputSchema/properties/a additionalProperties"},
		`{"type":"object","properties":{"a":{"type":"object","additionalProperties":true},"b":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":false}`},
	{"closed", `{"input":{"object":{"closed":true}}}`, `{"type":"object","properties":{"a":{"properties":{},"additionalProperties":true}}}`,
		[]string{"/inputSchema additionalProperties", "/inputSchema/properties/a additionalProperties"},
		`{"type":"object","properties":{"a":{"properties":{},"additionalProperties":false}},"additionalProperties":false}`},
	{"all-required", `{"input":{"object":{"allRequired":true}}}`, `{"type":"object","properties":{"a":{},"b":{}},"required":["b"]}`, []string{"/inputSchema required"},
		`{"type":"object","properties":{"a":{},"required":{}},"required":["required","a"]}`},
	{"all-required", `{"input":{"object":{"allRequired":true}}}`, `{"type":"object","properties":{},"additionalProperties":false}`, []string{"/inputSchema required"},
		`{"type":"object","properties":{"properties":{"type":"string"}},"required":["properties"]}`},
	{"required-declared", `{"input":{"object":{"declared":true}}}`, `{"type":"object","properties":{"a":{}},"required":["a","b"]}`, []string{"/inputSchema required"},
		`{"type":"object","properties":{"a":{}},"required":["a"]}`},
	{"properties-filled", `{"input":{"object":{"filled":true}}}`, `{"type":"object","properties":{"a":{"type":"object"}}}`, []string{"/inputSchema/properties/a properties"},
		`{"type":"object","properties":{"a":{"type":"string"}}}`},
	{"property-name", `{"input":{"object":{"name":"^[a-z]+$","nameMax":3,"reserved":["own"]}}}`, `{"type":"object","properties":{"$a":{},"abcd":{},"own":{}}}`,
		[]string{"/inputSchema/properties/$a ", "/inputSchema/properties/abcd ", "/inputSchema/properties/own "},
		`{"type":"object","properties":{"a":{"properties":{"$inside":{}}}},"$defs":{"$x":{}}}`},
	{"property-name", `{"input":{"object":{"name":"^[a-z]+$","nameAll":true}}}`, `{"type":"object","properties":{"a":{"properties":{"$inside":{}}}}}`,
		[]string{"/inputSchema/properties/a/properties/$inside "}, `{"type":"object","properties":{"a":{"properties":{"b":{}}}}}`},

	{"property-name", `{"input":{"object":{"forbidden":["required"],"nameAll":true}}}`, `{"type":"object","properties":{"required":{},"a":{"properties":{"required":{}}}}}`,
		[]string{"/inputSchema/properties/required ", "/inputSchema/properties/a/properties/required "}, `{"type":"object","properties":{"a":{}},"required":["a"]}`},

	{"array-items", `{"input":{"array":{"items":true}}}`, `{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array","items":true}}}`,
		[]string{"/inputSchema/properties/a items", "/inputSchema/properties/b items"}, `{"type":"object","properties":{"items":{"type":"array","items":{}}}}`},
	{"array-items", `{"input":{"array":{"items":true,"typed":true}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`,
		[]string{"/inputSchema/properties/a items"}, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
	{"tuple", `{"input":{"array":{"tuples":"object"}}}`, `{"type":"object","properties":{"a":{"prefixItems":[{}]},"b":{"items":[{}]}}}`,
		[]string{"/inputSchema/properties/a prefixItems", "/inputSchema/properties/b items"}, `{"type":"object","properties":{"prefixItems":{"items":{}}}}`},

	{"ref", `{"input":{"ref":{"inline":true}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{}}}`, []string{"/inputSchema/properties/a $ref"},
		`{"type":"object","properties":{"$ref":{"default":{"$ref":"#/$defs/A"}}},"$defs":{"A":{}}}`},
	{"ref-unknown", `{}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/B"},"b":{"$ref":"other.json"},"c":{"$ref":7}},"$defs":{"A":{}}}`,
		[]string{"/inputSchema/properties/a $ref", "/inputSchema/properties/b $ref", "/inputSchema/properties/c $ref"},
		`{"type":"object","$id":"https://x/y","properties":{"a":{"$ref":"#/$defs/a~1%20b"},"b":{"$ref":"#here"},"c":{"$ref":"https://x/y#/$defs"},"d":{"$ref":"#"},"e":{"$ref":"#/properties/a"},"f":{"$ref":"#/x-shared/0"}},"$defs":{"a/ b":{"$anchor":"here"}},"x-shared":[{"type":"string"}]}`},
	{"ref", `{"input":{"ref":{"defs":true}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A~1B"}},"$defs":{"A/B":{}}}`, []string{"/inputSchema $defs"},
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{}}}`},
	{"ref-siblings", `{"input":{"ref":{"siblings":["description"]}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"","default":1}},"$defs":{"A":{}}}`,
		[]string{"/inputSchema/properties/a default"}, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"","$comment":"x"}},"$defs":{"A":{}}}`},
	{"recursion", `{}`, `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}}`, []string{"/inputSchema/properties/a/anyOf/0 $ref"},
		`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`},
	{"recursion", `{"input":{"ref":{"recursion":"optional"}}}`, `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, []string{"/inputSchema/properties/a $ref"},
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`},
	{"recursion", `{"input":{"ref":{"recursion":"none"}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"properties":{"b":{"items":{"$ref":"#/$defs/A"}}}}}}`,
		[]string{"/inputSchema/$defs/A/properties/b/items $ref"}, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}},"$defs":{"A":{}}}`},

	{"depth", `{"input":{"limits":{"depth":2}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"type":"object"}}}}`,
		[]string{"/inputSchema "}, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
	{"size", `{"input":{"limits":{"properties":1,"enumValues":2,"longEnum":2,"longEnumRunes":5,"runes":7}}}`, `{"type":"object","properties":{"a":{"enum":["12345","6","7"]},"b":{}}}`,
		[]string{"/inputSchema/properties/a enum", "/inputSchema ", "/inputSchema ", "/inputSchema "}, `{"type":"object","properties":{"a":{"enum":["123","45"]}}}`},

	{"size", `{"input":{"limits":{"bytes":60}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
		[]string{"/inputSchema "}, `{"type":"object","properties":{"a":{"type":"string"}}}`},

	{"name", `{"name":{"pattern":"^[a-z_]+$"}}`, `{"name":"a.b","inputSchema":{"type":"object"}}`, []string{"/name "}, `{"name":"a_b","inputSchema":{"type":"object"}}`},
	{"name-length", `{"name":{"max":12,"prefix":"{server}__"}}`, `{"name":"abc","inputSchema":{"type":"object"}}`, []string{"/name "}, `{"name":"ab","inputSchema":{"type":"object"}}`},
	{"name-collision", `{"name":{"fold":"[a-z_]"}}`, `[{"name":"a.b","inputSchema":{"type":"object"}},{"name":"a_b","inputSchema":{"type":"object"}}]`, []string{"/name "},
		`[{"name":"a.b","inputSchema":{"type":"object"}},{"name":"a_c","inputSchema":{"type":"object"}}]`},
	{"name-collision", `{}`, `[{"name":"a","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]`, []string{"/name "},
		`[{"name":"a.b","inputSchema":{"type":"object"}},{"name":"a_b","inputSchema":{"type":"object"}}]`},
	{"description-missing", `{"text":{"required":true}}`, `{"name":"a","description":" ","inputSchema":{"type":"object"}}`, []string{"/description "},
		`{"name":"a","description":"A.","inputSchema":{"type":"object"}}`},
	{"description-length", `{"text":{"max":3,"schemaMax":2}}`, `{"name":"a","description":"ääää","inputSchema":{"type":"object","properties":{"a":{"description":"ääa"}}}}`,
		[]string{"/description ", "/inputSchema/properties/a description"},
		`{"name":"a","description":"äää","inputSchema":{"type":"object","properties":{"a":{"description":"ää"},"description":{"default":{"description":"long"}}}}}`},
	{"description-lines", `{"text":{"lines":1}}`, `{"name":"a","description":"a\nb","inputSchema":{"type":"object","description":"a\n"}}`, []string{"/description ", "/inputSchema description"},
		`{"name":"a","description":"a b","inputSchema":{"type":"object"}}`},
	{"description-characters", `{"text":{"forbid":"()_"}}`, `{"name":"a_b","description":"a (b)","inputSchema":{"type":"object","properties":{"a_b":{"description":"c_d"}}}}`,
		[]string{"/description ", "/inputSchema/properties/a_b description"},
		`{"name":"a_b","description":"a b","inputSchema":{"type":"object","properties":{"a_b":{"description":"c d","title":"e_f"}}}}`},

	{"hidden-characters", `{}`, `{"name":"a\u200b","title":"\u001b[2J","description":"A.\u202e","inputSchema":{"type":"object","properties":{"b\u2066":{"enum":["c\udb40\udc41"]}}},"outputSchema":{"type":"object","description":"\u0000"}}`,
		[]string{"/name ", "/title ", "/description ", "/inputSchema/properties/b\u2066 ", "/inputSchema/properties/b\u2066/enum/0 ", "/outputSchema/description "},
		`{"name":"a","title":"👩\u200d👧 می\u200cخواهم","description":"A.\r\n\tB. 課題","inputSchema":{"type":"object","properties":{"_meta":{"title":"x"}}},"_meta":{"a":"\u200b"}}`},

	{"output-schema", `{"output":{"drop":true}}`, `{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`, []string{"/outputSchema "},
		`{"name":"x","inputSchema":{"type":"object"}}`},
	{"output-schema", `{"output":{"rules":{"without":["$schema"],"union":{"oneOf":true},"booleans":true}}}`, `{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$schema":"x","required":null}}`,
		[]string{"/outputSchema $schema", "/outputSchema required"}, `{"name":"x","inputSchema":{"type":"object","$schema":"x"},"outputSchema":{"type":"object"}}`},
	{"tool-count", `{"list":{"tools":1}}`, `[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]`, []string{" "}, `{"type":"object"}`},
	{"token-count", `{"list":{"tokens":20}}`, `[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]`, []string{" "}, `{"type":"object"}`},

	{"draft", `{"input":{"without":["$schema"]}}`, `{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}`, []string{"/inputSchema $schema"}, `{"type":"object","properties":{"$schema":{}}}`},
	{"draft", `{"input":{"dialect":"draft-07"}}`, `{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"a":{"prefixItems":[{}]}}}`,
		[]string{"/inputSchema $schema", "/inputSchema/properties/a prefixItems"}, `{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{}]}}}`},
	{"boolean-schema", `{"input":{"booleans":false}}`, `{"type":"object","properties":{"a":{"items":true},"b":{"anyOf":[false]}}}`,
		[]string{"/inputSchema/properties/a/items ", "/inputSchema/properties/b/anyOf/0 "}, `{"type":"object","properties":{"a":{"additionalProperties":false,"default":true}}}`},
	{"metaschema", `{}`, `{"type":"object","properties":{"a":{"items":[{}],"exclusiveMinimum":true,"type":"any","required":false,"minLength":-1},"b":{"enum":"x","anyOf":[],"multipleOf":0,"pattern":1,"uniqueItems":"yes","$defs":[]}}}`,
		[]string{"/inputSchema/properties/a items", "/inputSchema/properties/a exclusiveMinimum", "/inputSchema/properties/a type", "/inputSchema/properties/a required", "/inputSchema/properties/a minLength",
			"/inputSchema/properties/b enum", "/inputSchema/properties/b anyOf", "/inputSchema/properties/b multipleOf", "/inputSchema/properties/b pattern", "/inputSchema/properties/b uniqueItems", "/inputSchema/properties/b $defs"},
		`{"type":"object","properties":{"items":{"type":["string","null"],"minLength":3.0,"multipleOf":0.5,"dependentRequired":{"a":["b"]},"dependencies":{"a":["b"],"c":{}},"x-any":null,"default":[[]]},"type":{"type":"array","items":{}}}}`},
	{"keyword", `{"input":{"keywords":["type","properties","$schema"]}}`, `{"type":"object","x-y":1,"properties":{"a":{"maxLength":1}}}`,
		[]string{"/inputSchema x-y", "/inputSchema/properties/a maxLength"}, `{"type":"object","$schema":"x","properties":{"maxLength":{"type":"string"}}}`},
}

func TestRules(t *testing.T) {
	tested := map[string]bool{}
	for i, c := range ruleCases {
		tested[c.rule] = true
		t.Run(fmt.Sprintf("%s/%d", c.rule, i), func(t *testing.T) {
			d := dialect.Make("test", dialect.Form{})
			d.Form().Input.Union.OneOf, d.Form().Input.Booleans = true, true
			if err := json.Unmarshal([]byte(c.dialect), d.Form()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, places(d, c.rule, tools(t, c.bad))); diff != "" {
				t.Errorf("the tool that breaks the rule: -want +got\n%s", diff)
			}
			if got := places(d, c.rule, tools(t, c.good)); got != nil {
				t.Errorf("the tool that does not break the rule: %q", got)
			}
		})
	}
	for _, r := range dialect.Rules() {
		if found := !slices.Contains([]string{"unsatisfiable", "internal", "off"}, r.Name); tested[r.Name] != found { // tests of their own
			t.Errorf("%s has a case: %v", r.Name, !found)
		}
		if r.What == "" || r.Why == "" || r.Fix == "" || r.Effect == "" {
			t.Errorf("%s does not say all that a person needs", r.Name)
		}
	}
}

func TestSwitchedOff(t *testing.T) {
	d, err := dialect.Find("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	list := tools(t, `{"name":"x","description":"d","inputSchema":{"anyOf":[{"type":"object"}]}}`)
	for off, want := range map[string]string{
		"":                         "all/poison-root-type claude-code/root-union",
		"*/*":                      "",
		"all/*":                    "claude-code/root-union",
		"all/poison-root-type":     "claude-code/root-union", // and root-object does not say the same
		"root-union":               "all/poison-root-type",
		"*/root-*":                 "all/poison-root-type",
		"cursor/no-union":          "all/poison-root-type claude-code/root-union",
		"claude-code/root-union=":  `all/off "claude-code/root-union" is switched off without a reason; all/poison-root-type claude-code/root-union`,
		"*":                        `all/off "*" is switched off but is not a rule; all/poison-root-type claude-code/root-union`,
		"root-*":                   `all/off "root-*" is switched off but is not a rule; all/poison-root-type claude-code/root-union`,
		"all/root-union":           `all/off "all/root-union" is switched off but is not a rule; all/poison-root-type claude-code/root-union`,
		"claude-code/poison-null":  `all/off "claude-code/poison-null" is switched off but is not a rule; all/poison-root-type claude-code/root-union`,
		"claude-code/no-such-rule": `all/off "claude-code/no-such-rule" is switched off but is not a rule; all/poison-root-type claude-code/root-union`,
		"a[":                       `all/off "a[" is switched off but is not a valid glob; all/poison-root-type claude-code/root-union`,
	} {
		opts := &dialect.Options{Off: map[string]string{}}
		if key, empty := strings.CutSuffix(off, "="); empty {
			opts.Off[key] = ""
		} else if off != "" {
			opts.Off[off] = "it is known"
		}
		var counts []string
		about := ""
		for _, f := range d.Lint(list, opts) {
			switch {
			case f.Rule == "all/off":
				about = "all/off " + f.Message + "; "
			case f.Off == "":
				counts = append(counts, f.Rule)
			}
		}
		slices.Sort(counts)
		if got := about + strings.Join(counts, " "); got != want {
			t.Errorf("%s off:\n got %s\nwant %s", off, got, want)
		}
	}
}

// clientsSeen are those that were run with odd tools.
var clientsSeen = []string{"claude-code-2.1.197", "claude-code", "gemini-cli", "opencode", "codex", "copilot-cli"}

const (
	lost    = dialect.KillsServer
	dropped = dialect.DropsTool
	refused = dialect.RefusesCall
	part    = dialect.LosesSilently
	changed = dialect.Rewrites
	sent    = dialect.Advice
)

// TestWhatClientsWereSeenToDo holds the evidence of each client against the
// tools that were shown to it.
func TestWhatClientsWereSeenToDo(t *testing.T) {
	input := func(s string) string { return `{"name":"x","description":"d","inputSchema":` + s + `}` }
	output := func(s string) string {
		return `{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}},"outputSchema":` + s + `}`
	}
	property := func(s string) string { return input(`{"type":"object","properties":` + s + `}`) }
	rows := []struct {
		rules string // that are looked at
		tools []string
		want  [6]dialect.Effect
	}{
		{"poison-root-type root-object", []string{input(`{}`), input(`{"properties":{}}`), input(`{"anyOf":[{"type":"object"}]}`), input(`{"type":["object","null"]}`), input(`{"type":"array"}`)},
			[6]dialect.Effect{lost, lost, lost, lost, refused, refused}}, // Codex and Copilot CLI send it to who refuses it
		{"poison-null", []string{input(`{"type":"object","required":null}`), input(`{"type":"object","properties":null}`)},
			[6]dialect.Effect{lost, lost, lost, lost, changed, refused}},
		{"poison-boolean boolean-schema", []string{property(`{"a":true}`)}, [6]dialect.Effect{lost, sent, lost, lost, changed, changed}},
		{"poison-output output-schema", []string{output(`{"type":"array"}`), output(`{"anyOf":[{"type":"object"}]}`), output(`{"properties":{}}`)},
			[6]dialect.Effect{lost, sent, lost, sent, sent, sent}},
		{"root-union", []string{input(`{"type":"object","properties":{},"anyOf":[{"required":["a"]}]}`), input(`{"type":"object","properties":{},"allOf":[{}]}`)},
			[6]dialect.Effect{dropped, changed, "", part, refused, changed}},
		{"property-name", []string{property(`{"$filter":{"type":"string"}}`), property(`{"ids[]":{"type":"string"}}`), property(`{"my key":{"type":"string"}}`), property(`{"名前":{"type":"string"}}`), property(`{"a:b":{"type":"string"}}`)},
			[6]dialect.Effect{refused, dropped, "", refused, "", refused}},
		{"metaschema tuple", []string{property(`{"a":{"type":"array","items":[{"type":"string"}]}}`), property(`{"a":{"type":"number","exclusiveMinimum":true}}`), property(`{"a":{"type":"string","required":false}}`), property(`{"a":{"type":"any"}}`)},
			[6]dialect.Effect{refused, dropped, sent, refused, dropped, changed}},
		{"description-length", []string{`{"name":"x","description":"` + strings.Repeat("a", 4097) + `","inputSchema":{"type":"object"}}`},
			[6]dialect.Effect{dialect.Truncates, dialect.Truncates, "", "", "", ""}},
		{"name-collision", []string{`[{"name":"a.b","description":"d","inputSchema":{"type":"object"}},{"name":"a_b","description":"d","inputSchema":{"type":"object"}}]`},
			[6]dialect.Effect{part, part, "", part, changed, part}},
	}
	for _, row := range rows {
		for i, id := range clientsSeen {
			d, err := dialect.Find(id)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range row.tools {
				if got := worst(d, row.rules, tools(t, text)); got != row.want[i] {
					t.Errorf("%s, %s: %.90s: %q, want %q", id, row.rules, text, got, row.want[i])
				}
			}
		}
	}
}

// worst returns the worst effect of findings of some rules, "" if there are none.
func worst(d *dialect.Dialect, rules string, tools []*toolpost.Tool) dialect.Effect {
	order := []dialect.Effect{"", dialect.Advice, dialect.Rewrites, dialect.Truncates, dialect.LosesSilently, dialect.BreaksCall, dialect.DropsTool, dialect.RefusesCall, dialect.KillsServer, dialect.KillsSession}
	at := 0
	for _, f := range d.Lint(tools, nil) {
		if _, name, _ := strings.Cut(f.Rule, "/"); slices.Contains(strings.Fields(rules), name) {
			at = max(at, slices.Index(order, f.Effect))
		}
	}
	return order[at]
}

// TestPoisonForModels: what costs a server in a client is advice where the
// model's API was not seen to refuse it.
func TestPoisonForModels(t *testing.T) {
	for _, d := range dialect.All() {
		for _, r := range dialect.Rules() {
			if e := r.EffectFor(d); len(d.Clients) == 0 && d.ID != "mcp" && (e == dialect.KillsServer || e == dialect.KillsSession) {
				t.Errorf("%s: %s: %s", d.ID, r.Name, e)
			}
		}
	}
}

// places lists where tools break one rule.
func places(d *dialect.Dialect, rule string, tools []*toolpost.Tool) []string {
	var all []string
	for _, f := range d.Lint(tools, nil) {
		if strings.HasSuffix(f.Rule, "/"+rule) {
			all = append(all, f.Pointer+" "+f.Keyword)
		}
	}
	return all
}

// tools reads a list of tools, a tool, or the input schema of one.
func tools(t testing.TB, text string) []*toolpost.Tool {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal([]byte(text), &list) != nil {
		list = []json.RawMessage{json.RawMessage(text)}
	}
	var all []*toolpost.Tool
	for _, raw := range list {
		var d struct {
			Name, Description         *string
			Title                     string
			InputSchema, OutputSchema *schema.Schema
		}
		if err := json.Unmarshal(raw, &d); err != nil || d.Name == nil {
			s, err := schema.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, tool("tool", s))
			continue
		}
		one := tool(*d.Name, d.InputSchema)
		one.Output, one.Title = d.OutputSchema, d.Title
		if d.Description != nil {
			one.Description = *d.Description
		}
		all = append(all, one)
	}
	return all
}

func tool(name string, input *schema.Schema) *toolpost.Tool {
	return &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: input}}
}

func TestFinding(t *testing.T) {
	d := dialect.Make("test", dialect.Form{
		Sources: []dialect.Source{
			{Rules: []string{"null", "const"}, Effect: dialect.Truncates},
			{Rules: []string{"null"}, Effect: dialect.DropsTool},
			{Rules: []string{"null"}, Effect: dialect.Advice},
		}})
	d.Form().Input.Null, d.Form().Input.Union.OneOf, d.Form().Input.Booleans = "none", true, true
	list := tools(t, `[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":["string","null"]}}}},{"name":"b","inputSchema":{}}]`)
	want := []dialect.Finding{
		{Tool: "a", Rule: "test/null", Effect: dialect.DropsTool, Pointer: "/inputSchema/properties/x", Keyword: "type", Message: `the type is ["string","null"]`, Of: list[0]},
		{Tool: "b", Rule: "all/poison-root-type", Effect: dialect.Advice, Pointer: "/inputSchema", Keyword: "type", Message: "the root has no type", Of: list[1]},
	}
	if diff := cmp.Diff(want, d.Lint(list, nil), cmp.Comparer(func(a, b *toolpost.Tool) bool { return a == b })); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestOff(t *testing.T) {
	d := dialect.Make("test", dialect.Form{})
	d.Form().Input.Root.Object, d.Form().Input.Root.Properties, d.Form().Input.Union.OneOf, d.Form().Input.Booleans = true, true, true, true
	list := tools(t, `{}`)
	for _, c := range []struct {
		off  map[string]string
		want []string // rule and reason
	}{
		{nil, []string{"all/poison-root-type ", "test/root-properties "}},
		{map[string]string{"test/root-properties": "no"}, []string{"all/poison-root-type ", "test/root-properties no"}},
		{map[string]string{"root-properties": "no"}, []string{"all/poison-root-type ", "test/root-properties no"}},
		{map[string]string{"*/root-*": "no", "[": "bad"}, []string{"all/poison-root-type ", "test/root-properties no", "all/off "}},
		{map[string]string{"test/*": "no"}, []string{"all/poison-root-type ", "test/root-properties no"}},
		// What is switched off is not said again by another rule.
		{map[string]string{"*/poison-*": "no"}, []string{"all/poison-root-type no", "test/root-properties "}},
	} {
		var got []string
		for _, f := range d.Lint(list, &dialect.Options{Off: c.off}) {
			got = append(got, f.Rule+" "+f.Off)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("off %v: -want +got\n%s", c.off, diff)
		}
	}
}

// TestLintCorpus says that every tool that is odd in a way known to break
// clients breaks some rule of some dialect, and that ordinary tools are fine
// for the protocol itself.
func TestLintCorpus(t *testing.T) {
	for _, s := range accept.Torture() {
		one := sample(t, s)
		found := map[string]bool{}
		for _, d := range dialect.All() {
			for _, f := range d.Lint([]*toolpost.Tool{one}, nil) {
				found[f.Rule] = true
			}
		}
		if len(found) == 0 {
			t.Errorf("%s (%s): no dialect finds anything", s.Name(), s.Why)
		}
	}
}

func sample(t testing.TB, s accept.Sample) *toolpost.Tool {
	t.Helper()
	list := tools(t, string(s.Raw))
	if len(list) != 1 {
		t.Fatalf("%s: %d tools", s.Name(), len(list))
	}
	return list[0]
}

func TestLintIsDeterministic(t *testing.T) {
	var list []*toolpost.Tool
	for _, s := range slices.Concat(accept.Tools(), accept.Torture()) {
		list = append(list, sample(t, s))
	}
	for _, d := range dialect.All() {
		if found := d.Lint(list, nil); !slices.Equal(found, d.Lint(list, nil)) {
			t.Errorf("%s: the findings differ", d.ID)
		} else if d.ID != "mcp" && len(found) == 0 {
			t.Errorf("%s finds nothing", d.ID)
		}
	}
}
