package output_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/store"

	"context"
)

// What the views of large results cost that an upstream sent, with what stores
// them, and what a small result costs more than without the layer.
func BenchmarkLayer(b *testing.B) {
	for name, size := range map[string]int{"small": 1000, "64 KiB": 64 << 10, "1 MiB": 1 << 20, "20 MB": 20 << 20} {
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
					return toolpost.RawResult(raw), nil
				},
			}
			dir, err := store.Dir(b.TempDir(), &store.Options{Max: 256 << 20})
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

// What storing costs a tool that writes 100 MB as it runs, and what a page and
// a search of it cost then.
func BenchmarkRecorder(b *testing.B) {
	dir, err := store.Dir(b.TempDir(), &store.Options{Max: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	cache := output.New(dir, nil)
	chunk := []byte(strings.Repeat("2026-01-02T03:04:05Z INFO a line of a log with some text in it\n", 512))
	var ref string
	b.Run("store", func(b *testing.B) {
		b.SetBytes(100 << 20)
		b.ReportAllocs()
		for b.Loop() {
			r := cache.Record(b.Context())
			for n := 0; n < 100<<20; n += len(chunk) {
				_, _ = r.Write(chunk) // never fails
			}
			if _, ref = r.Text(b.Context()); ref == "" {
				b.Fatal("it is not stored")
			}
		}
	})
	set, err := toolpost.NewSet(b.Context(), cache.Tools())
	if err != nil {
		b.Fatal(err)
	}
	for name, args := range map[string]string{
		"tool_output_cache": `"offset":1000000,"limit":200`, "tool_output_cache_grep": `"pattern":"nowhere"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := set.Call(b.Context(), &toolpost.Call{Name: name, Arguments: json.RawMessage(`{"ref_id":"` + ref + `",` + args + `}`)})
				if err != nil || r.IsError() {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// What the excerpt of a text costs that comes in pieces, as JSON, with what stores it.
func BenchmarkKeep(b *testing.B) {
	for name, size := range map[string]int{"64 KiB": 64 << 10, "1 MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			content := strings.Repeat(`2026-01-02T03:04:05Z INFO a line of a log with some text in it\n`, size/63)
			spool := longjson.NewSpool("", new(longjson.Buffers))
			if err := spool.Add([]byte(content), 2<<20); err != nil {
				b.Fatal(err)
			}
			tool := &toolpost.Tool{
				Definition: toolpost.Definition{Name: "big", Input: schema.MustParse(`{"type":"object"}`)},
				Handler: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
					view, ref, err := hidden.Keep(ctx)(ctx, spool.Text(longjson.Span{To: int64(len(content))}), 1, false)
					return toolpost.TextResult(view).WithOutputRef(ref), err
				},
			}
			dir, err := store.Dir(b.TempDir(), &store.Options{Max: 256 << 20})
			if err != nil {
				b.Fatal(err)
			}
			tools, err := output.New(dir, nil).Layer(toolpost.Tools{tool}).Tools(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			call := &toolpost.Call{Session: "s", Name: "big"}
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tools[0].Handler(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
