package anthropic_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/sdk/anthropic"
	"github.com/toolpost/toolpost/sdk/internal/offertest"
)

const anthropicCalls = `{"id": "m1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use", "content": [
	{"type": "text", "text": "I book."},
	{"type": "tool_use", "id": "c1", "name": "book", "input": {"train": "IC 1", "date": "2026-12-01", "class": 9007199254740993}},
	{"type": "tool_use", "id": "c2", "name": "fail", "input": {}},
	{"type": "tool_use", "id": "c3", "name": "draw", "input": {}}]}`

const anthropicDone = `{"id": "m2", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
	"content": [{"type": "text", "text": "Done."}]}`

func TestTalk(t *testing.T) {
	for id, strict := range map[string]bool{"anthropic": false, "anthropic-strict": true} {
		t.Run(id, func(t *testing.T) {
			ctx := t.Context()
			var booked json.RawMessage
			o, err := anthropic.Tools(ctx, offertest.Railway(&booked), &model.OfferOptions{Dialect: offertest.Find(t, id)})
			if err != nil {
				t.Fatal(err)
			}
			p := offertest.NewProvider(t, anthropicCalls, anthropicDone)
			talk(t, p, o)

			offertest.Equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01", "class": 9007199254740993}`)
			book := p.At(t, 0, "tools", 0)
			offertest.Equal(t, "name", offertest.Within(t, book, "name"), `"book"`)
			offertest.Equal(t, "description", offertest.Within(t, book, "description"), `"Books a seat."`)
			if got := offertest.Within(t, book, "strict"); (string(got) == "true") != strict {
				t.Errorf("strict is %s", got)
			}
			input := offertest.Within(t, book, "input_schema")
			if want := string(o.Adapted.Tools[0].Input.Raw()); string(input) != want {
				t.Errorf("sent %s\nwant %s", input, want)
			}
			offertest.InOrder(t, offertest.Within(t, input, "properties"), "train", "date", "class")
			offertest.Equal(t, "required", offertest.Within(t, input, "required"), `["train", "date"]`)

			offertest.Equal(t, "answers", p.At(t, 1, "messages", 2), `{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "IC 1 on 2026-12-01, class 9007199254740993"}]},
				{"type": "tool_result", "tool_use_id": "c2", "is_error": true,
					"content": [{"type": "text", "text": "Error executing tool: the line is closed"}]},
				{"type": "tool_result", "tool_use_id": "c3", "content": [
					{"type": "text", "text": "The plan:"},
					{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
					{"type": "text", "text": "[image/svg+xml image of 6 bytes, which cannot be shown to you]"},
					{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "cGRm"}},
					{"type": "text", "text": "plan plan:2"}]}]}`)
		})
	}
}

// talk asks twice, with the answers to the calls of the first reply.
func talk(t *testing.T, p *offertest.Provider, o *model.Offer[sdk.ToolUnionParam]) {
	t.Helper()
	ctx := t.Context()
	client := sdk.NewClient(option.WithBaseURL(p.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := sdk.MessageNewParams{Model: "claude", MaxTokens: 100, Tools: o.Tools,
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Book it."))}}
	for range 2 {
		resp, err := client.Messages.New(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		var answers []sdk.ContentBlockParamUnion
		for _, block := range resp.Content {
			b, ok := block.AsAny().(sdk.ToolUseBlock)
			if !ok {
				continue
			}
			call := anthropic.Call(b)
			r, err := o.Call(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, anthropic.Answer(call, r))
		}
		params.Messages = append(params.Messages, resp.ToParam(), sdk.NewUserMessage(answers...))
	}
}

// TestAnswer has what the API refuses: empty text, and media in an error.
func TestAnswer(t *testing.T) {
	image := toolpost.Part{Type: "image", MIMEType: "image/png", Data: []byte("png")}
	failed := toolpost.RawResult(json.RawMessage(`{"isError":true,"content":[{"type":"image","mimeType":"image/png","data":"cG5n"}]}`))
	for _, c := range []struct {
		result *toolpost.Result
		want   string
	}{
		{toolpost.TextResult(""), `{"type": "tool_result", "tool_use_id": "c"}`},
		{toolpost.NewResult(), `{"type": "tool_result", "tool_use_id": "c"}`},
		{toolpost.NewResult(image, toolpost.Part{Type: "text"}), `{"type": "tool_result", "tool_use_id": "c", "content": [
			{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}}]}`},
		{failed, `{"type": "tool_result", "tool_use_id": "c", "is_error": true, "content": [
			{"type": "text", "text": "Error executing tool: "},
			{"type": "text", "text": "[image/png image of 3 bytes, which cannot be shown to you]"}]}`},
	} {
		offertest.Equal(t, "answer", offertest.Marshal(t, anthropic.Answer(&toolpost.Call{ID: "c"}, c.result)), c.want)
	}
}

// TestAnyResult makes answers of what foreign servers may send: each is JSON that names
// the call.
func TestAnyResult(t *testing.T) {
	for _, raw := range offertest.OddResults() {
		answer := anthropic.Answer(&toolpost.Call{ID: "c1", Name: "tool"}, toolpost.RawResult([]byte(raw)))
		offertest.Contains(t, raw, offertest.Marshal(t, answer), `"c1"`)
	}
}

// TestAnySchema offers odd and hostile schemas.
func TestAnySchema(t *testing.T) {
	for _, ts := range offertest.OddTools(t) {
		o, err := anthropic.Tools(t.Context(), ts, nil)
		offertest.CheckOffer(t, o, err)
	}
}

// TestAnyDialect offers in dialects that are not Anthropic's own: relays speak its API
// for other models.
func TestAnyDialect(t *testing.T) {
	ts := toolpost.Tools{offertest.NewTool(t, "tool_0", json.RawMessage(`{"type":"object","properties":{}}`))}
	for _, d := range dialect.All() {
		o, err := anthropic.Tools(t.Context(), ts, &model.OfferOptions{Dialect: d})
		offertest.CheckOffer(t, o, err)
		r, err := o.Call(t.Context(), &toolpost.Call{Name: "tool_0"})
		if err != nil || r.IsError() {
			t.Errorf("%s: %v, %v", d.ID, r, err)
		}
	}
}
