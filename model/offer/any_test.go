package offer_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/offer"
	"github.com/toolpost/toolpost/schema"
)

// TestAnyResult makes answers of what foreign servers may send: each is JSON
// that names the call. These are tests, not fuzz targets, because the SDKs take
// minutes to compile for fuzzing.
func TestAnyResult(t *testing.T) {
	for _, raw := range []string{
		`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"cG5n"}],"isError":true}`,
		`{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"cGRm"}},{"type":"new"}]}`,
		`{"structuredContent":{"$ref":"#"}}`,
		`{"content":[{"type":"image","mimeType":"image/png","data":7},{},{"type":"image","mimeType":"image/png"}]}`,
		`{"content":[{"type":"text","text":"\ud800\u0000"}]}`,
		`{"content":[],"isError":true}`, `{}`, `null`, `[]`, `{"content":`, "\xff", ``,
	} {
		r := toolpost.RawResult([]byte(raw))
		call := &toolpost.Call{ID: "c1", Name: "tool"}
		for _, answer := range []any{
			gemini.Answer(call, r, true), gemini.Answer(call, r, false),
		} {
			got, err := json.Marshal(answer)
			if err != nil {
				t.Errorf("%T of %q: %v", answer, raw, err)
			}
			contains(t, raw, got, `"c1"`)
		}
	}
}

// TestAnySchema offers odd and hostile schemas to all providers: the tool is
// there or withheld, and what is there can be encoded.
func TestAnySchema(t *testing.T) {
	raws := []json.RawMessage{
		json.RawMessage(`true`), json.RawMessage(`{}`), json.RawMessage(`{"type":"string"}`),
		json.RawMessage(`{"type":"object","properties":{"properties":{"properties":{"a":{"default":1e999}}}}}`),
	}
	for _, h := range accept.Hostile() {
		raws = append(raws, h.Schema)
	}
	for _, s := range accept.Torture() {
		raws = append(raws, s.Input())
	}
	ctx := context.Background()
	for _, raw := range raws {
		s, err := schema.Parse(raw)
		if err != nil {
			continue
		}
		ts := toolpost.Tools{{Definition: toolpost.Definition{Name: "tool", Input: s}, Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, nil
		}}}
		for _, id := range []string{"gemini", "gemini-schema"} {
			o, err := gemini.Tools(ctx, ts, &offer.Options{Dialect: find(t, id)})
			offered(t, o, err)
		}
	}
}

// TestAnyDialect offers in dialects that are not the provider's own: relays
// speak its API for other models.
func TestAnyDialect(t *testing.T) {
	ctx := context.Background()
	ts := asTools(t, json.RawMessage(`{"type":"object","properties":{}}`))
	for _, d := range dialect.All() {
		opts := &offer.Options{Dialect: d}
		functions, err := gemini.Tools(ctx, ts, opts)
		offered(t, functions, err)
		r, err := functions.Call(ctx, &toolpost.Call{Name: "tool_0"})
		if err != nil || r.IsError() {
			t.Errorf("%s: %v, %v", d.ID, r, err)
		}
	}
}

func offered[T any](t *testing.T, o *offer.Offer[T], err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(o.Adapted.Tools); n != len(o.Tools) || n+len(o.Adapted.Withheld) != 1 {
		t.Fatalf("%d tools offered, %d adapted, withheld %v", len(o.Tools), n, o.Adapted.Withheld)
	}
	if _, err := json.Marshal(o.Tools); err != nil {
		t.Fatal(err)
	}
}
