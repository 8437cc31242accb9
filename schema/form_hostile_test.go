package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

func TestFormOfHostileSchemas(t *testing.T) {
	merged := func(n int, open, closing string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"properties":{"a":%s"$ref":"#/$defs/d%d"%s,"minProperties":1},"b":%[2]s"$ref":"#/$defs/d%[3]d"%[4]s,"maxProperties":9}}},`, i, open, i+1, closing)
		}
		fmt.Fprintf(&b, `"d%d":{"type":"object"}}}`, n)
		return b.String()
	}
	chain := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"}}},`, i, i+1)
		}
		return b.String() + fmt.Sprintf(`"d%d":{}`, n)
	}
	for _, test := range []struct{ name, schema string }{
		{"itself", `{"$ref":"#"}`},
		{"all of itself", `{"allOf":[{"$ref":"#"}],"type":"object"}`},
		{"what a repair drops", `{"properties":{"p":{"$ref":"#/x/a"},"q":{"$ref":"#/x/a/minimum","minLength":1}},"x":{"a":{"type":"number","minimum":{"type":"string"}}}}`},
		{"2^24 paths", doubling(24)},
		{"2^10 paths", doubling(10)},
		{"2^24 merges", merged(24, "{", "")},
		{"2^24 nested merges", merged(24, `{"allOf":[{`, `}]`)},
		{"900 deep", wrap(900, `{"items":`, `{}`, `}`)},
		{"64 deep unions", wrap(60, `{"oneOf":[{"type":"string"},{"type":"array","minItems":1},{"properties":{"a":`, `{}`, `}}]}`)},
		{"deep product", wrap(14, `{"anyOf":[{"properties":{"a":{"type":"string"}}},{"minProperties":3}],"allOf":[`, `{}`, `]}`)},
		{"2,000 references in a row", `{"$ref":"#/$defs/d0","$defs":{` + chain(2000) + `}}`},
		{"enum of 20,000", `{"enum":[` + numbered(20_000, `"v%d"`) + `]}`},
		{"enum of 20,000 twice", `{"enum":[` + numbered(20_000, `"v%d"`) + `],"allOf":[{"enum":[` + numbered(20_000, `"v%d"`) + `]}]}`},
		{"9,000 constants", `{"oneOf":[` + numbered(9000, `{"const":"v%d"}`) + `]}`},
		{"9,000 of the same", `{"anyOf":[` + strings.Repeat(`{"type":"string","minLength":1},`, 8999) + `{}]}`},
		{"3,000 objects", `{"oneOf":[` + numbered(3000, `{"properties":{"k":{"const":"v%d"}},"required":["k"]}`) + `]}`},
		{"3,000 objects, no tag", `{"oneOf":[` + numbered(3000, `{"properties":{"k%d":{"type":"string"}},"required":["k%[1]d"]}`) + `]}`},
		{"9,000 properties", `{"properties":{` + numbered(9000, `"p%d":{"type":"string"}`) + `},"required":[` + numbered(9000, `"p%d"`) + `]}`},
		{"5,000 properties one by one", `{"allOf":[` + numbered(4900, `{"properties":{"p%d":{"type":"string"}}}`) + `]}`},
		{"many names in many alternatives", `{"properties":{` + numbered(3000, `"p%d":{"type":"string"}`) + `},"anyOf":[` + numbered(50, `{"properties":{"q%d":{"type":"object"}}}`) + `]}`},
		{"many only required", `{"required":[` + numbered(9000, `"p%d"`) + `],"additionalProperties":{"properties":{` + numbered(50, `"q%d":{"type":"object"}`) + `}}}`},
		{"long names", wrap(50, `{"properties":{"`+strings.Repeat("x", 15_000)+`":`, `{}`, `}}`)},
		{"long names around many", `{"properties":{"` + strings.Repeat("x", 500_000) + `":{"properties":{` + numbered(9000, `"p%d":{}`) + `}}}}`},
		{"unevaluated many times", `{"$ref":"#/$defs/d0","$defs":{` + numbered(16, `"d%d":{"allOf":[{"$ref":"#/$defs/e%[1]d"},{"$ref":"#/$defs/e%[1]d"}],"unevaluatedProperties":false},"e%[1]d":{"minProperties":1}`) + `}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := schema.Parse([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			start := cpu()
			d := form.Read(s.Raw())
			took := cpu() - start
			n := 0
			forms(d, func(*form.Form) { n++ })
			t.Logf("%v, %d forms", took, n)
			if n > 20_000+10_000 {
				t.Errorf("%d forms", n)
			}
			if took > slowdown*2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// FuzzForm gives arbitrary bytes as a schema: no panic, the same form twice,
// and the verdict of the validator wherever the form says all.
func FuzzForm(f *testing.F) {
	seedSchemas(func(raw string) { f.Add([]byte(raw)) })
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := schema.Parse(raw)
		if err != nil {
			return
		}
		start := cpu()
		d := form.Read(s.Raw())
		if took := cpu() - start; took > 2*slowdown*time.Second {
			t.Errorf("took %v", took)
		}
		if again := form.Read(s.Raw()); !reflect.DeepEqual(d, again) {
			t.Fatal("another form the second time")
		}
		for _, def := range d.Defs {
			if def.Form == nil || def.Uses == 0 {
				t.Errorf("definition %s: %d uses, form %v", def.Name, def.Uses, def.Form)
			}
		}
		forms(d, func(g *form.Form) {
			for _, k := range g.Rest {
				if !json.Valid(k.Value) {
					t.Errorf("%s %s is not JSON: %s", k.At, k.Name, k.Value)
				}
			}
		})
	})
}
