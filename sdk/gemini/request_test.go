package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/sdk/internal/offertest"
	"github.com/toolpost/toolpost/usage"
)

// checkTypes returns an error unless the SDK's types have a field for every member of the
// body of a request. Members of parts that the types do not have are those of tests.
func checkTypes(data []byte) error {
	var known struct {
		Contents []*genai.Content `json:"contents"`
	}
	if err := json.Unmarshal(data, &known); err != nil {
		return fmt.Errorf("the SDK's types: %w", err)
	}
	var request struct {
		Contents          json.RawMessage         `json:"contents"`
		SystemInstruction *genai.Content          `json:"systemInstruction"`
		Tools             []*genai.Tool           `json:"tools"`
		ToolConfig        *genai.ToolConfig       `json:"toolConfig"`
		GenerationConfig  *genai.GenerationConfig `json:"generationConfig"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return fmt.Errorf("the SDK's types: %w", err)
	}
	return nil
}

// TestRequests checks every request that the tests of package model/gemini record.
func TestRequests(t *testing.T) {
	files, err := filepath.Glob("../../model/gemini/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte("{")) {
			continue
		}
		var request json.RawMessage // losses follow it
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&request); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := checkTypes(request); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		checked++
	}
	if checked == 0 {
		t.Error("there are no requests")
	}
}

// TestScenarios checks the requests of whole conversations.
func TestScenarios(t *testing.T) {
	wire := modeltest.Gemini()
	check := wire.Check
	wire.Check = func(data []byte) error {
		if err := check(data); err != nil {
			return err
		}
		return checkTypes(data)
	}
	for _, name := range []string{"gemini-3-pro-preview", "gemini-2.5-flash"} {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, modeltest.Provider{
				Name: "gemini",
				Wire: wire,
				New: func(url string) model.Model {
					m := gemini.New(name, &gemini.Options{APIKey: modeltest.Key, BaseURL: url})
					return m
				},
				Unknown: json.RawMessage(`{"futureData": {"a": [1, 2.50]}, "thoughtSignature": "c2ln"}`),
				Skip:    map[string]string{"length in arguments": "Gemini sends the arguments of a call in one piece"},
				Usage: func(t usage.Tokens) usage.Tokens {
					t.CacheWrite, t.LongCacheWrite = 0, 0 // the cache is filled without a report
					return t
				},
			})
		})
	}
}

// A wire is a transport without a network, which keeps the address and the key of a request.
type wire struct{ url, key string }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.url, w.key = r.URL.String(), r.Header.Get("X-Goog-Api-Key")
	body := io.NopCloser(strings.NewReader("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Yes.\"}]},\"finishReason\":\"STOP\"}]}\n\n"))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
}

// TestEndpoints checks that the SDK sends its requests to the addresses, and with the keys,
// to which package model/gemini sends them, or to those which the file names beside them.
func TestEndpoints(t *testing.T) {
	text, err := os.ReadFile("../../model/gemini/testdata/endpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var tests []struct {
		Model         string
		Options       gemini.Options
		Env           string // "NAME=value NAME=value"
		URL, Key, SDK string
	}
	if err := json.Unmarshal(text, &tests); err != nil || len(tests) == 0 {
		t.Fatalf("%d tests, %v", len(tests), err)
	}
	for _, test := range tests {
		t.Run(test.Model+" "+test.URL, func(t *testing.T) {
			for _, name := range []string{
				"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS",
				"GOOGLE_CLOUD_QUOTA_PROJECT", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_REGION", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE",
			} {
				t.Setenv(name, "")
			}
			for assignment := range strings.FieldsSeq(test.Env) {
				name, value, _ := strings.Cut(assignment, "=")
				t.Setenv(name, value)
			}
			w := new(wire)
			config := &genai.ClientConfig{APIKey: test.Options.APIKey, Project: test.Options.Project, Location: test.Options.Location,
				HTTPClient: &http.Client{Transport: w}, HTTPOptions: genai.HTTPOptions{BaseURL: test.Options.BaseURL}}
			if test.Options.Project != "" {
				config.Backend = genai.BackendVertexAI
			}
			client, err := genai.NewClient(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range client.Models.GenerateContentStream(t.Context(), test.Model, genai.Text("Hello."), nil) {
				if err != nil {
					t.Fatal(err)
				}
			}
			want := test.URL
			if test.SDK != "" {
				want = test.SDK
			}
			if w.url != want || w.key != test.Key {
				t.Errorf("%s with the key %q, want %s with %q", w.url, w.key, want, test.Key)
			}
		})
	}
}

// TestSchema checks that the SDK's type has a field for all that the dialect writes, and
// that it writes the same again.
func TestSchema(t *testing.T) {
	var tools []*toolpost.Tool
	for _, r := range accept.InputSchemas() {
		input, err := schema.Parse(r.Schema)
		if err != nil && strings.HasPrefix(r.Name, "hostile_") {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		tools = append(tools, &toolpost.Tool{Definition: toolpost.Definition{Name: r.Name, Input: input}})
	}
	adapted := offertest.Find(t, "gemini-schema").Adapt(tools, nil)
	if len(adapted.Withheld) > len(tools)/20 {
		t.Errorf("%d of %d are withheld", len(adapted.Withheld), len(tools))
	}
	for _, tool := range adapted.Tools {
		if tool.Input == nil {
			continue
		}
		var s genai.Schema
		d := json.NewDecoder(bytes.NewReader(tool.Input.Raw()))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			t.Errorf("%s: %v\n\t%.600s", tool.Original.Name, err, tool.Input.Raw())
			continue
		}
		again := offertest.Marshal(t, s)
		if got, want := normalised(t, again), normalised(t, tool.Input.Raw()); got != want {
			t.Errorf("%s: read as %.600s\n\tof %.600s", tool.Original.Name, got, want)
		}
	}
}

// normalised returns a schema as the SDK's type has it: numbers are float64, a default of
// null and an empty list of required members are left out, and members are sorted.
func normalised(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	normalise(v)
	return string(offertest.Marshal(t, v))
}

func normalise(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			normalise(item)
		}
	case map[string]any:
		for _, member := range v {
			normalise(member)
		}
		if d, ok := v["default"]; ok && d == nil {
			delete(v, "default")
		}
		if required, ok := v["required"].([]any); ok && len(required) == 0 {
			delete(v, "required")
		}
	}
}
