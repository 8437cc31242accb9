package gemini_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// foreign returns a part of another provider.
func foreign(p model.Part) model.Part {
	p.Origin, p.Raw = &model.Origin{Provider: "elsewhere", API: "words", Model: "other-1"}, json.RawMessage(`{"other":true}`)
	return p
}

// TestBodies compares the bodies of requests with golden files, which the tests of the
// module sdk check with the types of Google's SDK.
func TestBodies(t *testing.T) {
	output := schema.MustParse(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer","const":7}},"required":["b"]}`)
	media := toolpost.NewResult(toolpost.Part{Type: "text", Text: "The map <1>:"},
		toolpost.Part{Type: "image", MIMEType: "image/png", Data: []byte("png")},
		toolpost.Part{Type: "image", MIMEType: "image/gif", Data: []byte("gif")})
	history := func() []*model.Message {
		return []*model.Message{
			user(model.Part{Type: model.TypeText, Text: "Look & see."},
				model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: []byte("png")},
				model.Part{Type: model.TypeDocument, MIMEType: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"},
				model.Part{Type: model.TypeDocument, MIMEType: "text/csv", Data: []byte("a,b\n"), Name: "a.csv"},
				model.Part{Type: model.TypeImage, MIMEType: "image/gif", Data: []byte("gif")}),
			assistant(foreign(model.Part{Type: model.TypeThinking, Text: "Secret."})),
			model.UserText("Well?"),
			assistant(foreign(model.Part{Type: model.TypeOpaque, Text: "search"}),
				foreign(model.Part{Type: model.TypeText, Text: "I look."}),
				foreign(model.Part{Type: model.TypeCall, ID: "x1", Name: "mail.send", Arguments: json.RawMessage(`{"city":"Oslo"}`)}),
				foreign(model.Part{Type: model.TypeCall, ID: "x2", Name: "gone tool", Arguments: json.RawMessage(`{"city":`), Invalid: "cut"}),
				foreign(model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: []byte("png")})),
			user(model.Part{Type: model.TypeText, Text: "Then?"}, model.Part{Type: model.TypeResult, Result: toolpost.Failed.Resultf("cut").Message("x2")},
				model.Part{Type: model.TypeResult, Result: media.Message("x1")}),
		}
	}
	for _, test := range []struct {
		name, model string
		dialect     string
		request     model.Request
	}{
		{name: "history-3", model: "gemini-3-pro-preview", request: model.Request{Messages: history(), Tools: weatherSet(t)}},
		{name: "history-2.5", model: "gemini-2.5-flash", request: model.Request{Messages: history(), Tools: weatherSet(t)}},
		{name: "output-3", model: "gemini-3-flash-preview", request: model.Request{System: "Be brief.", Messages: hello().Messages, Tools: weatherSet(t), Output: output, MaxTokens: 100, Effort: "low"}},
		{name: "output-2.5", model: "gemini-2.5-pro", request: model.Request{System: "Be brief.", Messages: hello().Messages, Tools: weatherSet(t), Output: output, Effort: "none"}},
		{name: "output-2.5-no-calls", model: "gemini-2.5-flash", request: model.Request{Messages: hello().Messages, Tools: weatherSet(t), NoCalls: true, Output: output, Effort: "medium"}},
		{name: "output-2.0-schema", model: "gemini-2.0-flash", dialect: "gemini-schema", request: model.Request{Messages: hello().Messages, Output: output, Effort: "high"}},
		{name: "no-calls", model: "gemini-flash-latest", request: model.Request{Messages: hello().Messages, Tools: weatherSet(t), NoCalls: true, Effort: "none"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
			opts := w.options()
			if test.dialect != "" {
				d, err := dialect.Find(test.dialect)
				if err != nil {
					t.Fatal(err)
				}
				opts.Dialect = d
			}
			m := gemini.New(test.model, opts)
			if err := m.Check(&test.request); err != nil {
				t.Fatal(err)
			}
			got, err := ask(t, m, &test.request)
			if err != nil {
				t.Fatal(err)
			}
			if err := accepted().Check([]byte(w.bodies[0])); err != nil {
				t.Error(err)
			}
			var text bytes.Buffer
			if err := json.Indent(&text, []byte(w.bodies[0]), "", "  "); err != nil {
				t.Fatal(err)
			}
			for _, l := range got.Losses {
				text.WriteString("\n" + l.String())
			}
			golden(t, test.name+".txt", text.String()+"\n")
		})
	}
}

