package offer_test

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/offer"
)

const anthropicCalls = `{"id": "m1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use", "content": [
	{"type": "text", "text": "I book."},
	{"type": "tool_use", "id": "c1", "name": "book", "input": {"train": "IC 1", "date": "2026-12-01", "class": 9007199254740993}},
	{"type": "tool_use", "id": "c2", "name": "fail", "input": {}},
	{"type": "tool_use", "id": "c3", "name": "draw", "input": {}}]}`

const anthropicDone = `{"id": "m2", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn",
	"content": [{"type": "text", "text": "Done."}]}`

func TestAnthropic(t *testing.T) {
	for id, strict := range map[string]bool{"anthropic": false, "anthropic-strict": true} {
		t.Run(id, func(t *testing.T) {
			ctx := context.Background()
			var booked json.RawMessage
			o, err := anthropic.Tools(ctx, railway(&booked), &offer.Options{Dialect: find(t, id)})
			if err != nil {
				t.Fatal(err)
			}
			p := newProvider(t, anthropicCalls, anthropicDone)
			talkAnthropic(t, p, o)

			equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01", "class": 9007199254740993}`)
			book := p.at(t, 0, "tools", 0)
			equal(t, "name", within(t, book, "name"), `"book"`)
			equal(t, "description", within(t, book, "description"), `"Books a seat."`)
			if got := within(t, book, "strict"); (string(got) == "true") != strict {
				t.Errorf("strict is %s", got)
			}
			input := within(t, book, "input_schema")
			if want := string(o.Adapted.Tools[0].Input.Raw()); string(input) != want {
				t.Errorf("sent %s\nwant %s", input, want)
			}
			inOrder(t, within(t, input, "properties"), "train", "date", "class")
			equal(t, "required", within(t, input, "required"), `["train", "date"]`)

			equal(t, "answers", p.at(t, 1, "messages", 2), `{"role": "user", "content": [
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

// talkAnthropic asks twice, with the answers to the calls of the first reply.
func talkAnthropic(t *testing.T, p *provider, o *offer.Offer[sdk.ToolUnionParam]) {
	t.Helper()
	ctx := context.Background()
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

// TestAnthropicAnswer has what the API refuses: empty text, and media in an error.
func TestAnthropicAnswer(t *testing.T) {
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
		equal(t, "answer", must(json.Marshal(anthropic.Answer(&toolpost.Call{ID: "c"}, c.result))), c.want)
	}
}
