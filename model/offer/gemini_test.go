package offer_test

import (
	"context"
	"encoding/json"
	"testing"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/offer"
)

const geminiCalls = `{"candidates": [{"content": {"role": "model", "parts": [
	{"functionCall": {"id": "c1", "name": "book", "args": {"train": "IC 1", "date": "2026-12-01", "class": 2}}},
	{"functionCall": {"name": "fail"}},
	{"functionCall": {"id": "c3", "name": "draw", "args": {}}},
	{"functionCall": {"id": "c4", "name": "fly", "args": {}}}]}}]}`

const geminiDone = `{"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}]}`

func TestGemini(t *testing.T) {
	for id, opts := range map[string]*offer.Options{
		"gemini":        nil,
		"gemini-schema": {Dialect: find(t, "gemini-schema")},
	} {
		t.Run(id, func(t *testing.T) {
			ctx := context.Background()
			var booked json.RawMessage
			o, err := gemini.Tools(ctx, railway(&booked), opts)
			if err != nil {
				t.Fatal(err)
			}
			p := newProvider(t, geminiCalls, geminiDone)
			talkGemini(t, p, o)

			equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01", "class": 2}`)
			equal(t, "number of tools", p.at(t, 0, "tools"), `[`+string(p.at(t, 0, "tools", 0))+`]`)
			book := p.at(t, 0, "tools", 0, "functionDeclarations", 0)
			equal(t, "name", within(t, book, "name"), `"book"`)
			equal(t, "description", within(t, book, "description"), `"Books a seat."`)
			door, other, object := "parametersJsonSchema", "parameters", `"object"`
			if id == "gemini-schema" {
				door, other, object = other, door, `"OBJECT"`
			}
			parameters := within(t, book, door)
			if within(t, book, other) != nil {
				t.Errorf("both doors: %s", book)
			}
			equal(t, "type", within(t, parameters, "type"), object)
			equal(t, "required", within(t, parameters, "required"), `["train", "date"]`)
			// The SDK sorts properties, so their order is told beside them.
			equal(t, "order", within(t, parameters, "propertyOrdering"), `["train", "date", "class"]`)
			if fail := p.at(t, 0, "tools", 0, "functionDeclarations", 1); id == "gemini-schema" && within(t, fail, "parameters") != nil {
				t.Errorf("an OBJECT without properties: %s", fail)
			}

			equal(t, "answers", p.at(t, 1, "contents", 2, "parts"), `[
				{"functionResponse": {"id": "c1", "name": "book", "response": {"output": "IC 1 on 2026-12-01, class 2"}}},
				{"functionResponse": {"name": "fail", "response": {"error": "Error executing tool: the line is closed"}}},
				{"functionResponse": {"id": "c3", "name": "draw",
					"response": {"output": "The plan:\n[image/svg+xml image of 6 bytes, which cannot be shown to you]\nplan plan:2"},
					"parts": [{"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
						{"inlineData": {"mimeType": "application/pdf", "data": "cGRm"}}]}},
				{"functionResponse": {"id": "c4", "name": "fly",
					"response": {"error": "Error executing tool: There is no tool \"fly\". Call one of the tools you were given."}}}]`)
		})
	}
}

// talkGemini asks twice, with the answers to the calls of the first reply.
func talkGemini(t *testing.T, p *provider, o *offer.Offer[*genai.Tool]) {
	t.Helper()
	ctx := context.Background()
	client, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: p.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	contents := genai.Text("Book it.")
	config := &genai.GenerateContentConfig{Tools: o.Tools}
	for range 2 {
		resp, err := client.Models.GenerateContent(ctx, "gemini-3-pro", contents, config)
		if err != nil {
			t.Fatal(err)
		}
		answers := &genai.Content{Role: genai.RoleUser}
		for _, c := range resp.FunctionCalls() {
			call := gemini.Call(c)
			r, err := o.Call(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			answers.Parts = append(answers.Parts, gemini.Answer(call, r, true))
		}
		contents = append(contents, resp.Candidates[0].Content, answers)
	}
}

// TestGeminiWithoutMedia is for models before Gemini 3.
func TestGeminiWithoutMedia(t *testing.T) {
	r := toolpost.NewResult(toolpost.Part{Type: "image", MIMEType: "image/png", Data: []byte("png")})
	p := gemini.Answer(&toolpost.Call{Name: "draw"}, r, false)
	got, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "answer", got,
		`{"functionResponse": {"name": "draw", "response": {"output": "[image/png image of 3 bytes, which cannot be shown to you]"}}}`)
}

// TestGeminiReference keeps $ref out of the members of a response, where
// Gemini would resolve it.
func TestGeminiReference(t *testing.T) {
	r, err := toolpost.JSONResult(map[string]any{"$ref": "#/$defs/a"})
	if err != nil {
		t.Fatal(err)
	}
	response := gemini.Answer(&toolpost.Call{Name: "read"}, r, true).FunctionResponse.Response
	if want := `{"$ref":"#/$defs/a"}`; len(response) != 1 || response["output"] != want {
		t.Errorf("got %v, want only text, %s", response, want)
	}
}

// TestGeminiSchema sends what real tools and generators have through the SDK's
// type, which refuses fields that it does not know, and back.
func TestGeminiSchema(t *testing.T) {
	ctx := context.Background()
	tools := corpus(t)
	o, err := gemini.Tools(ctx, tools, &offer.Options{Dialect: find(t, "gemini-schema")})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range o.Adapted.Withheld {
		if w.Rule == "sdk-type" {
			t.Errorf("withheld: %v", w)
		}
	}
	if len(o.Tools) != 1 || len(o.Tools[0].FunctionDeclarations) < len(tools)*9/10 {
		t.Fatalf("%d of %d tools are left", len(o.Adapted.Tools), len(tools))
	}
	for i, f := range o.Tools[0].FunctionDeclarations {
		input := o.Adapted.Tools[i].Input
		if input == nil || f.Parameters == nil {
			if input != nil || f.Parameters != nil {
				t.Errorf("%s: %v of %v", f.Name, f.Parameters, input)
			}
			continue
		}
		got, err := json.Marshal(f.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := bare(t, got), bare(t, input.Raw()); got != want {
			t.Errorf("%s:\n got %s\nwant %s", f.Name, got, want)
		}
	}
}

// bare is a schema without what the type cannot hold, a default that is null
// and digits beyond float64, and without propertyOrdering.
func bare(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if d, found := v["default"]; found && d == nil {
				delete(v, "default")
			}
			delete(v, "propertyOrdering")
			for _, member := range v {
				strip(member)
			}
		case []any:
			for _, item := range v {
				strip(item)
			}
		}
	}
	strip(v)
	return string(must(json.Marshal(v)))
}
