package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

// A canned transport answers every request with a body.
type canned struct{ kind, body string }

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(strings.NewReader(c.body))}, nil
}

// FuzzStream reads any response of a server: it ends with an error or with a
// response that can be stored and sent back.
func FuzzStream(f *testing.F) {
	turn := modeltest.Turn{Parts: []model.Part{
		{Type: model.TypeThinking, Text: "Hm."}, {Type: model.TypeText, Text: "I look."},
		{Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: json.RawMessage(`{"city":"Oslo"}`)},
		{Type: model.TypeOpaque, Raw: json.RawMessage(`{"type":"novelty"}`)},
	}}
	for _, w := range []modeltest.Wire{modeltest.Responses(), modeltest.Chat()} {
		var body strings.Builder
		w.Answer(&body, http.Header{}, &turn)
		f.Add("text/event-stream", body.String())
	}
	f.Add("application/json", `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)
	f.Add("text/event-stream", events(delta(`"tool_calls":[{"function":{"name":"a.b","arguments":"{"}},{"function":{"name":"","arguments":{}}}],"content":[{"text":"x"}]`), delta(`"content":"x"`), stop))
	f.Add("text/event-stream", events(`{"type":"response.completed","response":{"output":[{"type":"reasoning"},{"type":"function_call","call_id":"c","name":"a.b","arguments":7},{"type":"function_call_output","call_id":"c"},{"type":"message","role":"user","content":"x"},{"type":"item_reference"}]}}`))
	f.Add("text/event-stream", events(`{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[]},{"type":"message","role":"user","content":"x"}]}}`))
	f.Add("text/event-stream", events(delta(`"refusal":[{"text":"x"}],"content":["x"],"tool_call_id":1`), delta(`"content":[{"type":"file"},{"type":"text","text":""}]`), delta(`"content":7`), stop))
	set := railwayTools(f)
	f.Fuzz(func(t *testing.T, kind, body string) {
		opts := &openai.Options{APIKey: modeltest.Key, BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: canned{kind, body}}}
		for _, m := range []model.Model{openai.New("gpt-test", opts), openai.NewChat("gpt-test", opts)} {
			r := &model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Tools: set}
			var response *model.Response
			var failed error
			for d, err := range m.Stream(context.Background(), r) {
				if failed = err; err == nil {
					response = d.Response
				}
			}
			if (failed == nil) != (response != nil) {
				t.Fatalf("%s: response %v, error %v", m.Origin().API, response, failed)
			}
			if response != nil && len(response.Message.Parts) > 0 {
				follow(t, m, r, response.Message)
			}
		}
	})
}

// follow checks that the response can be stored and sent back.
func follow(t *testing.T, m model.Model, r *model.Request, answer *model.Message) {
	t.Helper()
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var stored *model.Message
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	user := model.UserText("Go on.")
	for _, c := range stored.Calls() {
		user.Parts = append(user.Parts, model.Part{Type: model.TypeResult, Result: toolpost.TextResult("x").Message(c.ID)})
	}
	again := *r
	again.Messages = []*model.Message{r.Messages[0], stored, user}
	if err := m.Check(&again); err != nil {
		t.Fatalf("%s: %s cannot be sent back: %v", m.Origin().API, data, err)
	}
}
