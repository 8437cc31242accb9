package openai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/sdk/internal/offertest"
	"github.com/toolpost/toolpost/sdk/openai"
)

const openAICalls = `{"id": "r1", "object": "response", "status": "completed", "output": [
	{"type": "reasoning", "id": "rs_1", "summary": []},
	{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "book", "arguments": "{\"train\":\"IC 1\",\"date\":\"2026-12-01\",\"class\":null}"},
	{"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "fail", "arguments": "{}"},
	{"type": "function_call", "id": "fc_3", "call_id": "c3", "name": "draw", "arguments": ""},
	{"type": "function_call", "id": "fc_4", "call_id": "c4", "name": "book", "arguments": "{\"train\":"}]}`

func TestTalk(t *testing.T) {
	ctx := t.Context()
	var booked json.RawMessage
	o, err := openai.Tools(ctx, offertest.Railway(&booked), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := offertest.NewProvider(t, openAICalls, `{"id": "r2", "object": "response", "status": "completed", "output": []}`)
	client := sdk.NewClient(option.WithBaseURL(p.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := responses.ResponseNewParams{Model: "gpt-5", Tools: o.Tools}
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
			r, err := o.Call(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, openai.Answer(call, r))
		}
		params.PreviousResponseID = sdk.String(resp.ID)
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: answers}
	}

	offertest.Equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01"}`) // null stands for left out
	book := p.At(t, 0, "tools", 0)
	checkStrict(t, book)
	offertest.Equal(t, "type", offertest.Within(t, book, "type"), `"function"`)

	offertest.Equal(t, "answer 1", p.At(t, 1, "input", 0),
		`{"type": "function_call_output", "call_id": "c1", "output": "IC 1 on 2026-12-01, class 0"}`)
	offertest.Equal(t, "answer 2", p.At(t, 1, "input", 1),
		`{"type": "function_call_output", "call_id": "c2", "output": "Error executing tool: the line is closed"}`)
	offertest.Equal(t, "answer 3", p.At(t, 1, "input", 2, "output"), `[
		{"type": "input_text", "text": "The plan:"},
		{"type": "input_image", "image_url": "data:image/png;base64,cG5n"},
		{"type": "input_text", "text": "[image/svg+xml image of 6 bytes, which cannot be shown to you]"},
		{"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,cGRm"},
		{"type": "input_text", "text": "plan plan:2"}]`)
	offertest.Contains(t, "answer 4", p.At(t, 1, "input", 3, "output"), "Error executing tool: invalid arguments for book")
}

// checkStrict checks the function of the tool "book", and the bytes of its schema.
func checkStrict(t *testing.T, f json.RawMessage) {
	t.Helper()
	offertest.Equal(t, "name", offertest.Within(t, f, "name"), `"book"`)
	offertest.Equal(t, "description", offertest.Within(t, f, "description"), `"Books a seat."`)
	offertest.Equal(t, "strict", offertest.Within(t, f, "strict"), `true`)
	parameters := offertest.Within(t, f, "parameters")
	offertest.Equal(t, "required", offertest.Within(t, parameters, "required"), `["train", "date", "class"]`)
	offertest.Equal(t, "additionalProperties", offertest.Within(t, parameters, "additionalProperties"), `false`)
	offertest.InOrder(t, offertest.Within(t, parameters, "properties"), "train", "date", "class")
}

