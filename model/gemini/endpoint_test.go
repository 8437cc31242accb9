package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

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

// TestEndpoints sends a request for each kind of model, address and key, and compares
// the address and the key with those of Google's SDK.
func TestEndpoints(t *testing.T) {
	const google, vertex = "https://generativelanguage.googleapis.com/v1beta/", "aiplatform.googleapis.com/v1beta1/"
	const stream = ":streamGenerateContent?alt=sse"
	for _, test := range []struct {
		model    string
		options  gemini.Options
		env      string // "NAME=value NAME=value"
		url, key string
		sdk      string // the address of the SDK's request, if it is another
	}{
		{model: "gemini-3-pro", options: gemini.Options{APIKey: "k1"}, url: google + "models/gemini-3-pro" + stream, key: "k1"},
		{model: "models/gemini-3-pro", env: "GEMINI_API_KEY=k2", url: google + "models/gemini-3-pro" + stream, key: "k2"},
		{model: "tunedModels/a-1", env: "GEMINI_API_KEY=k2 GOOGLE_API_KEY=k1", url: google + "tunedModels/a-1" + stream, key: "k1"},
		{model: "a/b c:d", options: gemini.Options{APIKey: "k1"}, env: "GOOGLE_API_KEY=k2", url: google + "models/a/b%20c:d" + stream, key: "k1"},
		{model: "m", options: gemini.Options{APIKey: "k1", BaseURL: "http://a.test"}, url: "http://a.test/v1beta/models/m" + stream, key: "k1"},
		{model: "m", options: gemini.Options{APIKey: "k1", BaseURL: "https://a.test:8443/relay/?v=1"}, url: "https://a.test:8443/relay/v1beta/models/m:streamGenerateContent?v=1&alt=sse", key: "k1",
			sdk: "https://a.test:8443/relay/v1beta/models/m" + stream},
		{model: "m", env: "GEMINI_API_KEY=k2 GOOGLE_GEMINI_BASE_URL=http://a.test/x", url: "http://a.test/x/v1beta/models/m" + stream, key: "k2"},
		{model: "m", options: gemini.Options{APIKey: "k1", BaseURL: "http://b.test"}, env: "GOOGLE_GEMINI_BASE_URL=http://a.test", url: "http://b.test/v1beta/models/m" + stream, key: "k1"},

		{model: "m", options: gemini.Options{Project: "p", Location: "europe-west4"}, env: "GEMINI_API_KEY=k2", url: "https://europe-west4-" + vertex + "projects/p/locations/europe-west4/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{Project: "example.com:p", Location: "global"}, url: "https://" + vertex + "projects/example.com:p/locations/global/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{Project: "p"}, url: "https://" + vertex + "projects/p/locations/global/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{Project: "p", Location: "eu"}, url: "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu/publishers/google/models/m" + stream},
		{model: "publishers/meta/models/l", options: gemini.Options{Project: "p", Location: "us"}, url: "https://aiplatform.us.rep.googleapis.com/v1beta1/projects/p/locations/us/publishers/meta/models/l" + stream},
		{model: "meta/l", options: gemini.Options{Project: "p", Location: "global"}, url: "https://" + vertex + "projects/p/locations/global/publishers/meta/models/l" + stream},
		{model: "models/7", options: gemini.Options{Project: "p", Location: "global"}, url: "https://" + vertex + "projects/p/locations/global/models/7" + stream},
		{model: "projects/q/locations/us/endpoints/7", options: gemini.Options{Project: "p", Location: "us"}, url: "https://aiplatform.us.rep.googleapis.com/v1beta1/projects/q/locations/us/endpoints/7" + stream},
		{model: "m", options: gemini.Options{Project: "p", Location: "l1", BaseURL: "http://a.test/x"}, url: "http://a.test/x/v1beta1/projects/p/locations/l1/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{Project: "p", Location: "l1"}, env: "GOOGLE_VERTEX_BASE_URL=http://a.test", url: "http://a.test/v1beta1/projects/p/locations/l1/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{Project: "p", BaseURL: "http://a.test"}, url: "http://a.test/v1beta1/projects/p/locations/global/publishers/google/models/m" + stream,
			sdk: "http://a.test/v1beta1/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{Project: "p", Location: "l1", APIKey: "k1"}, url: "https://l1-" + vertex + "projects/p/locations/l1/publishers/google/models/m" + stream, key: "k1",
			sdk: "https://" + vertex + "projects/p/locations/l1/publishers/google/models/m" + stream},
		{model: "m", options: gemini.Options{APIKey: "k1"}, env: "GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=us GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_GENAI_USE_ENTERPRISE=true", url: google + "models/m" + stream, key: "k1",
			sdk: "https://" + vertex + "publishers/google/models/m" + stream},
	} {
		t.Run(test.model+" "+test.url, func(t *testing.T) {
			quiet(t)
			for assignment := range strings.FieldsSeq(test.env) {
				name, value, _ := strings.Cut(assignment, "=")
				t.Setenv(name, value)
			}
			w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
			test.options.HTTPClient = &http.Client{Transport: w}
			m, err := gemini.New(test.model, &test.options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ask(t, m, hello()); err != nil {
				t.Fatal(err)
			}
			sendBySDK(t, w, test.model, &test.options)
			if test.sdk == "" {
				test.sdk = test.url
			}
			for i, url := range []string{test.url, test.sdk} {
				if got, key := w.requests[i].URL.String(), w.requests[i].Header.Get("X-Goog-Api-Key"); got != url || key != test.key {
					t.Errorf("request %d: %s with the key %q, want %s with %q", i, got, key, url, test.key)
				}
			}
			if got := w.requests[0].Header; got.Get("Content-Type") != "application/json" || !strings.HasPrefix(got.Get("User-Agent"), "toolpost") || got.Get("X-Goog-Api-Client") != "" || len(got) > 3 {
				t.Errorf("the header is %v", got)
			}
		})
	}
}

// sendBySDK sends a request by Google's SDK.
func sendBySDK(t *testing.T, w *wire, name string, o *gemini.Options) {
	t.Helper()
	config := &genai.ClientConfig{APIKey: o.APIKey, Project: o.Project, Location: o.Location,
		HTTPClient: &http.Client{Transport: w}, HTTPOptions: genai.HTTPOptions{BaseURL: o.BaseURL}}
	if o.Project != "" {
		config.Backend = genai.BackendVertexAI
	}
	client, err := genai.NewClient(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range client.Models.GenerateContentStream(t.Context(), name, genai.Text("Hello."), nil) {
		if err != nil {
			t.Fatal(err)
		}
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
		if _, err := gemini.New(test.model, &test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %+v: %v", test.model, test.options, err)
		}
	}
}
