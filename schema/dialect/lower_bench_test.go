package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// BenchmarkLower lowers the schemas of all tools of real servers.
func BenchmarkLower(b *testing.B) {
	var all []*schema.Schema
	for _, s := range accept.Tools() {
		if in := s.Input(); in != nil {
			all = append(all, schema.MustParse(string(in)))
		}
	}
	for _, d := range dialect.All() {
		b.Run("for="+d.ID, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range all {
					d.Lower(s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(all)), "µs/tool")
		})
	}
}

// BenchmarkDecode turns back 1 KB of arguments.
func BenchmarkDecode(b *testing.B) {
	s := schema.MustParse(`{"type":"object","properties":{
		"id":{"type":["integer","string"]},"subject":{"type":"string","maxLength":255},"text":{"type":"string"},
		"done":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
		"fields":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":["string","null"]}},"required":["name"]}},
		"parent":{"type":"integer"}},"required":["id"]}`)
	fields := strings.TrimSuffix(strings.Repeat(`{"name":"field","value":"a value"},`, 10), ",")
	arguments := json.RawMessage(`{"id":17,"subject":"A subject","done":true,"tags":["a","b"],"text":"` +
		strings.Repeat("some text ", 52) + `","fields":[` + fields + `]}`)
	for _, id := range []string{"mcp", "openai-strict", "claude-desktop"} {
		d, err := dialect.Find(id)
		if err != nil {
			b.Fatal(err)
		}
		codec := d.Lower(s)
		written, ok := codec.Encode(arguments)
		if !ok {
			b.Fatal("it cannot be written")
		}
		b.Run("for="+id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, notes := codec.Decode(written); notes != nil {
					b.Fatal(notes)
				}
			}
		})
	}
	b.Run("yardstick=json.Valid", func(b *testing.B) {
		for b.Loop() {
			json.Valid(arguments)
		}
	})
}
