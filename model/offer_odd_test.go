package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
)

func everyModel(t *testing.T) map[string]model.Model {
	g := gemini.New("gemini-3-pro", &gemini.Options{APIKey: "k"})
	return map[string]model.Model{
		"anthropic": anthropic.New("claude-opus-4-5", &anthropic.Options{APIKey: "k"}),
		"responses": openai.New("gpt-5", &openai.Options{APIKey: "k"}),
		"chat":      openai.NewChat("x", &openai.Options{APIKey: "k", BaseURL: "http://127.0.0.1:1"}),
		"gemini":    g,
	}
}

// TestOddHistories checks histories that tools, people and other providers may leave.
// A request that is refused would end the session for good.
func TestOddHistories(t *testing.T) {
	text := func(s string) model.Part { return model.Part{Type: model.TypeText, Text: s} }
	other := &model.Origin{Provider: "other", API: "x", Model: "y"}
	call := func(id, name, args string) model.Part {
		return model.Part{Type: model.TypeCall, ID: id, Name: name, Arguments: json.RawMessage(args), Origin: other}
	}
	result := func(id string, m toolpost.ToolMessage) model.Part {
		m.CallID = id
		return model.Part{Type: model.TypeResult, Result: &m}
	}
	user := func(ps ...model.Part) *model.Message { return &model.Message{Role: "user", Parts: ps} }
	asst := func(ps ...model.Part) *model.Message { return &model.Message{Role: "assistant", Parts: ps} }
	long := strings.Repeat("x", 300)
	for name, ms := range map[string][]*model.Message{
		"no image":        {user(model.Part{Type: model.TypeImage, MIMEType: "image/png"})},
		"odd image":       {user(model.Part{Type: model.TypeImage, MIMEType: "image/x-odd", Data: []byte{1}})},
		"no mime":         {user(model.Part{Type: model.TypeImage, Data: []byte{1}})},
		"odd mime":        {user(model.Part{Type: model.TypeDocument, MIMEType: "\x00\"", Name: "a\x00\"/b", Data: []byte{1}})},
		"empty text doc":  {user(model.Part{Type: model.TypeDocument, MIMEType: "text/plain", Name: "a.txt", Data: []byte(" ")})},
		"long id":         {user(text("x")), asst(call(long, "a", "{}")), user(result(long, toolpost.ToolMessage{Text: "x"}))},
		"odd id":          {user(text("x")), asst(call("ä \x00", "a b.c", "{}")), user(result("ä \x00", toolpost.ToolMessage{Text: ""}))},
		"long name":       {user(text("x")), asst(call("1", long, "{}")), user(result("1", toolpost.ToolMessage{Text: " "}))},
		"same ids":        {user(text("x")), asst(call("1", "a", "{}")), user(result("1", toolpost.ToolMessage{Text: "x"})), asst(call("1", "a", "{}")), user(result("1", toolpost.ToolMessage{Text: "x"}))},
		"ids alike":       {user(text("x")), asst(call("a b", "a", "{}"), call("a_b", "a", "{}"), call("a.b", "a", "{}")), user(result("a.b", toolpost.ToolMessage{Text: "x"}), result("a b", toolpost.ToolMessage{Text: "x"}), result("a_b", toolpost.ToolMessage{Text: "x"}))},
		"odd arguments":   {user(text("x")), asst(call("1", "a", `{"a":`), call("2", "a", `[]`), call("3", "a", ``), call("4", "a", `"x"`), call("5", "a", strings.Repeat("[", 2000)), call("6", "a", `{"a":1,"a":2}`), call("7", "a", `{"a":1e99999}`)), user(result("1", toolpost.ToolMessage{}), result("2", toolpost.ToolMessage{}), result("3", toolpost.ToolMessage{}), result("4", toolpost.ToolMessage{}), result("5", toolpost.ToolMessage{}), result("6", toolpost.ToolMessage{}), result("7", toolpost.ToolMessage{}))},
		"empty assistant": {user(text("x")), asst(text("")), user(text("y"))},
		"only thinking":   {user(text("x")), asst(model.Part{Type: model.TypeThinking, Text: "x", Origin: other}), user(text("y"))},
		"only opaque":     {user(text("x")), asst(model.Part{Type: model.TypeOpaque, Text: "x", Origin: other, Raw: []byte(`{"type":"x"}`)}), user(text("y"))},
		"no parts result": {user(text("x")), asst(call("1", "a", "{}")), user(result("1", toolpost.ToolMessage{Parts: []toolpost.Part{}}))},
		"media result":    {user(text("x")), asst(call("1", "a", "{}")), user(result("1", toolpost.ToolMessage{Parts: []toolpost.Part{{Type: "image", MIMEType: "image/png", Data: []byte{1}}, {Type: "text"}, {Type: "resource", MIMEType: "application/pdf", Data: []byte{1}}, {Type: "audio", MIMEType: "audio/wav", Data: []byte{1}}}}))},
		"failed media":    {user(text("x")), asst(call("1", "a", "{}")), user(result("1", toolpost.ToolMessage{IsError: true, Parts: []toolpost.Part{{Type: "image", MIMEType: "image/png", Data: []byte{1}}}}))},
		"text and result": {user(text("x")), asst(call("1", "a", "{}")), user(text("first"), result("1", toolpost.ToolMessage{Text: "x"}), text("last"))},
		"invalid utf-8":   {user(text("\xff\xfe")), asst(call("1", "a\xff", `{"a":"b"}`), text("\xff")), user(result("1", toolpost.ToolMessage{Text: "\xff"}))},
		"unknown part":    {user(text("x"), model.Part{Type: "video", Data: []byte{1}})},
	} {
		for provider, m := range everyModel(t) {
			for _, origin := range []model.Origin{*other, m.Origin()} {
				for _, msg := range ms {
					for i := range msg.Parts {
						if msg.Parts[i].Origin != nil {
							msg.Parts[i].Origin = &origin
						}
					}
				}
				if err := m.Check(&model.Request{Messages: ms}); err != nil {
					t.Errorf("%s: %s (%v): %v", name, provider, origin, err)
				}
			}
		}
	}
}
