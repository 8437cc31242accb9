package model_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
)

// FuzzAnswer makes answers of what a foreign server sent: each is JSON that
// names the call and says something.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"cG5n"}],"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"cGRm"}},{"type":"new"}]}`))
	f.Add([]byte(`{"structuredContent":{"$ref":"#"}}`))
	f.Add([]byte(`{"content":[{"type":"image","data":7},{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := toolpost.Raw(raw)
		call := &toolpost.Call{ID: "c1", Name: "tool"}
		for _, answer := range []any{
			model.GeminiAnswer(call, r, true), model.GeminiAnswer(call, r, false),
			model.OpenAIAnswer(call, r), model.OpenAIChatAnswer(call, r), model.AnthropicAnswer(call, r),
		} {
			got, err := json.Marshal(answer)
			if err != nil {
				t.Fatalf("%T: %v", answer, err)
			}
			contains(t, "answer", got, `"c1"`)
		}
	})
}

// FuzzOffer offers any schema to all providers: the tool is there or withheld,
// and what is there can be encoded.
func FuzzOffer(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"b":{"type":"string"},"a":{"items":[{"$ref":"#"}]}},"required":["b"]}`))
	f.Add([]byte(`{"type":"object","properties":{"properties":{"properties":{"a":{"default":1e999}}}}}`))
	f.Add([]byte(`true`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := schema.Parse(raw)
		if err != nil {
			return
		}
		ctx := context.Background()
		ts := toolpost.Tools{{Definition: toolpost.Definition{Name: "tool", Input: s}, Handler: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, nil
		}}}
		for _, id := range []string{"gemini", "gemini-schema"} {
			o, err := model.GeminiTools(ctx, ts, &model.Options{Dialect: find(t, id)})
			offered(t, o, err)
		}
		responses, err := model.OpenAITools(ctx, ts, nil)
		offered(t, responses, err)
		chat, err := model.OpenAIChatTools(ctx, ts, nil)
		offered(t, chat, err)
		anthropic, err := model.AnthropicTools(ctx, ts, nil)
		offered(t, anthropic, err)
	})
}

func offered[T any](t *testing.T, o *model.Offer[T], err error) {
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