// TestStrictTools sends strict as false where strict mode would change what
// the tool takes: a map has members of any name.
func TestStrictTools(t *testing.T) {
	ctx := t.Context()
	tools := []json.RawMessage{
		json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"required":["b","a"],"additionalProperties":false}`),
		json.RawMessage(`{"type":"object","properties":{"free":{"type":"object","not":{"required":["x"]}}},"required":["free"],"additionalProperties":false}`),
	}
	var ts toolpost.Tools
	for i, schema := range tools {
		ts = append(ts, offertest.NewTool(t, fmt.Sprintf("tool_%d", i), schema))
	}
	o, err := openai.Tools(ctx, ts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"true", "false"} {
		got, err := json.Marshal(o.Tools[i])
		if err != nil {
			t.Fatal(err)
		}
		offertest.Equal(t, "strict", offertest.Within(t, got, "strict"), want)
		offertest.Equal(t, "parameters", offertest.Within(t, got, "parameters"), string(o.Adapted.Tools[i].Input.Raw()))
	}
	offertest.InOrder(t, offertest.Marshal(t, o.Tools[0]), "b", "a")

	chat, err := openai.ChatTools(ctx, ts, nil)
	if err != nil {
		t.Fatal(err)
	}
	offertest.Equal(t, "strict", offertest.Within(t, offertest.Within(t, offertest.Marshal(t, chat.Tools[0]), "function"), "strict"), "true")
	if s := offertest.Within(t, offertest.Within(t, offertest.Marshal(t, chat.Tools[1]), "function"), "strict"); s != nil {
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

func TestChat(t *testing.T) {
	ctx := t.Context()
	var booked json.RawMessage
	o, err := openai.ChatTools(ctx, offertest.Railway(&booked), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := offertest.NewProvider(t, chatCalls, chatDone)
	client := sdk.NewClient(option.WithBaseURL(p.URL), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := sdk.ChatCompletionNewParams{Model: "gpt-5", Tools: o.Tools,
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
			r, err := o.Call(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			params.Messages = append(params.Messages, openai.ChatAnswer(call, r))
		}
	}

	offertest.Equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01", "class": 2}`)
	checkStrict(t, p.At(t, 0, "tools", 0, "function"))
	offertest.Equal(t, "answer 1", p.At(t, 1, "messages", 2),
		`{"role": "tool", "tool_call_id": "c1", "content": "IC 1 on 2026-12-01, class 2"}`)
	offertest.Equal(t, "answer 2", p.At(t, 1, "messages", 3),
		`{"role": "tool", "tool_call_id": "c2", "content": "Error executing tool: the line is closed"}`)
	offertest.Equal(t, "answer 3", p.At(t, 1, "messages", 4, "content"), `"The plan:\n`+
		`[image/png image of 3 bytes, which cannot be shown to you]\n[image/svg+xml image of 6 bytes, which cannot be shown to you]\n`+
		`[application/pdf resource of 3 bytes, which cannot be shown to you]\nplan plan:2"`)
}

// TestDecode returns a call in the form of the tool's own schema: null stands for an
// argument that is left out.
func TestDecode(t *testing.T) {
	o, err := openai.Tools(t.Context(), offertest.Railway(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	call, err := o.Decode(&toolpost.Call{ID: "c1", Name: "book", Arguments: json.RawMessage(`{"train":"IC 1","date":"today","class":null}`)})
	if err != nil {
		t.Fatal(err)
	}
	offertest.Equal(t, "arguments", call.Arguments, `{"train": "IC 1", "date": "today"}`)
}

// TestAnyResult makes answers of what foreign servers may send: each is JSON that names
// the call.
func TestAnyResult(t *testing.T) {
	for _, raw := range offertest.OddResults() {
		call, r := &toolpost.Call{ID: "c1", Name: "tool"}, toolpost.RawResult([]byte(raw))
		offertest.Contains(t, raw, offertest.Marshal(t, openai.Answer(call, r)), `"c1"`)
		offertest.Contains(t, raw, offertest.Marshal(t, openai.ChatAnswer(call, r)), `"c1"`)
	}
}

// TestAnySchema offers odd and hostile schemas.
func TestAnySchema(t *testing.T) {
	for _, ts := range offertest.OddTools(t) {
		o, err := openai.Tools(t.Context(), ts, nil)
		offertest.CheckOffer(t, o, err)
		chat, err := openai.ChatTools(t.Context(), ts, nil)
		offertest.CheckOffer(t, chat, err)
	}
}

// TestAnyDialect offers in dialects that are not OpenAI's own: relays speak its API for
// other models.
func TestAnyDialect(t *testing.T) {
	ts := toolpost.Tools{offertest.NewTool(t, "tool_0", json.RawMessage(`{"type":"object","properties":{}}`))}
	for _, d := range dialect.All() {
		o, err := openai.Tools(t.Context(), ts, &model.OfferOptions{Dialect: d})
		offertest.CheckOffer(t, o, err)
		chat, err := openai.ChatTools(t.Context(), ts, &model.OfferOptions{Dialect: d})
		offertest.CheckOffer(t, chat, err)
		r, err := chat.Call(t.Context(), &toolpost.Call{Name: "tool_0"})
		if err != nil || r.IsError() {
			t.Errorf("%s: %v, %v", d.ID, r, err)
		}
	}
}
