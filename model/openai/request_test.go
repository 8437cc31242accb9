package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/schema"
)

var update = os.Getenv("TOOLPOST_UPDATE") != "" // "make update" rewrites testdata

// A trip has a property that may be left out.
type trip struct {
	From string `json:"from"`
	To   string `json:"to"`
	Via  string `json:"via,omitempty"`
}

type place struct {
	City string `json:"city"`
}

func railwayTools(t testing.TB) *toolpost.Set {
	t.Helper()
	find := toolpost.New("find", "Finds a train.", func(context.Context, trip) (string, error) { return "IC 1", nil }, nil)
	find.Name = "find.train" // as MCP allows and OpenAI does not
	set, err := toolpost.NewSet(context.Background(), toolpost.Tools{
		find,
		toolpost.New("weather", "Returns the weather of a city.", func(context.Context, place) (string, error) { return "Sunny", nil }, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// conversation is a request with everything that a request can have.
func conversation(t testing.TB, own model.Origin) *model.Request {
	t.Helper()
	other := &model.Origin{Provider: "anthropic", API: "messages", Model: "claude"}
	raw := func(p model.Part, text string) model.Part {
		p.Origin, p.Raw = &own, json.RawMessage(text)
		return p
	}
	ownParts := []model.Part{
		raw(model.Part{Type: model.TypeThinking, Text: "Hm."}, `{"id":"rs_1","summary":[{"text":"Hm.","type":"summary_text"}],"type":"reasoning","encrypted_content":"gAAA\u003d<&>"}`),
		raw(model.Part{Type: model.TypeText, Text: "Now the train."}, `{"id":"msg_1","content":[{"annotations":[],"text":"Now the train.","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}`),
		raw(model.Part{Type: model.TypeCall, ID: "call_2", Name: "find.train", Arguments: json.RawMessage(`{"from":"Oslo","to":"Bergen"}`)},
			`{"arguments":"{\"from\":\"Oslo\", \"to\":\"Bergen\",\"via\":null}","call_id":"call_2","name":"find_train","type":"function_call","id":"fc_1","status":"completed"}`),
	}
	if own.API == "chat" {
		ownParts = []model.Part{
			raw(model.Part{Type: model.TypeText, Text: "Now the train."}, `{"content":"Now the train\u002e"}`),
			raw(model.Part{Type: model.TypeCall, ID: "call_2", Name: "find.train", Arguments: json.RawMessage(`{"from":"Oslo","to":"Bergen"}`)},
				`{"id":"call_2","type":"function","function":{"name":"find_train","arguments":"{\"from\":\"Oslo\", \"to\":\"Bergen\",\"via\":null}"}}`),
		}
	}
	result := func(id string, parts ...toolpost.Part) model.Part {
		return model.Part{Type: model.TypeResult, Result: toolpost.NewResult(parts...).Message(id)}
	}
	return &model.Request{
		System: "You plan trips.", Tools: railwayTools(t), MaxTokens: 1000, Effort: "low", CacheKey: "session-1", NoCalls: true,
		Output: schema.MustParse(`{"type":"array","items":{"type":"object","properties":{"train":{"type":"string"},"note":{"type":"string"}},"required":["train"]}}`),
		Messages: []*model.Message{
			{Role: model.RoleUser, Parts: []model.Part{
				{Type: model.TypeText, Text: "Where is <this>?"},
				{Type: model.TypeImage, MIMEType: "image/png", Data: []byte("png")},
				{Type: model.TypeDocument, MIMEType: "application/pdf", Data: []byte("pdf"), Name: "plan.pdf"},
				{Type: model.TypeDocument, MIMEType: "text/plain", Data: []byte("The notes."), Name: "notes.txt"},
			}},
			{Role: model.RoleAssistant, Parts: []model.Part{
				{Type: model.TypeThinking, Text: "A picture.", Origin: other, Raw: json.RawMessage(`{"signature":"x"}`)},
				{Type: model.TypeText, Text: "I look.", Origin: other},
				{Type: model.TypeCall, ID: "toolu/1", Name: "find.train", Arguments: json.RawMessage(`{"from":"Oslo","to":"Bergen"}`), Origin: other},
			}},
			{Role: model.RoleUser, Parts: []model.Part{
				result("toolu/1", toolpost.Part{Type: "text", Text: "The plan:"}, toolpost.Part{Type: "image", MIMEType: "image/jpeg", Data: []byte("jpg")},
					toolpost.Part{Type: "audio", MIMEType: "audio/wav", Data: []byte("wav")}),
				{Type: model.TypeText, Text: "And then?"},
			}},
			{Role: model.RoleAssistant, Parts: ownParts},
			{Role: model.RoleUser, Parts: []model.Part{result("call_2", toolpost.Part{Type: "text", Text: "IC 1"})}},
		},
	}
}

// capture returns the body that a model sends, and the losses of the response
// to it.
func capture(t *testing.T, build func(url string) model.Model, r *model.Request, reply string) ([]byte, []model.Loss) {
	t.Helper()
	var body []byte
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ = io.ReadAll(req.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, reply)
	}))
	defer web.Close()
	var losses []model.Loss
	for d, err := range build(web.URL).Stream(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Response != nil {
			losses = d.Response.Losses
		}
	}
	return body, losses
}

// Streams of short answers.
const (
	responded = "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[]}}\n\n"
	chatted   = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"
)

// TestRequests compares whole requests with golden files, which the tests of the module
// sdk compare with the types of OpenAI's SDK.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name, api, provider, reply string
		build                      func(name string, opts *openai.Options) model.Model
	}{
		{"responses", "responses", "openai", responded, openai.New},
		{"chat", "chat", "openai", chatted, openai.NewChat},
		{"compatible", "chat", "ollama", chatted, openai.NewChat},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := conversation(t, model.Origin{Provider: c.provider, API: c.api, Model: "gpt-before"})
			body, losses := capture(t, func(url string) model.Model {
				return c.build("gpt-test", &openai.Options{BaseURL: url, Provider: c.provider, Summaries: true})
			}, r, c.reply)
			for _, p := range r.Messages[3].Parts {
				if !sendsChatPart(body, p.Raw) {
					t.Errorf("the request lacks %s", p.Raw)
				}
			}
			golden(t, c.name+".json", indented(t, body))
			text := ""
			for _, l := range losses {
				text += l.String() + "\n"
			}
			golden(t, c.name+".losses", []byte(text))
		})
	}
}

func indented(t *testing.T, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; run with TOOLPOST_UPDATE=1 and read the diff:\n%s", file, diff)
	}
}
