package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

// A recorder is a transport that keeps the requests and refuses them.
type recorder struct {
	requests []*http.Request
	bodies   []string
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	r.requests, r.bodies = append(r.requests, req), append(r.bodies, string(body))
	return &http.Response{StatusCode: 400, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{}`))}, err
}

// send returns the request of a model and its body.
func send(t *testing.T, build func(string, *openai.Options) model.Model, name string, opts openai.Options, r *model.Request) (*http.Request, string) {
	t.Helper()
	rec := &recorder{}
	opts.HTTPClient = &http.Client{Transport: rec}
	for range build(name, &opts).Stream(context.Background(), r) {
	}
	if len(rec.requests) != 1 {
		t.Fatalf("%d requests were sent", len(rec.requests))
	}
	return rec.requests[0], rec.bodies[0]
}

// TestCredentials sends the key of the environment to OpenAI only.
func TestCredentials(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:2/")
	t.Setenv("OPENAI_ORG_ID", "org")
	for _, c := range []struct {
		opts           openai.Options
		url, key, name string
	}{
		{openai.Options{}, "https://api.openai.com/v1/", "Bearer sk-of-the-environment", "openai"},
		{openai.Options{APIKey: "sk-other"}, "https://api.openai.com/v1/", "Bearer sk-other", "openai"},
		{openai.Options{BaseURL: "http://127.0.0.1:1/v1"}, "http://127.0.0.1:1/v1/", "", "127.0.0.1:1"},
		{openai.Options{BaseURL: "http://[::1]:8080/v1"}, "http://[::1]:8080/v1/", "", "[::1]:8080"},
		{openai.Options{BaseURL: "http://localhost:80/v1"}, "http://localhost:80/v1/", "", "localhost"},
		{openai.Options{BaseURL: "https://llm.example:443/v1"}, "https://llm.example:443/v1/", "", "llm.example"},
		{openai.Options{BaseURL: "http://llm.example:443/v1"}, "http://llm.example:443/v1/", "", "llm.example:443"},
		{openai.Options{BaseURL: "http://127.0.0.1:1/v1/", Provider: "ollama", APIKey: "sk-other"}, "http://127.0.0.1:1/v1/", "Bearer sk-other", "ollama"},
	} {
		req, _ := send(t, openai.NewChat, "m", c.opts, hello(t))
		if got := req.URL.String(); got != c.url+"chat/completions" {
			t.Errorf("the address is %s, want %s", got, c.url)
		}
		if got := req.Header.Get("Authorization"); got != c.key {
			t.Errorf("the credential for %s is %q, want %q", c.url, got, c.key)
		}
		if req.Header.Get("OpenAI-Organization") != "" {
			t.Errorf("an organization is sent to %s", c.url)
		}
		want := model.Origin{Provider: c.name, API: "chat", Model: "m"}
		if got := openai.NewChat("m", &c.opts).Origin(); got != want {
			t.Errorf("the origin is %+v, want %+v", got, want)
		}
	}
}

// TestOldModels sends no parameters of reasoning to models that refuse them.
func TestOldModels(t *testing.T) {
	for name, reasons := range map[string]bool{"gpt-5.2": true, "o4-mini": true, "gpt-4.1": false, "gpt-5-chat-latest": false} {
		r := hello(t)
		r.Effort = "high"
		_, body := send(t, openai.New, name, openai.Options{Provider: "openai"}, r)
		if strings.Contains(body, `"effort"`) != reasons || strings.Contains(body, "encrypted_content") != reasons {
			t.Errorf("%s: the request is %s", name, body)
		}
		_, body = send(t, openai.NewChat, name, openai.Options{Provider: "openai"}, r)
		if strings.Contains(body, "reasoning_effort") != reasons {
			t.Errorf("%s: the request is %s", name, body)
		}
	}
}

// TestCacheKey shortens keys that OpenAI refuses.
func TestCacheKey(t *testing.T) {
	r := hello(t)
	r.CacheKey = strings.Repeat("k", 65)
	if _, body := send(t, openai.New, "m", openai.Options{}, r); strings.Contains(body, r.CacheKey) || !strings.Contains(body, "prompt_cache_key") {
		t.Errorf("the request is %s", body)
	}
}

// TestDefer marks the tools that the model finds by searching.
func TestDefer(t *testing.T) {
	deferWeather := func(tool *toolpost.Tool) bool { return tool.Name == "weather" }
	_, body := send(t, openai.New, "gpt-5.4", openai.Options{Defer: deferWeather}, hello(t))
	var r struct {
		Tools []struct {
			Type, Name   string
			DeferLoading bool `json:"defer_loading"`
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Tools) != 3 || r.Tools[0].DeferLoading || !r.Tools[1].DeferLoading || r.Tools[2].Type != "tool_search" {
		t.Errorf("the tools are %+v", r.Tools)
	}
	if err := openai.Check([]byte(body)); err != nil {
		t.Error(err)
	}
	if _, body := send(t, openai.New, "gpt-5.4", openai.Options{Defer: func(*toolpost.Tool) bool { return false }}, hello(t)); strings.Contains(body, "tool_search") {
		t.Errorf("tools are searched though none is deferred: %s", body)
	}
}

// TestLoneReasoning leaves out reasoning whose answer was cut off, which the
// provider refuses.
func TestLoneReasoning(t *testing.T) {
	own := openai.New("m", nil).Origin()
	raw := json.RawMessage(`{"type":"reasoning","id":"rs_1","summary":[]}`)
	r := hello(t)
	r.Messages = append(r.Messages,
		&model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeThinking, Origin: &own, Raw: raw}}}, model.UserText("Go on."))
	body, losses := capture(t, func(url string) model.Model {
		return openai.New("m", &openai.Options{BaseURL: url, Provider: "openai"})
	}, r, events(`{"type":"response.completed","response":{"status":"completed","output":[]}}`))
	if strings.Contains(string(body), "rs_1") || len(losses) != 1 || losses[0].Message != 1 || losses[0].Part != 0 {
		t.Errorf("losses %v, the request is %s", losses, body)
	}
}

// TestWithheld reports the tools that are too many for one request.
func TestWithheld(t *testing.T) {
	var all toolpost.Tools
	for range 130 {
		tool := toolpost.New("t", "A tool.", func(context.Context, place) (string, error) { return "", nil }, nil)
		tool.Name = "t" + strings.Repeat("x", len(all)%60) + string(rune('a'+len(all)/60))
		all = append(all, tool)
	}
	set, err := toolpost.NewSet(context.Background(), all)
	if err != nil {
		t.Fatal(err)
	}
	r := hello(t)
	r.Tools = set
	_, losses := capture(t, func(url string) model.Model {
		return openai.NewChat("m", &openai.Options{BaseURL: url, Provider: "openai"})
	}, r, events(stop))
	if len(losses) != 2 || losses[0].Message != -1 || losses[0].Part != -1 {
		t.Errorf("losses: %v", losses)
	}
}

// TestToolsAreCached sends the same bytes for the same tools, also for sets that
// came later.
func TestToolsAreCached(t *testing.T) {
	var bodies []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		bodies = append(bodies, string(body))
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer web.Close()
	m := openai.New("m", &openai.Options{BaseURL: web.URL})
	r := hello(t)
	for range 3 {
		for range m.Stream(context.Background(), r) {
		}
	}
	r = hello(t)
	for range m.Stream(context.Background(), r) {
	}
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("the request is\n%s, want\n%s", body, bodies[0])
		}
	}
}

// TestInvalidRequests are refused before they are sent.
func TestInvalidRequests(t *testing.T) {
	assistant := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeText, Text: "Hi"}}}
	for _, messages := range [][]*model.Message{
		nil, {assistant}, {model.UserText("")}, {model.UserText("Hi"), assistant},
		{model.UserText("Hi"), {Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeCall, ID: "c1", Name: "weather"}}}, model.UserText("Hi")},
	} {
		for _, m := range []model.Model{openai.New("m", &openai.Options{BaseURL: "http://127.0.0.1:1"}), openai.NewChat("m", &openai.Options{BaseURL: "http://127.0.0.1:1"})} {
			r := &model.Request{Messages: messages}
			failed, _ := m.Check(r).(*model.Error)
			if failed == nil || failed.Kind != model.KindInvalid || failed.Origin != m.Origin() {
				t.Errorf("Check of %d messages: %v", len(messages), failed)
			}
			for _, err := range m.Stream(context.Background(), r) {
				if err == nil || failed == nil || err.Error() != failed.Error() {
					t.Errorf("Stream of %d messages: %v, Check: %v", len(messages), err, failed)
				}
			}
		}
	}
}

// TestHeaders sends additional headers, which replace those of the package, and keeps the
// query of the base URL.
func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		base    string
		headers map[string]string
		url     string
		want    map[string]string
	}{
		{"http://127.0.0.1:1/v1", nil, "http://127.0.0.1:1/v1/responses", map[string]string{"Authorization": "Bearer sk-key-0123456789", "Accept": "text/event-stream", "Content-Type": "application/json"}},
		{"http://127.0.0.1:1", map[string]string{"openai-project": "p1"}, "http://127.0.0.1:1/responses", map[string]string{"Authorization": "Bearer sk-key-0123456789", "OpenAI-Project": "p1"}},
		{"http://127.0.0.1:1/openai/v1/?api-version=1", map[string]string{"authorization": "other", "Accept": "*/*"}, "http://127.0.0.1:1/openai/v1/responses?api-version=1", map[string]string{"Authorization": "other", "Accept": "*/*"}},
	} {
		req, _ := send(t, openai.New, "m", openai.Options{APIKey: "sk-key-0123456789", BaseURL: c.base, Headers: c.headers}, hello(t))
		if req.Method != http.MethodPost || req.URL.String() != c.url {
			t.Errorf("%s %s, want %s", req.Method, req.URL, c.url)
		}
		for name, want := range c.want {
			if got := req.Header.Values(name); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}

// TestUnsendable has options with which no request can be sent, now or later.
func TestUnsendable(t *testing.T) {
	for _, opts := range []openai.Options{
		{APIKey: "sk-key\n0123456789"}, {BaseURL: "127.0.0.1:1/v1"}, {BaseURL: "ftp://127.0.0.1/v1"}, {BaseURL: "http:///v1"},
		{Headers: map[string]string{"api key": "x"}}, {Headers: map[string]string{"api-key": "x\r\nOther: y"}},
	} {
		rec := &recorder{}
		opts.HTTPClient = &http.Client{Transport: rec}
		var failed error
		for _, failed = range openai.NewChat("m", &opts).Stream(t.Context(), hello(t)) {
		}
		if e, ok := errors.AsType[*model.Error](failed); !ok || e.Kind != model.KindInvalid || len(rec.requests) > 0 || strings.Contains(e.Text, "0123456789") {
			t.Errorf("%+v: %v, %d requests", opts, failed, len(rec.requests))
		}
	}
}
