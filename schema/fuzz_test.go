package schema_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolpost/toolpost/schema"
)

// limits are where the scanner is stricter than its oracle on purpose: deeper
// nesting than 1,000 and numbers longer than 1,000 characters are refused.
func limits(data []byte) bool {
	depth, deepest, number, longest := 0, 0, 0, 0
	for _, c := range data {
		switch {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if strings.IndexByte("0123456789.eE+-", c) >= 0 {
			number++
		} else {
			number = 0
		}
		deepest, longest = max(deepest, depth), max(longest, number)
	}
	return deepest > 1000 || longest > 1000
}

// FuzzScan compares the scanner with jsontext, which refuses invalid UTF-8,
// halves of surrogate pairs and repeated names as well.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		callValue, ``, ` {} `, `[1,-0,0.5e-3,1E+2]`, `01`, `1.`, `-`, `"\u00e9\ud83d\ude00\/"`, `"\ud83d"`, `"\ude00"`, `"\x"`, "\"\xff\"", "\"\x00\"",
		`{"a":1,"\u0061":2}`, `{"a":{"a":1},"b":[{"c":1,"c":2}]}`, `{"a":1,}`, `[1,]`, `{"a" 1}`, `tru`, `nulls`, `[[[[`, "\ufeff1", `{"":1,"":2}`,
		`{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"14":1,"13":1}`,
	} {
		f.Add([]byte(seed))
	}
	v := compile(f, `{}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		ours := v.Validate(data)
		if limits(data) {
			return
		}
		if want := jsontext.Value(data).IsValid(); want != (ours == nil) {
			t.Fatalf("%q: want valid %v, got %v", data, want, ours)
		}
		if ours == nil && !json.Valid(data) {
			t.Fatalf("%q is not JSON", data)
		}
	})
}

// FuzzCompile gives arbitrary bytes as a schema: no panic, and an end within two
// seconds.
func FuzzCompile(f *testing.F) {
	seedSchemas(func(raw string) { f.Add([]byte(raw)) })
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := schema.Parse(raw)
		if err != nil {
			return
		}
		start := cpu()
		v := s.Validator()
		for _, value := range []string{`{}`, `{"a":{"a":[1,"x",null]}}`, `[]`, `"a"`, `1.5`, `null`} {
			if err := v.Validate([]byte(value)); err != nil && len(err.Error()) > 2048 {
				t.Errorf("%d bytes of text", len(err.Error()))
			}
		}
		if d := cpu() - start; d > 2*slowdown*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

func seedSchemas(add func(string)) {
	for _, raw := range []string{
		callSchema, `{"$ref":"#"}`, `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`,
		`{"items":[{"type":"string"}],"additionalItems":false}`, `{"properties":{"a":{"required":true}},"required":["b"]}`,
		`{"minimum":1,"exclusiveMinimum":true,"multipleOf":0.01}`, `{"patternProperties":{"^a":{"type":"integer"}},"unevaluatedProperties":false}`,
		`{"contains":{"const":1},"minContains":2,"uniqueItems":true}`, `{"if":{"type":"string"},"then":{"minLength":2},"else":false}`,
		`{"dependentRequired":{"a":["b"]},"dependentSchemas":{"a":{"maxProperties":1}},"propertyNames":{"pattern":"^a"}}`,
		`{"$id":"http://localhost/x","$anchor":"a","$dynamicRef":"#a","$dynamicAnchor":"a"}`, `{"not":{"enum":[1,"a",{"b":[]}]},"oneOf":[true,false]}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","dependencies":{"a":["b"],"c":{"type":"object"}}}`,
	} {
		add(raw)
	}
}

// FuzzValidate compares the verdict with that of the full validator, wherever
// the schema is exact and the validator can be trusted with it. That one walks
// maps, so coverage varies: run with -fuzzminimizetime=10x.
func FuzzValidate(f *testing.F) {
	seedSchemas(func(raw string) {
		f.Add(raw, `{"a":{"a":[1,"x",null]},"b":1.0}`)
		f.Add(raw, `[1,"a",1.0]`)
	})
	special := regexp.MustCompile(`format|\$schema|\$id|nullable|\d{9}|[eE][+-]?\d{3}`)
	f.Fuzz(func(t *testing.T, raw, value string) {
		s, err := schema.Parse([]byte(raw))
		if err != nil {
			return
		}
		v := s.Validator()
		ours := v.Validate([]byte(value))
		if len(v.Report()) > 0 || special.MatchString(raw) || special.MatchString(value) || schema.CheckSyntax([]byte(value)) != nil {
			return
		}
		if ours != nil && (strings.Contains(ours.Error(), "of this name") || strings.Contains(ours.Error(), "less work")) {
			return
		}
		fits, ok := fullVerdict(raw, value)
		if ok && fits != (ours == nil) {
			t.Fatalf("schema %s\nvalue %s\nwant valid %v, got %v", raw, value, fits, ours)
		}
	})
}

// fullVerdict asks the full validator alone; ok is false if it cannot say.
func fullVerdict(raw, value string) (fits, ok bool) {
	defer func() {
		if recover() != nil { // it may not survive what ours did
			ok = false
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		return false, false
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("mem:///reference", doc); err != nil {
		return false, false
	}
	s, err := c.Compile("mem:///reference")
	if err != nil {
		return false, false
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return false, false
	}
	return s.Validate(v) == nil, true
}
