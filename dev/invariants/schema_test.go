package invariants_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestSameBytes: the same schema and rules give the same, and neither is
// changed.
func TestSameBytes(t *testing.T) {
	for _, d := range few(t) {
		rules := inFull(reflect.ValueOf(d))
		for _, it := range some(items()) {
			raw := bytes.Clone(it.raw)
			first := d.Lower(it.parsed)
			again, err := schema.Parse(bytes.Clone(it.raw))
			if err != nil {
				t.Fatal(err)
			}
			second := d.Lower(again)
			if !bytes.Equal(first.Schema, second.Schema) || !slices.Equal(first.Losses, second.Losses) {
				t.Errorf("%s for %s: comes out in two ways\n\t%s\n\t%s", it.name, d.ID, short(first.Schema), short(second.Schema))
			}
			if !bytes.Equal(raw, it.parsed.Raw()) {
				t.Errorf("%s for %s: the schema is changed", it.name, d.ID)
			}
		}
		if inFull(reflect.ValueOf(d)) != rules {
			t.Errorf("%s: the rules are changed", d.ID)
		}
	}
}

// inFull writes a value with what it points at, and without functions.
func inFull(v reflect.Value) string {
	var b strings.Builder
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			b.WriteString("&" + inFull(v.Elem()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			b.WriteString(v.Type().Field(i).Name + ":" + inFull(v.Field(i)) + ",")
		}
	case reflect.Slice:
		fmt.Fprintf(&b, "%v[", v.IsNil())
		for i := range v.Len() {
			b.WriteString(inFull(v.Index(i)) + ",")
		}
		b.WriteString("]")
	case reflect.Func:
	default:
		fmt.Fprintf(&b, "%#v", v)
	}
	return b.String()
}

// TestTwice: a tool of a real server that was lowered is as its reader wants it.
func TestTwice(t *testing.T) {
	for _, d := range targets(t) {
		for _, it := range some(corpus()[0].items) {
			first := d.Lower(it.parsed)
			if second := twice(first, d); second != nil && !equalSchemas(first.Schema, second) {
				t.Errorf("%s for %s:\n\tonce  %s\n\ttwice %s", it.name, d.ID, first.Schema, second)
			}
		}
	}
}

// twice lowers what was lowered. It is nil for what cannot be the same: where
// the schema does not say of which dialect it is, is none, or where it was not
// told that an object is empty.
func twice(first *dialect.Lowered, d *dialect.Dialect) json.RawMessage {
	if d.Draft() != "" || first.Schema == nil || slices.ContainsFunc(first.Losses, func(l dialect.Loss) bool {
		return l.Kind == "rejected" || l.Kind == "dropped" && l.Keyword == "additionalProperties"
	}) {
		return nil
	}
	s, err := schema.Parse(first.Schema)
	if err != nil {
		return json.RawMessage(err.Error())
	}
	return d.Lower(s).Schema
}

// equalSchemas does not mind the order of what is required.
func equalSchemas(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(sorted(x), sorted(y))
}

func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			v[k] = sorted(inner)
		}
		if list, ok := v["required"].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	case []any:
		for i := range v {
			v[i] = sorted(v[i])
		}
	}
	return v
}

