//go:build unix

package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
)

// TestStrictOutput compares StrictOutput with the validators of the official
// TypeScript clients: it never accepts what one of them refuses, and rarely
// refuses what both accept.
func TestStrictOutput(t *testing.T) {
	t.Parallel()
	v1, v2 := peer(t, "@modelcontextprotocol/sdk", "", "."), peer(t, "@modelcontextprotocol/client", "", ".")
	var lines [][]byte
	real, odd := realSchemas(), oddSchemas()
	for _, s := range slices.Concat(real, odd, damagedSchemas(2000)) {
		var line bytes.Buffer
		if err := json.Compact(&line, []byte(s)); err != nil {
			t.Fatalf("%v: %s", err, s)
		}
		lines = append(lines, line.Bytes())
	}
	answers := oracle(t, lines, "ajv.mjs", v1, v2)
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d schemas", len(answers), len(lines))
	}
	stricter, accepted := 0, 0
	var records bytes.Buffer
	for i, line := range lines {
		var errs [2]string
		if err := json.Unmarshal(answers[i], &errs); err != nil {
			t.Fatal(err)
		}
		ours := schema.MustParse(string(line)).StrictOutput()
		if i >= len(real) && i < len(real)+len(odd) {
			record := struct {
				Schema   json.RawMessage
				Ajv      [2]string
				Stricter bool `json:",omitempty"`
			}{line, errs, ours != nil && errs == [2]string{}}
			records.WriteString(marshal(record) + "\n")
		}
		switch refused := errs != [2]string{}; {
		case ours == nil && refused:
			t.Errorf("accepted, and the validators refuse it:\n\t%.400s\n\t%q", line, errs)
		case ours != nil && !refused:
			if stricter++; i < len(real) {
				t.Errorf("a schema of a real tool is refused: %v\n\t%s", ours, line)
			}
			t.Logf("refused, and the validators accept it: %v\n\t%.300s", ours, line)
		case !refused:
			accepted++
		}
	}
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.WriteFile("../../schema/testdata/strict.jsonl", records.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d schemas: %d accepted by all, %d refused by Toolpost only", len(lines), accepted, stricter)
	if stricter > len(lines)/10 { // most of them are not valid
		t.Errorf("%d of %d schemas are refused by Toolpost only", stricter, len(lines))
	}
}

// realSchemas are schemas of real tools and random ones, as they are.
func realSchemas() (all []string) {
	for _, s := range accept.Tools() {
		all = append(all, string(s.Input()))
	}
	for seed := range uint64(300) {
		all = append(all, string(accept.RandomSchema(rand.New(rand.NewPCG(seed, 17)))))
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, "{") })
}

// oddSchemas have, each, one thing that some validator refuses, or could.
func oddSchemas() (all []string) {
	for i, r := range accept.Schemas() {
		if i%4 == 0 {
			all = append(all, string(r.Schema))
		}
	}
	for _, s := range accept.Torture() {
		all = append(all, string(s.Input()))
	}
	for _, p := range oddPatterns {
		key, _ := json.Marshal(p)
		all = append(all, fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string","pattern":%s}}}`, key),
			fmt.Sprintf(`{"type":"object","patternProperties":{%s:{"type":"string"}}}`, key))
	}
	for _, part := range oddParts {
		all = append(all, `{"type":"object",`+part+`}`, `{"type":"object","properties":{"a":{`+part+`}}}`,
			`{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{`+part+`}}}`)
	}
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, "{") })
}

