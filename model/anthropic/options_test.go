package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
)

// isolate hides the credentials of the person who runs the test.
func isolate(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "ANTHROPIC_") {
			t.Setenv(name, "")
		}
	}
}

// send sends a request and returns the error, if any.
func send(m model.Model) error {
	var last error
	for _, err := range m.Stream(context.Background(), &model.Request{Messages: []*model.Message{model.UserText("Hello.")}}) {
		last = err
	}
	return last
}

// TestCredentials sends the key of the options, or else that of the environment,
// and nothing without a key.
func TestCredentials(t *testing.T) {
	isolate(t)
	c := &canned{body: strings.NewReader("")}
	opts := anthropic.Options{BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: c}}
	var failed *model.Error
	if err := send(anthropic.New("claude", &opts)); !errors.As(err, &failed) || failed.Kind != model.KindAuth || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	if c.seen != nil {
		t.Fatal("a request was sent without a key")
	}
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	if err := send(anthropic.New("claude", &opts)); err == nil || c.seen != nil {
		t.Errorf("another server was sent the key of the environment: %v", err)
	}
	_ = send(anthropic.New("claude", &anthropic.Options{HTTPClient: opts.HTTPClient}))
	if got := c.seen.Header.Get("X-Api-Key"); got != "from-the-environment" {
		t.Errorf("the key is %q", got)
	}
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "a-token-of-a-test")
	opts.APIKey = modeltest.Key
	_ = send(anthropic.New("claude", &opts))
	if got := c.seen.Header; got.Get("X-Api-Key") != modeltest.Key || got.Get("Authorization") != "" {
		t.Errorf("the credentials are %v", got)
	}
}

// TestEnvironment has the address and the credentials of the environment.
func TestEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		variables      map[string]string
		opts           anthropic.Options
		url, key, auth string
	}{
		"key":               {map[string]string{"ANTHROPIC_API_KEY": "env-key"}, anthropic.Options{}, "https://api.anthropic.com/v1/messages", "env-key", ""},
		"token":             {map[string]string{"ANTHROPIC_AUTH_TOKEN": "env-token"}, anthropic.Options{}, "https://api.anthropic.com/v1/messages", "", "Bearer env-token"},
		"key and token":     {map[string]string{"ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_AUTH_TOKEN": "env-token"}, anthropic.Options{}, "https://api.anthropic.com/v1/messages", "env-key", ""},
		"address":           {map[string]string{"ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_BASE_URL": "http://h/a/"}, anthropic.Options{}, "http://h/a/v1/messages", "env-key", ""},
		"address, own key":  {map[string]string{"ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_BASE_URL": "http://h"}, anthropic.Options{APIKey: "own"}, "http://h/v1/messages", "own", ""},
		"own address":       {map[string]string{"ANTHROPIC_BASE_URL": "http://h"}, anthropic.Options{APIKey: "own", BaseURL: "http://i?v=1"}, "http://i/v1/messages?v=1", "own", ""},
		"own header":        {map[string]string{"ANTHROPIC_API_KEY": "env-key"}, anthropic.Options{BaseURL: "http://i", Headers: map[string]string{"authorization": "Basic x"}}, "http://i/v1/messages", "", "Basic x"},
		"header before key": {nil, anthropic.Options{APIKey: "own", Headers: map[string]string{"x-api-key": "other", "anthropic-version": "2027-01-01"}}, "https://api.anthropic.com/v1/messages", "other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			for name, value := range c.variables {
				t.Setenv(name, value)
			}
			transport := &canned{body: strings.NewReader("")}
			c.opts.HTTPClient = &http.Client{Transport: transport}
			_ = send(anthropic.New("claude", &c.opts))
			if transport.seen == nil {
				t.Fatal("nothing was sent")
			}
			h := transport.seen.Header
			if got := transport.seen.URL.String(); got != c.url || h.Get("X-Api-Key") != c.key || h.Get("Authorization") != c.auth {
				t.Errorf("sent to %s with %v", got, h)
			}
			if want := c.opts.Headers["anthropic-version"]; want != "" && h.Get("Anthropic-Version") != want {
				t.Errorf("the version is %q", h.Get("Anthropic-Version"))
			}
		})
	}
}

// TestUnsendable has options with which no request can be sent. No second try helps.
func TestUnsendable(t *testing.T) {
	for _, opts := range []anthropic.Options{
		{APIKey: "a-key-of-a-test\n"}, {APIKey: "a-key-of-a-test", BaseURL: "localhost:8080/a-key-of-a-test"},
		{APIKey: "a-key-of-a-test", Headers: map[string]string{"a header": "b"}},
	} {
		c := &canned{body: strings.NewReader("")}
		opts.HTTPClient = &http.Client{Transport: c}
		var failed *model.Error
		if err := send(anthropic.New("claude", &opts)); !errors.As(err, &failed) || failed.Kind != model.KindInvalid || strings.Contains(err.Error(), "a-key-of") || c.seen != nil {
			t.Errorf("the error is %v", err)
		}
	}
}

