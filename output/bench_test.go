package output_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/store"

	"context"
)

// What a view of 20 MB costs that an upstream sent, without what keeps it, and
// what a small result costs more than without the layer.
func BenchmarkLayer(b *testing.B) {
	for name, size := range map[string]int{"small": 1000, "20 MB": 20 << 20} {
		b.Run(name, func(b *testing.B) {
			line := "2026-01-02T03:04:05Z INFO a line of a log with some text in it"
			quoted, err := json.Marshal(strings.Repeat(line+"\n", size/len(line)))
			if err != nil {
				b.Fatal(err)
			}
			raw := json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`)
			tool := &toolpost.Tool{
				Definition: toolpost.Definition{Name: "big", Input: schema.MustParse(`{"type":"object"}`)},
				Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
					return toolpost.Raw(raw), nil
				},
			}
			dir, err := store.Dir(b.TempDir(), &store.Options{Max: 1 << 30})
			if err != nil {
				b.Fatal(err)
			}
			tools, err := output.New(dir, nil).Layer(toolpost.Tools{tool}).Tools(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			call := &toolpost.Call{Session: "s", Name: "big"}
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tools[0].Handler(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