// oddPatterns are regular expressions, most of them of other languages.
var oddPatterns = []string{
	`^[a-z]+$`, `(?i)abc`, `(?i:abc)`, `(?P<a>b)`, `(?<a>b)\k<a>`, `\k<a>`, `(?<a>x)|(?<a>y)`, `\Aabc\z`, `\Z`, `[[:alpha:]]`,
	`[a-]`, `[\w-.]`, `[a-\d]`, `\-`, `[\-]`, `\_`, `\@`, `\"`, `\'`, `\ `, `\#`, `\%`, `\:`, `\/`, `{`, `}`, `]`, `a{`, `a{1`, `a{1,2`,
	`a{2,1}`, `a{,2}`, `a{2}{3}`, `a{2}?`, `a**`, `a++`, `a*+`, `(?>a)`, `(a`, `a)`, `[`, `[]`, `[^]`, `[]a]`, `()`, `(?=a)*`, `(?=a)`,
	`(?<=a)b`, `(?<=a)*`, `^*`, `\b+`, `$?`, `|`, `a||b`, `\1`, `(a)\1`, `(a)\2`, `\01`, `\0`, `\u{1F600}`, `\u{110000}`, `\u12`,
	`\ud83d\ude00`, `[\ud83d\ude00-\ud83d\ude01]`, `\x4`, `\x41`, `\cA`, `\c1`, `\p{L}`, `\p{Lu}`, `\p{Letter}`, `\p{Script=Latin}`,
	`\p{Latin}`, `\p{IsLatin}`, `\p{sc=Grek}`, `\pL`, `\p{^L}`, `\P{L}`, `\p{Emoji}`, `\p{Alphabetic}`, `\p{Cn}`, `\p{LC}`, `\p{Combining_Mark}`,
	`\p{punct}`, `\p{XYZ}`, `\p{RGI_Emoji}`, `[\p{L}-z]`, `[z-a]`, `[\d-\w]`, `\h`, `\R`, `\K`, `\G`, `\Q..\E`, `\e`, `\a`, `\N`, `(?#x)`,
	`(?x) a`, `(?-i)a`, `a(?i)b`, `(?s).`, `\d+(?:\.\d+)?`, `^(?!x).*$`, `é+`, `😀`, `[😀-😁]`, `\😀`, `(?<é>a)`, `(?<1a>b)`, `(?<a-b>c)`,
	`(?<$a_1>b)`, `a{99999999}`, `a{0}`, `(?:a){3,}`, `.*`, `\`, `[\`, `[\b]`, `[\B]`, `[\c]`, `[\0]`, `[\1]`, `[a&&b]`, `[--a]`, `[a--b]`,
	`\s\S\w\W\d\D`, `[^\s]`, `\t\n\v\f\r`, `(?|a|b)`, `(?R)`, `(?1)`, `^\+?[1-9]\d{1,14}$`, `^[^<>]*$`, `^\$\{.*\}$`, `\.\*\+\?\(\)\[\]\{\}\|\^\$`,
	`\p{Script_Extensions=Greek}`, `\p{gc=Lu}`, `\p{General_Category=Uppercase_Letter}`, `\p{ASCII}`, `\p{Any}`, `\p{digit}`, `\p{cntrl}`,
}

// oddParts are members of a schema, most of them wrong.
var oddParts = []string{
	`"$ref":"#"`, `"$ref":"#/"`, `"$ref":""`, `"$ref":5`, `"$ref":null`, `"$ref":"#/$defs/A"`, `"$ref":"#/$defs/A","$defs":{"A":{"type":"string"}}`,
	`"$ref":"https://example.com/x.json"`, `"$ref":"x.json#/A"`, `"$ref":"#A"`, `"$defs":{"A":{"$anchor":"A"}},"properties":{"a":{"$ref":"#A"}}`,
	`"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}`, `"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":true}`,
	`"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B"},"B":{"$ref":"#/$defs/A"}}`,
	`"properties":{"a":{"$ref":"#/$defs/A","nullable":true}},"$defs":{"A":{"type":"string"}}`,
	`"properties":{"a":{"$ref":"#/$defs/List%3Cstring%3E"}},"$defs":{"List<string>":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/List<string>"}},"$defs":{"List<string>":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/A[B]"}},"$defs":{"A[B]":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/a b"}},"$defs":{"a b":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/名"}},"$defs":{"名":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/a~1b"}},"$defs":{"a/b":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/a%25b"}},"$defs":{"a%b":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/a%b"}},"$defs":{"a%b":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/$defs/$id"}},"$defs":{"$id":{"type":"array"}}`,
	`"properties":{"a":{"$ref":"#/definitions/$id"}},"definitions":{"$id":{"type":"array"}}`,
	`"properties":{"$id":{"type":"string"},"$ref":{"type":"string"},"$anchor":{"type":"string"},"id":{"type":"string"}}`,
	`"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}`, `"properties":{"a":{"$ref":"#/properties"},"b":{"type":"string"}}`,
	`"properties":{"a":{"$ref":"#/x-y/b"}},"x-y":{"b":{"type":"string"}}`, `"properties":{"a":{"$ref":"#/allOf/0"}},"allOf":[{"type":"object"}]`,
	`"properties":{"a":{"$ref":"child"}},"$defs":{"c":{"$id":"child","type":"string"}}`,
	`"$id":"http://x.test/root","properties":{"a":{"$ref":"child"}},"$defs":{"c":{"$id":"child","type":"string"}}`,
	`"$id":"http://x.test/root","properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"http://x.test/root","properties":{"a":{"$ref":"http://x.test/root#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"http://x.test/root","properties":{"a":{"$ref":"root#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"root","properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"urn:uuid:3f2c","properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"My Schema","properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"HTTP://X.test/a/../b","properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":{"type":"string"}}`,
	`"$id":"http://x.test/root","$defs":{"c":{"$id":"c","properties":{"a":{"$ref":"#/$defs/d"}},"$defs":{"d":{"type":"string"}}}},"properties":{"a":{"$ref":"c"}}`,
	`"$id":5`, `"$id":null`, `"$id":""`, `"$id":"#"`, `"$id":"#a"`, `"$id":"a#b"`, `"$id":"constructor"`, `"$id":"%"`, `"$id":"http://[x"`,
	`"$id":"http://json-schema.org/draft-07/schema#"`, `"$id":"https://json-schema.org/draft/2020-12/schema"`, `"$id":"x/#"`, `"$id":"x#/"`, `"$id":"x/"`,
	`"$anchor":"a b"`, `"$anchor":""`, `"$anchor":5`, `"$anchor":"A","$defs":{"x":{"$anchor":"A"}}`, `"$anchor":"A","$dynamicAnchor":"A"`,
	`"$defs":{"x":{"$id":"http://a.test/x"},"y":{"$id":"http://a.test/x"}}`, `"$dynamicRef":"#x"`, `"$dynamicRef":"x"`, `"$recursiveRef":"#"`, `"$recursiveRef":"x"`,
	`"$dynamicAnchor":5`, `"$recursiveAnchor":true`, `"$recursiveAnchor":"x"`, `"$vocabulary":5`, `"$comment":5`, `"$async":true`, `"$async":false`,
	`"$schema":5`, `"$schema":""`, `"$schema":"http://json-schema.org/draft-04/schema#"`, `"$schema":"https://json-schema.org/draft/2020-12/schema"`,
	`"$schema":"http://json-schema.org/schema#"`, `"$schema":"https://example.com/meta"`, `"$schema":"https://json-schema.org/draft/2019-09/schema#"`,
	`"id":"x"`, `"id":{}`, `"nullable":true`, `"nullable":false`, `"nullable":"yes"`, `"type":"string","nullable":"yes"`, `"type":["null"],"nullable":false`,
	`"type":[],"nullable":true`, `"type":"string","nullable":true`, `"type":"any"`, `"type":"String"`, `"type":[]`, `"type":""`, `"type":null`, `"type":["string","string"]`,
	`"type":["string",5]`, `"type":{}`, `"enum":[]`, `"enum":null`, `"enum":{}`, `"enum":"a"`, `"enum":[1,1]`, `"const":null`, `"const":{"a":[1]}`,
	`"required":true`, `"required":null`, `"required":[1]`, `"required":["a","a"]`, `"required":"a"`, `"required":["__proto__","constructor"]`,
	`"properties":null`, `"properties":[]`, `"properties":{"a":null}`, `"properties":{"a":true}`, `"properties":{"a":[]}`, `"properties":{"a":"string"}`,
	`"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{}}`, `"constructor":5`, `"__proto__":{"type":"x"}`,
	`"exclusiveMinimum":true`, `"minimum":"1"`, `"minimum":1e400`, `"maximum":-0`, `"multipleOf":0`, `"minLength":-1`, `"minLength":1.5`, `"maxLength":"5"`,
	`"minItems":null`, `"uniqueItems":"true"`, `"format":5`, `"format":"unknown"`, `"format":"toString"`, `"format":"date","formatMinimum":"2020-01-01"`, `"formatMinimum":"x"`,
	`"items":[]`, `"items":[{}]`, `"items":null`, `"items":"string"`, `"items":{"type":"string"},"additionalItems":5`, `"prefixItems":[]`, `"prefixItems":{}`, `"prefixItems":[{"type":"string"}]`,
	`"contains":5`, `"minContains":"1","contains":{}`, `"allOf":[]`, `"allOf":{}`, `"anyOf":[null]`, `"oneOf":["x"]`, `"not":[]`, `"not":null`, `"if":5`, `"then":5`, `"else":{}`, `"then":{"type":"x"}`,
	`"dependencies":{"a":["b"]}`, `"dependencies":{"a":null}`, `"dependencies":{"a":5}`, `"dependencies":[]`, `"dependentRequired":{"a":"b"}`, `"dependentRequired":{"a":[1]}`, `"dependentSchemas":{"a":5}`,
	`"additionalProperties":"x"`, `"additionalProperties":null`, `"propertyNames":"x"`, `"propertyNames":{"pattern":"(?i)a"}`, `"unevaluatedProperties":5`, `"unevaluatedItems":"x"`,
	`"discriminator":{"propertyName":"a"}`, `"discriminator":5`, `"default":{"$id":"x"},"examples":[{"$id":"x"}]`, `"x-a":{"$id":"q"},"x-b":{"$id":"q"}`, `"$defs":null`, `"definitions":[]`, `"definitions":{"a":null}`,
	`"$defs":{"A":{"type":"nonsense","pattern":"("}}`, `"title":5,"description":null,"deprecated":"x","readOnly":5`, `"contentSchema":5`, `"contentMediaType":5`, `"example":"x"`, `"xml":{"name":"x"}`,
}

// damagedSchemas are real and random schemas in which something was changed.
func damagedSchemas(n int) (all []string) {
	var whole []string
	for _, s := range accept.Tools() {
		whole = append(whole, string(s.Input()))
	}
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 23))
		source := whole[rng.IntN(len(whole))]
		if rng.IntN(3) == 0 {
			source = string(accept.RandomSchema(rng))
		}
		if damaged := damageSchema(rng, source); damaged != "" {
			all = append(all, damaged)
		}
	}
	return all
}

