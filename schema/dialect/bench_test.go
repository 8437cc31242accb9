package dialect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// BenchmarkAdapt adapts 1,000 tools of real servers at once.
func BenchmarkAdapt(b *testing.B) {
	real := samples(b, accept.Tools())
	tools := make([]*toolpost.Tool, 1000)
	for i := range tools {
		t := *real[i%len(real)]
		t.Name = fmt.Sprintf("%s_%d", t.Name, i/len(real))
		tools[i] = &t
	}
	for _, d := range dialect.All() {
		b.Run(d.ID, func(b *testing.B) {
			for b.Loop() {
				d.Adapt(tools, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(tools)), "µs/tool")
		})
	}
}

// BenchmarkCall calls a tool with 1 KB of arguments as it is, and through dialects.
func BenchmarkCall(b *testing.B) {
	tool := &toolpost.Tool{
		Definition: toolpost.Definition{Name: "update.issue", Input: schema.MustParse(`{"type":"object","properties":{
			"id":{"type":["integer","string"]},"subject":{"type":"string","maxLength":255},"text":{"type":"string"},
			"done":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
			"fields":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":["string","null"]}},"required":["name"]}},
			"parent":{"type":"integer"}},"required":["id"]}`)},
		Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult("done"), nil
		},
	}
	fields := strings.Repeat(`{"name":"field","value":"a value"},`, 10)
	plain := json.RawMessage(`{"id":17,"subject":"A subject","done":true,"tags":["a","b"],"text":"` + strings.Repeat("some text ", 52) +
		`","fields":[` + strings.TrimSuffix(fields, ",") + `]}`)
	strict := strings.ReplaceAll(strings.TrimSuffix(string(plain), "}"), `"a value"`, `{"value":"a value"}`) + `,"parent":null}`
	for _, layer := range []struct {
		name      string
		arguments json.RawMessage
	}{{"", plain}, {"mcp", plain}, {"anthropic", plain}, {"openai-strict", []byte(strict)}, {"claude-desktop", []byte(strings.Replace(string(plain), "17", `"17"`, 1))}} {
		ts := toolpost.Toolset(toolpost.Tools{tool})
		if layer.name != "" {
			d, err := dialect.Find(layer.name)
			if err != nil {
				b.Fatal(err)
			}
			ts = d.Layer(ts, nil)
		}
		set, err := toolpost.NewSet(b.Context(), ts)
		if err != nil {
			b.Fatal(err)
		}
		tools, _ := set.Tools(b.Context())
		call := &toolpost.Call{Name: tools[0].Name, Arguments: layer.arguments}
		b.Run("for="+layer.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := set.Call(b.Context(), call)
				if err != nil || r.IsError() || r.Notes() != nil {
					b.Fatal(r, err)
				}
			}
		})
	}
}