// TestOptions has the options that the goldens do not have.
func TestOptions(t *testing.T) {
	c := &canned{status: http.StatusInternalServerError, body: strings.NewReader("the header a-secret-value-42 is wrong")}
	m := newModel("http://127.0.0.1:1/base", "glm-9", anthropic.Options{
		Provider: "relay", HTTPClient: &http.Client{Transport: c}, Headers: map[string]string{"X-Relay-Token": "a-secret-value-42", "anthropic-beta": "b"}})
	err := send(m)
	if err == nil || strings.Contains(err.Error(), "a-secret-value-42") {
		t.Errorf("the error is %v", err)
	}
	if want := (model.Origin{Provider: "relay", API: "messages", Model: "glm-9"}); m.Origin() != want {
		t.Errorf("the origin is %v", m.Origin())
	}
	if c.seen.URL.Path != "/base/v1/messages" || c.seen.Header.Get("anthropic-beta") != "b" || c.seen.Header.Get("X-Relay-Token") == "" {
		t.Errorf("the request is %v %v", c.seen.URL, c.seen.Header)
	}
}

// TestRefusedRequests are not sent.
func TestRefusedRequests(t *testing.T) {
	call := model.Part{Type: model.TypeCall, ID: "c", Name: "weather"}
	for name, messages := range map[string][]*model.Message{
		"empty":             nil,
		"assistant first":   {assistant(textPart("Hello.")), model.UserText("Hello.")},
		"assistant last":    {model.UserText("Hello."), assistant(textPart("Hello."))},
		"call without one":  {model.UserText("Hello."), assistant(call), model.UserText("Go on.")},
		"result without":    {model.UserText("Hello."), user(result("c", toolpost.TextResult("")))},
		"foreign and alone": {model.UserText("Hello."), assistant(foreign(model.Part{Type: model.TypeOpaque}))},
	} {
		t.Run(name, func(t *testing.T) {
			c := &canned{body: strings.NewReader("")}
			m := newModel("http://127.0.0.1:1", "claude", anthropic.Options{HTTPClient: &http.Client{Transport: c}})
			r := &model.Request{Messages: messages}
			var failed *model.Error
			if m.Check(r) == nil {
				t.Error("Check accepts the request")
			}
			for _, err := range m.Stream(context.Background(), r) {
				if !errors.As(err, &failed) || failed.Kind != model.KindInvalid {
					t.Errorf("the error is %v", err)
				}
			}
			if c.seen != nil || failed == nil {
				t.Error("the request was sent")
			}
		})
	}
}

// TestRedirect does not follow a redirect, which would send the key to another
// server.
func TestRedirect(t *testing.T) {
	wire := modeltest.Anthropic()
	other := modeltest.Serve(t, wire)
	wire.Fail = func(w http.ResponseWriter, _ *modeltest.Failure, _ string) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	s := modeltest.Serve(t, wire, modeltest.Turn{Fail: &modeltest.Failure{}})
	var failed *model.Error
	if err := send(newModel(s.URL, "claude", anthropic.Options{})); !errors.As(err, &failed) || failed.Status != http.StatusTemporaryRedirect || !strings.Contains(failed.Text, other.URL) {
		t.Errorf("the error is %v", err)
	}
	if n := len(other.Requests()); n > 0 {
		t.Errorf("%d requests reached the other server", n)
	}
}

// TestRetryAfter has the forms of how long to wait.
func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "1.5", 1500 * time.Millisecond}, {"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "-3", 0}, {"Retry-After", "soon", 0}, {"Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", 0},
		{"Retry-After", "1e300", 20 * 24 * time.Hour}, {"Retry-After", "NaN", 0},
	} {
		m := newModel("http://127.0.0.1:1", "claude", anthropic.Options{HTTPClient: &http.Client{Transport: &canned{
			status: http.StatusTooManyRequests, header: http.Header{c.name: {c.value}}, body: strings.NewReader("")}}})
		var failed *model.Error
		if err := send(m); !errors.As(err, &failed) || failed.RetryAfter != c.want {
			t.Errorf("%s: %s: the error is %#v", c.name, c.value, failed)
		}
	}
}

// TestRequestID: an error has the id by which the provider finds the request.
func TestRequestID(t *testing.T) {
	m := newModel("http://127.0.0.1:1", "claude", anthropic.Options{HTTPClient: &http.Client{Transport: &canned{
		status: http.StatusInternalServerError, header: http.Header{"Request-Id": {"req_1"}}, body: strings.NewReader(`{"error":{"message":"no"}}`)}}})
	var failed *model.Error
	if err := send(m); !errors.As(err, &failed) || failed.Text != "no (request req_1)" {
		t.Errorf("the error is %v", err)
	}
}