// damageSchema changes one or two places of a schema; it returns "" for one that
// cannot be read.
func damageSchema(rng *rand.Rand, source string) string {
	var v any
	if json.Unmarshal([]byte(source), &v) != nil {
		return ""
	}
	root, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	root["type"] = "object"
	for range 1 + rng.IntN(2) {
		objects := objectsBelow(root, nil)
		o := objects[rng.IntN(len(objects))]
		if keys := slices.Sorted(maps.Keys(o)); rng.IntN(3) == 0 && len(keys) > 0 {
			o[keys[rng.IntN(len(keys))]] = oddValue(rng)
			continue
		}
		var part map[string]any
		if json.Unmarshal([]byte("{"+oddParts[rng.IntN(len(oddParts))]+"}"), &part) != nil {
			continue
		}
		for k, v := range part {
			o[k] = v
		}
	}
	return marshal(root)
}

func oddValue(rng *rand.Rand) any {
	values := []any{nil, true, false, 0, -1, 1.5, "", "object", "x", "(?i)x", []any{}, []any{"a"}, []any{nil}, map[string]any{}, map[string]any{"type": "string"}, []any{map[string]any{}}}
	return values[rng.IntN(len(values))]
}

func objectsBelow(v any, all []map[string]any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		all = append(all, v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = objectsBelow(v[k], all)
		}
	case []any:
		for _, kid := range v {
			all = objectsBelow(kid, all)
		}
	}
	return all
}
