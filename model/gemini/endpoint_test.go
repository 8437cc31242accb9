package gemini_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
)

// quiet removes what the environment says about Google's services.
func quiet(t *testing.T) {
	for _, name := range []string{
		"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS",
		"GOOGLE_CLOUD_QUOTA_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE",
	} {
		t.Setenv(name, "")
	}
}

// TestEndpoints sends a request for each kind of model, address and key. The tests of the
// module sdk send the same requests by Google's SDK.
func TestEndpoints(t *testing.T) {
	text, err := os.ReadFile("testdata/endpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests []struct {
		Model    string
		Options  gemini.Options
		Env      string // "NAME=value NAME=value"
		URL, Key string
	}
	if err := json.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.Model+" "+test.URL, func(t *testing.T) {
			quiet(t)
			for assignment := range strings.FieldsSeq(test.Env) {
				name, value, _ := strings.Cut(assignment, "=")
				t.Setenv(name, value)
			}
			w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
			test.Options.HTTPClient = &http.Client{Transport: w}
			m := gemini.New(test.Model, &test.Options)
			if _, err := ask(t, m, hello()); err != nil {
				t.Fatal(err)
			}
			if got, key := w.requests[0].URL.String(), w.requests[0].Header.Get("X-Goog-Api-Key"); got != test.URL || key != test.Key {
				t.Errorf("%s with the key %q, want %s with %q", got, key, test.URL, test.Key)
			}
			if got := w.requests[0].Header; got.Get("Content-Type") != "application/json" || !strings.HasPrefix(got.Get("User-Agent"), "toolpost") || got.Get("X-Goog-Api-Client") != "" || len(got) > 3 {
				t.Errorf("the header is %v", got)
			}
		})
	}
}

// TestNoEndpoint refuses what cannot be a part of an address, and half of a pair.
func TestNoEndpoint(t *testing.T) {
	quiet(t)
	for _, test := range []struct {
		model   string
		options gemini.Options
		want    string
	}{
		{"", gemini.Options{APIKey: "k"}, "name of a model"},
		{"m?x", gemini.Options{APIKey: "k"}, "name of a model"},
		{"m&x", gemini.Options{APIKey: "k"}, "name of a model"},
		{"models/../x", gemini.Options{Project: "p"}, "name of a model"},
		{"a%2Fb", gemini.Options{APIKey: "k"}, "name of a model"},
		{"m", gemini.Options{}, "GEMINI_API_KEY"},
		{"m", gemini.Options{BaseURL: "http://a.test"}, "set Options.APIKey"},
		{"m", gemini.Options{Location: "us"}, "needs the project"},
		{"m", gemini.Options{Project: "a/b"}, "Options.Project"},
		{"m", gemini.Options{Project: "a..b"}, "Options.Project"},
		{"m", gemini.Options{Project: "p", Location: "evil.test/"}, "Options.Location"},
		{"m", gemini.Options{Project: "p", Location: "evil.test#"}, "Options.Location"},
	} {
		m := gemini.New(test.model, &test.options)
		if err := m.Check(hello()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %+v: %v", test.model, test.options, err)
		}
		_, err := ask(t, m, hello())
		if failed, _ := errors.AsType[*model.Error](err); failed == nil || failed.Kind != model.KindAuth || failed.Origin != m.Origin() {
			t.Errorf("%q, %+v: the stream ends with %v", test.model, test.options, err)
		}
	}
}
