package invariants_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/lower"
)

// TestSameBytes: the same schema and rules give the same, and neither is
// changed.
func TestSameBytes(t *testing.T) {
	for _, d := range targets(t) {
		rules, _ := json.Marshal(d.Input)
		for _, it := range some() {
			raw := bytes.Clone(it.raw)
			first := lower.Schema(it.parsed, &d.Input)
			again, err := schema.Parse(bytes.Clone(it.raw))
			if err != nil {
				t.Fatal(err)
			}
			second := lower.Schema(again, &d.Input)
			if !bytes.Equal(first.Schema, second.Schema) || !slices.Equal(first.Losses, second.Losses) || first.Counts != second.Counts {
				t.Errorf("%s for %s: comes out in two ways\n\t%s\n\t%s", it.name, d.ID, short(first.Schema), short(second.Schema))
			}
			if !bytes.Equal(raw, it.parsed.Raw()) {
				t.Errorf("%s for %s: the schema is changed", it.name, d.ID)
			}
		}
		if after, _ := json.Marshal(d.Input); !bytes.Equal(rules, after) {
			t.Errorf("%s: the rules are changed", d.ID)
		}
	}
}

// TestEveryKeyword: a keyword of the original is in the lowered schema at the
// same place, or in the report.
func TestEveryKeyword(t *testing.T) {
	for _, d := range targets(t) {
		for _, it := range some() {
			r := lower.Schema(it.parsed, &d.Input)
			reported := map[[2]string]bool{}
			for _, l := range r.Losses {
				reported[[2]string{l.Pointer, l.Keyword}] = true
			}
			written := map[[2]string]bool{}
			keywords(r.Schema, "", func(at, k string) { written[[2]string{at, k}] = true })
			keywords(it.raw, "", func(at, k string) {
				if !reported[[2]string{at, k}] && !written[[2]string{at, k}] {
					t.Errorf("%s for %s: %s at %q is lost in silence", it.name, d.ID, k, at)
				}
			})
		}
	}
}

// keywords calls f for every keyword in a schema, and in those that it holds.
func keywords(raw json.RawMessage, at string, f func(at, keyword string)) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return
	}
	for k, value := range members {
		f(at, k)
		inner := at + "/" + token(k)
		var table map[string]json.RawMessage
		var list []json.RawMessage
		switch k {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			json.Unmarshal(value, &table)
			for name, sub := range table {
				keywords(sub, inner+"/"+token(name), f)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			json.Unmarshal(value, &list)
			for i, sub := range list {
				keywords(sub, inner+"/"+strconv.Itoa(i), f)
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames":
			keywords(value, inner, f)
		}
	}
}

func token(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// TestNames: no two properties are written as one, and each is there.
func TestNames(t *testing.T) {
	odd := []string{"a", "a b", "a-b", "a_b", "a_b_2", "A", "", "_", "$ref", "type", "properties", "__proto__", "ä", "1", "more", "request",
		"key", "value", "item0", "a/b~c", "\u2028", "user[id]", strings.Repeat("n", 64), strings.Repeat("n", 65), strings.Repeat("n", 65) + "x", "wait_for_previous"}
	var properties strings.Builder
	for i, name := range odd {
		if i > 0 {
			properties.WriteByte(',')
		}
		quoted, _ := json.Marshal(name)
		fmt.Fprintf(&properties, `%s:{"type":"string"}`, quoted)
	}
	s := schema.MustParse(`{"type":"object","properties":{` + properties.String() + `}}`)
	for _, d := range targets(t) {
		r := lower.Schema(s, &d.Input)
		var written struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(r.Schema, &written); err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, name := range odd {
			at := r.Codec.Seen("/" + token(name))
			if other, twice := seen[at]; twice {
				t.Errorf("%s: %q and %q are both %s", d.ID, name, other, at)
			}
			seen[at] = name
			as := strings.NewReplacer("~1", "/", "~0", "~").Replace(at[1:])
			if written.Properties[as] == nil {
				t.Errorf("%s: %q is %q, which is not there", d.ID, name, as)
			}
		}
	}
}
