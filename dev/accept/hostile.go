package accept

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Bomb is a schema that is made to exhaust who reads it.
type Bomb struct {
	Name   string
	Schema json.RawMessage
}

// Hostile returns schemas that loop, explode, run deep or are huge.
func Hostile() []Bomb {
	return append([]Bomb{
		{"ref to itself", json.RawMessage(`{"$ref":"#"}`)},
		{"allOf of itself", json.RawMessage(`{"type":"object","allOf":[{"$ref":"#"}]}`)},
		{"not of itself", json.RawMessage(`{"type":"object","not":{"$ref":"#"}}`)},
		{"definition is itself", property(`{"$ref":"#/$defs/a"}`, `"a":{"$ref":"#/$defs/a"}`)},
		{"two definitions are each other", property(`{"$ref":"#/$defs/a"}`, `"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"string"}]}`)},
		{"loop through if", property(`{"$ref":"#/$defs/a"}`, `"a":{"if":{"$ref":"#/$defs/b"},"then":{"type":"string"}},"b":{"then":true,"else":{"$ref":"#/$defs/a"}}`)},
		{"ref into its own target", property(`{"$ref":"#/$defs/a/properties/x"}`, `"a":{"properties":{"x":{"$ref":"#/$defs/a/properties/x/items"}}}`)},
		{"value without end", property(`{"$ref":"#/$defs/a"}`, `"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]}`)},
		{"ref of dots", property(`{"$ref":"#/$defs/a"}`, `"a":{"$ref":"#/$defs/../$defs/a"}`)},
		{"keys of prototypes", json.RawMessage(`{"type":"object","properties":{"__proto__":{"type":"object","properties":{"__proto__":{"$ref":"#/properties/__proto__"}}},"constructor":{"$ref":"#/properties/constructor"}}}`)},
		{"members twice", json.RawMessage(`{"type":"object","type":"array","properties":{"a":{"type":"string"},"a":{"type":"integer"}},"properties":{"b":true}}`)},
		{"unpaired surrogates", json.RawMessage(`{"type":"object","properties":{"\ud800":{"type":"string","pattern":"\udfff"}},"required":["\ud800"]}`)},
		{"number of many digits", property(`{"type":"integer","maximum":`+strings.Repeat("9", 20_000)+`}`, "")},
		{"number of a huge exponent", property(`{"type":"number","maximum":1e999999999,"multipleOf":1e-999999999}`, "")},
		{"slow pattern", property(`{"type":"string","pattern":"^(a+)+(?=b)$"}`, "")},
		{"large repetition", property(`{"type":"string","pattern":"^((a{1,1000}){1,1000}){1,1000}$"}`, "")},
		{"deep pattern", property(`{"type":"string","pattern":"`+strings.Repeat("(", 5_000)+strings.Repeat(")", 5_000)+`"}`, "")},
	}, grown()...)
}

func grown() []Bomb {
	return []Bomb{
		{"2^25 paths of allOf", property(`{"$ref":"#/$defs/d0"}`, doubling("allOf"))},
		{"2^25 paths of anyOf", property(`{"$ref":"#/$defs/d0"}`, doubling("anyOf"))},
		{"2^25 paths of oneOf", property(`{"$ref":"#/$defs/d0"}`, doubling("oneOf"))},
		{"2^25 properties by refs", property(`{"$ref":"#/$defs/d0"}`, chain(25, `{"type":"object","properties":{"l":%[1]s,"r":%[1]s}}`))},
		{"2^25 items by refs", property(`{"$ref":"#/$defs/d0"}`, chain(25, `{"type":"array","prefixItems":[%[1]s,%[1]s]}`))},
		{"a chain of 2,000 refs", property(`{"$ref":"#/$defs/d0"}`, chain(2_000, `%s`))},
		{"200 definitions that all refer to each other", property(`{"$ref":"#/$defs/d0"}`, everyone(200))},
		{"allOf of 2,000", property(`{"allOf":[`+repeat(2_000, `{"properties":{"p%d":{"type":"string"}}}`)+`]}`, "")},
		{"allOf of 40 anyOf of 4", property(`{"allOf":[`+repeat(40, `{"anyOf":[{"minimum":%[1]d},{"maximum":%[1]d},{"multipleOf":7},{"type":"string"}]}`)+`]}`, "")},
		{"anyOf of 3,000", property(`{"anyOf":[`+repeat(3_000, `{"type":"object","properties":{"k":{"const":%d}},"required":["k"]}`)+`]}`, "")},
		{"enum of 20,000", property(`{"enum":[`+repeat(20_000, `"value %d"`)+`]}`, "")},
		{"5,000 properties", json.RawMessage(`{"type":"object","properties":{` + repeat(5_000, `"p%[1]d":{"type":"string","description":"%[1]d"}`) + `},"required":[` + repeat(5_000, `"p%d"`) + `]}`)},
		{"10,000 deep of properties", json.RawMessage(nested(10_000, `{"type":"object","properties":{"a":`, `{}`, `}}`))},
		{"10,000 deep of items", property(nested(10_000, `{"type":"array","items":`, `{}`, `}`), "")},
		{"5,000 deep of not", property(nested(5_000, `{"not":`, `{}`, `}`), "")},
		{"5,000 deep of anyOf", property(nested(5_000, `{"anyOf":[{"type":"string"},`, `{}`, `]}`), "")},
		{"9,990 deep in a default", property(`{"type":"array","default":`+nested(9_990, `[`, ``, `]`)+`}`, "")},
		{"10,000 deep in an unknown keyword", property(`{"x-any":`+nested(10_000, `{"$ref":`, `"#"`, `}`)+`}`, "")},
		{"one key of 1,000,000 characters", json.RawMessage(`{"type":"object","properties":{"` + strings.Repeat("k", 1_000_000) + `":{"type":"string"}}}`)},
		{"one description of 1,000,000 characters", property(`{"type":"string","description":"`+strings.Repeat("d ", 500_000)+`"}`, "")},
	}
}

// property is a root object with one property, and definitions.
func property(schema, definitions string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"x":` + schema + `},"$defs":{` + definitions + `}}`)
}

// doubling is 25 definitions of which each refers twice to the next.
func doubling(keyword string) string {
	return chain(25, `{"`+keyword+`":[%[1]s,%[1]s]}`)
}

// chain is n definitions; format has the place for the ref to the next.
func chain(n int, format string) string {
	var b strings.Builder
	for i := range n {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d":%s,`, i, fmt.Sprintf(format, next))
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}`, n)
	return b.String()
}

func everyone(n int) string {
	refs := repeat(n, `"r%[1]d":{"$ref":"#/$defs/d%[1]d"}`)
	return repeat(n, `"d%d":{"type":"object","properties":{`+refs+`}}`)
}

// repeat writes format n times, with the numbers from 0.
func repeat(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

func nested(n int, open, inner, shut string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
}