// TestEveryKeyword: a keyword of the original is in the lowered schema at the
// same place, or in the report.
func TestEveryKeyword(t *testing.T) {
	for _, d := range few(t) {
		for _, it := range some(items()) {
			r := d.Lower(it.parsed)
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
		r := d.Lower(s)
		var written struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(r.Schema, &written); err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for _, name := range odd {
			at := r.Pointer("/" + token(name))
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

// TestGrowth: a schema grows little, or it keeps its references.
func TestGrowth(t *testing.T) {
	all := some(items())
	for _, b := range accept.Hostile() {
		if s, err := schema.Parse(b.Schema); err == nil {
			all = append(all, &item{name: b.Name, raw: b.Schema, parsed: s})
		}
	}
	for _, d := range few(t) {
		for _, it := range all {
			r := d.Lower(it.parsed)
			if most := 8*len(it.raw) + 2000; len(r.Schema) > most && !bytes.Contains(r.Schema, []byte(`"$ref"`)) {
				t.Errorf("%s for %s: %d bytes become %d", it.name, d.ID, len(it.raw), len(r.Schema))
			}
		}
	}
}

// TestHostile: no schema costs much: 150 ms on a machine that checks 1 MB of
// JSON in 2 ms. The dearest takes half of it; work that grows faster than the
// schema takes seconds.
func TestHostile(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the garbage of other tests is not meant
	megabyte := []byte("[" + strings.Repeat(`{"key":"value","number":12345},`, 1<<15) + "0]")
	limit := max(150*time.Millisecond, 150*least(0, func() { json.Valid(megabyte) })/2)
	for _, b := range accept.Hostile() {
		s, err := schema.Parse(b.Schema)
		if err != nil {
			continue
		}
		runtime.GC()
		for _, d := range few(t) {
			if took := least(limit, func() { d.Lower(s) }); took > limit {
				t.Errorf("%s: %s takes %v, the limit is %v", d.ID, b.Name, took, limit)
			}
		}
	}
}

// least is the least processor time that work takes in some attempts, of which
// there are no more once one takes less than enough.
func least(enough time.Duration, work func()) time.Duration {
	best := time.Hour
	for range 5 {
		start := cpu()
		work()
		if best = min(best, cpu()-start); best < enough {
			break
		}
	}
	return best
}

// TestHostileValues: the cost of a value is linear in its size, and none ends
// the process.
func TestHostileValues(t *testing.T) {
	tree := schema.MustParse(`{"type":"object","properties":{"a b":{"$ref":"#/$defs/t"}},"$defs":{"t":{"anyOf":[
		{"type":"object","properties":{"l l":{"$ref":"#/$defs/t"},"k":{"const":1}},"required":["k"]},
		{"type":"object","properties":{"l l":{"$ref":"#/$defs/t"},"k":{"const":2}},"required":["k"]},
		{"type":"array","items":{"$ref":"#/$defs/t"}}]}}}`)
	nested := func(n int, open, inner, shut string) json.RawMessage {
		return json.RawMessage(`{"a b":` + strings.Repeat(open, n) + inner + strings.Repeat(shut, n) + `}`)
	}
	for _, d := range few(t) {
		codec := d.Lower(tree)
		for _, v := range []json.RawMessage{
			nested(50_000, `[`, `1`, `]`),
			nested(10_000, `{"k":3,"l l":`, `{}`, `}`),
			nested(10_000, `{"k":2,"l_l":`, `{}`, `}`),
			nested(50_000, `[`, ``, ``),
			nested(1, `[`, strings.TrimSuffix(strings.Repeat(`{"k":2},`, 10_000), ","), `]`),
			nested(1, `"`, strings.Repeat(`\"`, 100_000), `"`),
		} {
			start := cpu()
			codec.Decode(v)
			codec.Encode(v)
			if took := cpu() - start; took > 2*slowdown*time.Second {
				t.Errorf("%s: %s of %d bytes takes %v", d.ID, short(v), len(v), took)
			}
		}
	}
}

// TestAdapted: readers accept what tools become, descriptions and all.
func TestAdapted(t *testing.T) {
	for _, d := range targets(t) {
		for _, it := range some(slices.Concat(corpus()[0].items, corpus()[1].items)) {
			tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "tool", Description: "A tool.", Input: it.parsed}}
			a := d.Adapt([]*toolpost.Tool{tool}, nil)
			if len(a.Tools) == 0 {
				continue
			}
			adapted := a.Tools[0]
			sent := accept.Tool{Name: adapted.Name, Description: adapted.Description, Strict: adapted.Strict || d.ID == "xai"}
			if adapted.Input != nil {
				sent.Input = adapted.Input.Raw()
			}
			for _, v := range accept.Check(d.ID, []accept.Tool{sent}) {
				t.Errorf("%s for %s: %s\n\tfrom %s\n\tto   %s", it.name, d.ID, v, short(it.raw), short(sent.Input))
			}
		}
	}
}
