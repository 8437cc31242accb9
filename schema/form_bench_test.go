package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

func BenchmarkForm(b *testing.B) {
	b.Run("call", func(b *testing.B) {
		s := schema.MustParse(callSchema)
		b.ReportAllocs()
		for b.Loop() {
			form.Read(s.Raw())
		}
	})
	b.Run("real tools", func(b *testing.B) {
		var all []*schema.Schema
		for _, e := range readLines[struct{ Schema json.RawMessage }](b, "testdata/tools.jsonl") {
			all = append(all, schema.MustParse(string(e.Schema)))
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			form.Read(all[i%len(all)].Raw())
		}
	})
	b.Run("9,000 properties", func(b *testing.B) {
		s := schema.MustParse(`{"properties":{` + numbered(9000, `"p%d":{"type":"string"}`) + `},"required":[` + numbered(9000, `"p%d"`) + `]}`)
		for b.Loop() {
			form.Read(s.Raw())
		}
	})
	b.Run("3,000 objects", func(b *testing.B) {
		s := schema.MustParse(`{"anyOf":[` + numbered(3000, `{"type":"object","properties":{"k%d":{"type":"string"}}}`) + `]}`)
		for b.Loop() {
			form.Read(s.Raw())
		}
	})
	b.Run("9,000 constants", func(b *testing.B) {
		s := schema.MustParse(`{"oneOf":[` + numbered(9000, `{"const":"v%d"}`) + `]}`)
		for b.Loop() {
			form.Read(s.Raw())
		}
	})
}