// TestEffort sets the thinking of each generation.
func TestEffort(t *testing.T) {
	for _, test := range []struct{ model, effort, want string }{
		{"gemini-3-pro-preview", "", `{"includeThoughts":true}`},
		{"gemini-3-pro-preview", "none", `{"thinkingLevel":"LOW"}`},
		{"gemini-3-pro-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", "medium", `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"models/gemini-3-flash", "none", `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-2.5-flash", "none", `{"thinkingBudget":0}`},
		{"gemini-2.5-pro", "none", `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", "high", `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.0-flash", "", ``}, {"gemini-2.0-flash", "high", ``},
		{"gemini-2.5-flash-image", "high", ``}, {"gemma-3-27b-it", "low", ``},
	} {
		w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
		r := hello()
		r.Effort = test.effort
		if _, err := ask(t, w.open(t, test.model), r); err != nil {
			t.Fatal(err)
		}
		var body struct {
			GenerationConfig struct {
				ThinkingConfig json.RawMessage `json:"thinkingConfig"`
			} `json:"generationConfig"`
		}
		if err := json.Unmarshal([]byte(w.bodies[0]), &body); err != nil {
			t.Fatal(err)
		}
		if got := string(body.GenerationConfig.ThinkingConfig); got != test.want {
			t.Errorf("%s, %q: %s, want %s", test.model, test.effort, got, test.want)
		}
	}
	r := hello()
	r.Effort = "extreme"
	if err := streams("").open(t, "gemini-3-pro-preview").Check(r); err == nil || !strings.Contains(err.Error(), "write none, low") {
		t.Errorf("the error is %v", err)
	}
}

// TestOutputDecoded: the text is in the shape of the request's schema; the raw
// form is in that of the schema for the model.
func TestOutputDecoded(t *testing.T) {
	d, err := dialect.Find("gemini-schema")
	if err != nil {
		t.Fatal(err)
	}
	const seven = `{"type":"object","properties":{"a":{"type":"integer","const":7}},"required":["a"]}`
	for _, test := range []struct {
		schema, written, want string
		dialect               *dialect.Dialect
	}{
		{seven, `{"a": "7"}`, `{"a":7}`, d},
		{seven, `{"a": "7`, `{"a": "7`, d},
		{seven, `{"a": 7}`, `{"a": 7}`, nil},
		{`{"type":"array","items":{"type":"string"}}`, `["a","b"]`, `["a","b"]`, nil},
	} {
		quoted, err := json.Marshal(test.written)
		if err != nil {
			t.Fatal(err)
		}
		w := streams(data(`{"content":{"parts":[{"text":`+string(quoted)+`}]}}`, `{"content":{"parts":[{"text":"","thoughtSignature":"eA=="}]},"finishReason":"STOP"}`))
		opts := w.options()
		opts.Dialect = test.dialect
		m := gemini.New("gemini-3-pro-preview", opts)
		r := hello()
		r.Output = schema.MustParse(test.schema)
		got, err := ask(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Message.Text(); text != test.want || !strings.Contains(w.bodies[0], "application/json") || len(got.Losses) > 0 {
			t.Errorf("the text is %s, want %s, losses %v\n%s", text, test.want, got.Losses, w.bodies[0])
		}
		if raw := string(got.Message.Parts[0].Raw); raw != `{"text":`+string(quoted)+`}` {
			t.Errorf("the raw form is %s", raw)
		}
		if err := gemini.Check([]byte(w.bodies[0])); err != nil {
			t.Error(err)
		}
	}
}
