package offer_test

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost/model/openai"
)

const openAICalls = `{"id": "r1", "object": "response", "status": "completed", "output": [
	{"type": "reasoning", "id": "rs_1", "summary": []},
	{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "book", "arguments": "{\"train\":\"IC 1\",\"date\":\"2026-12-01\",\"class\":null}"},
	{"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "fail", "arguments": "{}"},
	{"type": "function_call", "id": "fc_3", "call_id": "c3", "name": "draw", "arguments": ""},
	{"type": "function_call", "id": "fc_4", "call_id": "c4", "name": "book", "arguments": "{\"train\":"}]}`

func TestOpenAI(t *testing.T) {
	ctx := context.Background()
	var booked json.RawMessage
	offer, err := openai.Tools(ctx, railway(&booked), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, openAICalls, `{"id": "r2", "object": "response", "status": "completed", "output": []}`)
	client := sdk.NewClient(option.WithBaseURL(p.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := responses.ResponseNewParams{Model: "gpt-5", Tools: offer.Tools}
	params.Input.OfString = sdk.String("Book it.")
	for range 2 {
		resp, err := client.Responses.New(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		var answers responses.ResponseInputParam
		for _, item := range resp.Output {
			if item.Type != "function_call" {
				continue
			}
			call := openai.Call(item.AsFunctionCall())
			r, err := offer.Call(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, openai.Answer(call, r))
		}
		params.PreviousResponseID = sdk.String(resp.ID)
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: answers}
	}

	equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01"}`) // null stands for left out
	book := p.at(t, 0, "tools", 0)
	checkStrict(t, book)
	equal(t, "type", within(t, book, "type"), `"function"`)

	equal(t, "answer 1", p.at(t, 1, "input", 0),
		`{"type": "function_call_output", "call_id": "c1", "output": "IC 1 on 2026-12-01, class 0"}`)
	equal(t, "answer 2", p.at(t, 1, "input", 1),
		`{"type": "function_call_output", "call_id": "c2", "output": "Error executing tool: the line is closed"}`)
	equal(t, "answer 3", p.at(t, 1, "input", 2, "output"), `[
		{"type": "input_text", "text": "The plan:"},
		{"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
		{"type": "input_text", "text": "[image/svg+xml image of 6 bytes, which cannot be shown to you]"},
		{"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,cGRm"},
		{"type": "input_text", "text": "plan plan:2"}]`)
	contains(t, "answer 4", p.at(t, 1, "input", 3, "output"), "Error executing tool: invalid arguments for book")
}

// checkStrict checks the function of the tool "book", and the bytes of its schema.
func checkStrict(t *testing.T, f json.RawMessage) {
	t.Helper()
	equal(t, "name", within(t, f, "name"), `"book"`)
	equal(t, "description", within(t, f, "description"), `"Books a seat."`)
	equal(t, "strict", within(t, f, "strict"), `true`)
	parameters := within(t, f, "parameters")
	equal(t, "required", within(t, parameters, "required"), `["train", "date", "class"]`)
	equal(t, "additionalProperties", within(t, parameters, "additionalProperties"), `false`)
	inOrder(t, within(t, parameters, "properties"), "train", "date", "class")
}

// TestOpenAIStrict sends strict as false where strict mode would change what
// the tool takes: a map has members of any name.
func TestOpenAIStrict(t *testing.T) {
	ctx := context.Background()
	tools := []json.RawMessage{
		json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["b","a"],"additionalProperties":false}`),
		json.RawMessage(`{"type":"object","properties":{"free":{"type":"object","not":{"required":["x"]}}},"required":["free"],"additionalProperties":false}`),
	}
	ts := asTools(t, tools...)
	offer, err := openai.Tools(ctx, ts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"true", "false"} {
		got, err := json.Marshal(offer.Tools[i])
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "strict", within(t, got, "strict"), want)
		equal(t, "parameters", within(t, got, "parameters"), string(offer.Adapted.Tools[i].Input.Raw()))
	}
	inOrder(t, must(json.Marshal(offer.Tools[0])), "b", "a")

	chat, err := openai.ChatTools(ctx, ts, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "strict", within(t, within(t, must(json.Marshal(chat.Tools[0])), "function"), "strict"), "true")
	if s := within(t, within(t, must(json.Marshal(chat.Tools[1])), "function"), "strict"); s != nil {
		t.Errorf("strict is %s, want none", s)
	}
}

const chatCalls = `{"id": "r1", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message":
	{"role": "assistant", "content": null, "tool_calls": [
		{"id": "c1", "type": "function", "function": {"name": "book", "arguments": "{\"train\":\"IC 1\",\"date\":\"2026-12-01\",\"class\":2}"}},
		{"id": "c2", "type": "function", "function": {"name": "fail", "arguments": "{}"}},
		{"id": "c3", "type": "function", "function": {"name": "draw", "arguments": "{}"}}]}}]}`

const chatDone = `{"id": "r2", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop",
	"message": {"role": "assistant", "content": "Done."}}]}`

func TestOpenAIChat(t *testing.T) {
	ctx := context.Background()
	var booked json.RawMessage
	offer, err := openai.ChatTools(ctx, railway(&booked), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, chatCalls, chatDone)
	client := sdk.NewClient(option.WithBaseURL(p.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := sdk.ChatCompletionNewParams{Model: "gpt-5", Tools: offer.Tools,
		Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("Book it.")}}
	for range 2 {
		resp, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			t.Fatal(err)
		}
		message := resp.Choices[0].Message
		params.Messages = append(params.Messages, message.ToParam())
		for _, c := range message.ToolCalls {
			call := openai.ChatCall(c)
			r, err := offer.Call(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			params.Messages = append(params.Messages, openai.ChatAnswer(call, r))
		}
	}

	equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01", "class": 2}`)
	checkStrict(t, p.at(t, 0, "tools", 0, "function"))
	equal(t, "answer 1", p.at(t, 1, "messages", 2),
		`{"role": "tool", "tool_call_id": "c1", "content": "IC 1 on 2026-12-01, class 2"}`)
	equal(t, "answer 2", p.at(t, 1, "messages", 3),
		`{"role": "tool", "tool_call_id": "c2", "content": "Error executing tool: the line is closed"}`)
	equal(t, "answer 3", p.at(t, 1, "messages", 4, "content"), `"The plan:\n`+
		`[image/png image of 3 bytes, which cannot be shown to you]\n[image/svg+xml image of 6 bytes, which cannot be shown to you]\n`+
		`[application/pdf resource of 3 bytes, which cannot be shown to you]\nplan plan:2"`)
}
