package openai_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

// said returns a conversation in which the assistant said the part, and a text.
func said(p model.Part) *model.Request {
	answer := []model.Part{{Type: model.TypeResult, Result: toolpost.TextResult("Rain.").Message(p.ID)}}
	if p.Type != model.TypeCall {
		answer = nil
	}
	return &model.Request{Messages: []*model.Message{
		model.UserText("Hello."),
		{Role: model.RoleAssistant, Parts: []model.Part{p, model.Text("I am here.")}},
		{Role: model.RoleUser, Parts: append(answer, model.Text("Go on."))},
	}}
}

// TestDamagedParts sends parts whose raw form was damaged, as in a session that
// somebody edited: they are rebuilt or left out, and reported, but the
// conversation goes on.
func TestDamagedParts(t *testing.T) {
	call := model.Part{Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: json.RawMessage(`{"city":"Oslo"}`)}
	for _, c := range []struct {
		api  string
		part model.Part
		raw  string
		sent string // instead of the raw form
	}{
		{"responses", model.Part{Type: model.TypeOpaque, Text: "web_search_call"}, `{"type":"web_search_call","id":`, ""},
		{"responses", model.Part{Type: model.TypeOpaque, Text: "web_search_call"}, `["web_search_call"]`, ""},
		{"responses", model.Part{Type: model.TypeOpaque}, `{"id":"no type"}`, ""},
		{"responses", model.Part{Type: model.TypeOpaque, Text: "x"}, `{"type":"custom_tool_call","call_id":"nobody answers"}`, ""},
		{"responses", model.Part{Type: model.TypeOpaque, Text: "x"}, `{"type":"function_call_output","call_id":"c9","output":"x"}`, ""},
		{"responses", model.Part{Type: model.TypeOpaque, Text: "x"}, `{"type":"function_call","call_id":"c9","name":"x","arguments":"{}"}`, ""},
		{"responses", model.Part{Type: model.TypeThinking, Text: "hm"}, `{"type":"reasoning"}`, ""},
		{"responses", model.Part{Type: model.TypeText, Text: "Well."}, `{"type":"message","role":"assistant"`, "Well."},
		{"responses", call, `{"type":"function_call","call_id":"other","name":"weather","arguments":"{}"}`, `Oslo`},
		{"chat", model.Part{Type: model.TypeOpaque, Text: "reasoning_details"}, `{"reasoning_details":[`, ""},
		{"chat", model.Part{Type: model.TypeOpaque, Text: "reasoning_details"}, `{"reasoning_details":[],"audio":{}}`, ""},
		{"chat", model.Part{Type: model.TypeOpaque, Text: "role"}, `{"role":"system"}`, ""},
		{"chat", model.Part{Type: model.TypeThinking, Text: "hm"}, `{"reasoning_content":null}`, ""},
		{"chat", model.Part{Type: model.TypeText, Text: "Well."}, `{"content":7}`, "Well."},
		{"chat", call, `{"id":"c1","type":"function","function":{"name":"weather","arguments":"nothing"}}`, "Oslo"},
		{"chat", call, `{"id":"other","type":"function","function":{"name":"weather","arguments":"{}"}}`, "Oslo"},
	} {
		build, reply := openai.New, responded
		if c.api == "chat" {
			build, reply = openai.NewChat, chatted
		}
		p := c.part
		p.Origin, p.Raw = &model.Origin{Provider: "openai", API: c.api, Model: "gpt-before"}, json.RawMessage(c.raw)
		body, losses := capture(t, func(url string) model.Model {
			return build("gpt-test", &openai.Options{BaseURL: url, Provider: "openai"})
		}, said(p), reply)
		if len(losses) != 1 || losses[0].Message != 1 || losses[0].Part != 0 || !strings.Contains(losses[0].Text, "cannot be sent back as it was received") {
			t.Errorf("%s, %s: the losses are %v", c.api, c.raw, losses)
		}
		if strings.Contains(string(body), c.raw) || !strings.Contains(string(body), c.sent) {
			t.Errorf("%s, %s: the request is %s", c.api, c.raw, body)
		}
	}
}

// TestServersOnOneHost continues a conversation of one local server on another,
// and one whose parts have the host alone as their provider, as they had before
// the port was part of it: the parts are rebuilt.
func TestServersOnOneHost(t *testing.T) {
	part := model.Part{Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: json.RawMessage(`{"city":"Oslo"}`),
		Raw: json.RawMessage(`{"id":"c1", "type":"function", "function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}`)}
	for provider, accepts := range map[string]bool{"HOST": false, "HOST:1": false, "HOST:PORT": true} {
		r := said(part)
		body, losses := capture(t, func(address string) model.Model {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.NewReplacer("HOST", u.Hostname(), "PORT", u.Port()).Replace(provider)
			r.Messages[1].Parts[0].Origin = &model.Origin{Provider: name, API: "chat", Model: "m"}
			return openai.NewChat("m", &openai.Options{BaseURL: address})
		}, r, chatted)
		if got := strings.Contains(string(body), string(part.Raw)); got != accepts {
			t.Errorf("%s: sent as it was received: %v\n%s", provider, got, body)
		}
		if !strings.Contains(string(body), "Oslo") || len(losses) > 0 {
			t.Errorf("%s: the losses are %v, the request is %s", provider, losses, body)
		}
	}
}
