package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/schema"
)

type place struct {
	City string `json:"city"`
}

// newSet returns tools, of which two have names that the provider refuses.
func newSet(t *testing.T, more int) *toolpost.Set {
	t.Helper()
	echo := func(_ context.Context, in place) (string, error) { return in.City, nil }
	tools := toolpost.Tools{
		toolpost.New("weather", "Returns the weather of a city.", echo, nil),
		toolpost.New("weather2", "Returns the weather of a city, too.", echo, nil),
	}
	tools[0].Name, tools[1].Name = "city.weather", "city weather" // as servers name them
	for i := range more {
		tools = append(tools, toolpost.New(fmt.Sprintf("tool_%d", i), "One of many.", echo, nil))
	}
	set, err := toolpost.NewSet(context.Background(), tools)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// foreign returns a part of another provider's model.
func foreign(p model.Part) model.Part {
	p.Origin = &model.Origin{Provider: "elsewhere", API: "words", Model: "other-1"}
	p.Raw = json.RawMessage(`{"foreign":true}`)
	return p
}

// own returns a part that a model of Anthropic wrote.
func own(kind model.PartType, raw string) model.Part {
	return model.Part{Type: kind, Origin: &model.Origin{Provider: "anthropic", API: "messages", Model: "claude-other"}, Raw: json.RawMessage(raw)}
}

func assistant(parts ...model.Part) *model.Message {
	return &model.Message{Role: model.RoleAssistant, Parts: parts}
}

func user(parts ...model.Part) *model.Message {
	return &model.Message{Role: model.RoleUser, Parts: parts}
}

func result(id string, r *toolpost.Result) model.Part {
	return model.Part{Type: model.TypeResult, Result: r.Message(id)}
}

func textPart(text string) model.Part { return model.Part{Type: model.TypeText, Text: text} }

// A golden is a request whose body is in testdata.
type golden struct {
	name    string
	model   string
	opts    anthropic.Options
	request model.Request
}

func goldens(t *testing.T) []golden {
	pdf, png := []byte("%PDF"), []byte("\x89PNG")
	answer := schema.MustParse(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}},"required":["city"]}`)
	optional := make([]string, 30) // more than the provider accepts
	for i := range optional {
		optional[i] = fmt.Sprintf(`"p%d":{"type":"string"}`, i)
	}
	large := schema.MustParse(`{"type":"object","properties":{` + strings.Join(optional, ",") + `}}`)
	recursive := schema.MustParse(`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},"required":["kids"]}`)
	return []golden{
		{"plain", "claude-opus-5-5", anthropic.Options{}, model.Request{System: "You are <a> test & more.", Messages: []*model.Message{model.UserText("Hello.")}, MaxTokens: 100}},
		{"nothing", "claude-opus-5-5", anthropic.Options{CacheTTL: "none"}, model.Request{Messages: []*model.Message{user(textPart(" "))}, Effort: "none"}},
		{"tools", "claude-opus-4-8", anthropic.Options{CacheTTL: "1h"}, model.Request{System: "S", Tools: newSet(t, 1), NoCalls: true, Effort: "medium",
			Messages: []*model.Message{model.UserText("One."), assistant(foreign(textPart("Two."))), model.UserText("Three."), model.UserText("Four.")}}},
		{"search", "claude-opus-5-5", anthropic.Options{SearchAbove: 3}, model.Request{Tools: newSet(t, 2), Messages: []*model.Message{model.UserText("One.")}}},
		{"budget", "claude-haiku-4-5", anthropic.Options{MaxTokens: 8000}, model.Request{Effort: "high", Messages: []*model.Message{model.UserText("One.")}}},
		{"small budget", "claude-haiku-4-5", anthropic.Options{}, model.Request{Effort: "high", MaxTokens: 1500, Messages: []*model.Message{model.UserText("One.")}}},
		{"turn without thinking", "claude-haiku-4-5", anthropic.Options{}, model.Request{Effort: "low", Messages: []*model.Message{model.UserText("One."),
			assistant(foreign(model.Part{Type: model.TypeCall, ID: "c", Name: "gone", Arguments: json.RawMessage(`[1]`)})), user(result("c", toolpost.TextResult("")))}}},
		{"always thinks", "claude-mythos-5-1", anthropic.Options{}, model.Request{Effort: "none", Messages: []*model.Message{model.UserText("One.")}}},
		{"output", "claude-opus-5-5", anthropic.Options{}, model.Request{Output: answer, Effort: "low", Messages: []*model.Message{model.UserText("One.")}}},
		{"recursive output", "claude-opus-5-5", anthropic.Options{}, model.Request{Output: recursive, Messages: []*model.Message{model.UserText("One.")}}},
		{"output that cannot be enforced", "claude-opus-5-5", anthropic.Options{}, model.Request{Output: large, System: "S", Messages: []*model.Message{model.UserText("One.")}}},
		{"media", "claude-opus-5-5", anthropic.Options{}, model.Request{Messages: []*model.Message{user(
			model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: png}, model.Part{Type: model.TypeImage, MIMEType: "image/tiff", Data: png},
			model.Part{Type: model.TypeDocument, MIMEType: "application/pdf", Data: pdf, Name: "a.pdf"}, model.Part{Type: model.TypeDocument, MIMEType: "text/markdown", Data: []byte("# A")},
			model.Part{Type: model.TypeDocument, MIMEType: "text/plain", Data: []byte{0xff}}, model.Part{Type: model.TypeImage, MIMEType: "image/png"})}}},
		{"foreign history", "claude-opus-5-5", anthropic.Options{}, model.Request{Tools: newSet(t, 0), Messages: []*model.Message{
			user(textPart("One."), textPart("")),
			assistant(foreign(model.Part{Type: model.TypeThinking, Text: "Hm."}), foreign(model.Part{Type: model.TypeOpaque, Text: "search"}),
				foreign(model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: png}),
				foreign(model.Part{Type: model.TypeCall, ID: "a:1", Name: "city.weather", Arguments: json.RawMessage(`{"city": "Oslo"}`)}),
				foreign(model.Part{Type: model.TypeCall, ID: "b", Name: "no/such tool ü", Invalid: "unknown"})),
			user(textPart("Before."), result("b", toolpost.Failed.Resultf("no")), result("a:1", toolpost.NewResult(toolpost.Part{Type: "image", MIMEType: "image/tiff", Data: png}))),
			assistant(foreign(model.Part{Type: model.TypeCall, ID: "a:1", Name: "city weather"})),
			user(result("a:1", toolpost.TextResult("Sunny."))),
			assistant(foreign(model.Part{Type: model.TypeThinking, Text: "Only thinking."})),
			user(textPart("Two."))}}},
		{"own history", "claude-haiku-4-5", anthropic.Options{}, model.Request{Effort: "low", Messages: []*model.Message{
			model.UserText("One."),
			assistant(own(model.TypeThinking, `{"type": "thinking", "thinking": "", "signature": "s"}`), own(model.TypeText, `{"type":"text","text":""}`),
				func() model.Part {
					p := own(model.TypeCall, `{"type":"tool_use","id":"t1","name":"gone","input":{"n":1.0}}`)
					p.ID, p.Name = "t1", "gone"
					return p
				}()),
			user(result("t1", toolpost.TextResult("1"))),
			assistant(own(model.TypeThinking, `{"type":"thinking","thinking":"cut off","signature":""}`),
				func() model.Part {
					p := own(model.TypeCall, `{"type":"tool_use","id":"t1","name":"gone","input":{}}`)
					p.ID, p.Name = "t1", "gone"
					return p
				}()),
			user(result("t1", toolpost.TextResult("2")))}}},
		{"calls of the provider", "claude-opus-5-5", anthropic.Options{}, model.Request{Messages: []*model.Message{
			model.UserText("One."),
			assistant(own(model.TypeOpaque, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`),
				own(model.TypeOpaque, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`), textPart("Two."),
				own(model.TypeOpaque, `{"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{}}`)),
			model.UserText("Three."),
			assistant(own(model.TypeOpaque, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":[]}`)),
			model.UserText("Four.")}}},
		{"paused", "claude-opus-5-5", anthropic.Options{}, model.Request{Messages: []*model.Message{
			model.UserText("One."), assistant(own(model.TypeOpaque, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`))}}},
	}
}

// TestRequests compares the bodies of requests and their losses with testdata, which the
// tests of the module sdk compare with the types of Anthropic's SDK.
func TestRequests(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			s := modeltest.Serve(t, modeltest.Anthropic(), modeltest.Turn{Parts: []model.Part{textPart("Done.")}})
			var losses []model.Loss
			for delta, err := range newModel(s.URL, g.model, g.opts).Stream(context.Background(), &g.request) {
				if err != nil {
					t.Fatal(err)
				}
				if delta.Response != nil {
					losses = delta.Response.Losses
				}
			}
			body := s.Requests()[0]
			got := new(bytes.Buffer)
			if err := json.Indent(got, body, "", "  "); err != nil {
				t.Fatal(err)
			}
			for _, l := range losses {
				fmt.Fprintf(got, "\n%v", l)
			}
			compareFile(t, filepath.Join("testdata", "request", strings.ReplaceAll(g.name, " ", "-")+".txt"), got.String()+"\n")
		})
	}
}

// compareFile compares a text with a file; TOOLPOST_UPDATE=1 rewrites the file.
func compareFile(t *testing.T, name, got string) {
	t.Helper()
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with TOOLPOST_UPDATE=1 and read the diff\ngot\n%s\nwant\n%s", name, got, want)
	}
}
