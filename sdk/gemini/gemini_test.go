package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/sdk/gemini"
	"github.com/toolpost/toolpost/sdk/internal/offertest"
)

const geminiCalls = `{"candidates": [{"content": {"role": "model", "parts": [
	{"functionCall": {"id": "c1", "name": "book", "args": {"train": "IC 1", "date": "2026-12-01", "class": 2}}},
	{"functionCall": {"name": "fail"}},
	{"functionCall": {"id": "c3", "name": "draw", "args": {}}},
	{"functionCall": {"id": "c4", "name": "fly", "args": {}}}]}}]}`

const geminiDone = `{"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}]}`

func TestGemini(t *testing.T) {
	for id, opts := range map[string]*model.OfferOptions{
		"gemini":        nil,
		"gemini-schema": {Dialect: offertest.Find(t, "gemini-schema")},
	} {
		t.Run(id, func(t *testing.T) {
			ctx := t.Context()
			var booked json.RawMessage
			o, err := gemini.Tools(ctx, offertest.Railway(&booked), opts)
			if err != nil {
				t.Fatal(err)
			}
			p := offertest.NewProvider(t, geminiCalls, geminiDone)
			talkGemini(t, p, o)

			offertest.Equal(t, "booked", booked, `{"train": "IC 1", "date": "2026-12-01", "class": 2}`)
			offertest.Equal(t, "number of tools", p.At(t, 0, "tools"), `[`+string(p.At(t, 0, "tools", 0))+`]`)
			book := p.At(t, 0, "tools", 0, "functionDeclarations", 0)
			offertest.Equal(t, "name", offertest.Within(t, book, "name"), `"book"`)
			offertest.Equal(t, "description", offertest.Within(t, book, "description"), `"Books a seat."`)
			door, other, object := "parametersJsonSchema", "parameters", `"object"`
			if id == "gemini-schema" {
				door, other, object = other, door, `"OBJECT"`
			}
			parameters := offertest.Within(t, book, door)
			if offertest.Within(t, book, other) != nil {
				t.Errorf("both doors: %s", book)
			}
			offertest.Equal(t, "type", offertest.Within(t, parameters, "type"), object)
			offertest.Equal(t, "required", offertest.Within(t, parameters, "required"), `["train", "date"]`)
			// The SDK sorts properties, so a keyword beside them has their order.
			offertest.Equal(t, "order", offertest.Within(t, parameters, "propertyOrdering"), `["train", "date", "class"]`)
			if fail := p.At(t, 0, "tools", 0, "functionDeclarations", 1); id == "gemini-schema" && offertest.Within(t, fail, "parameters") != nil {
				t.Errorf("an OBJECT without properties: %s", fail)
			}

			offertest.Equal(t, "answers", p.At(t, 1, "contents", 2, "parts"), `[
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
func talkGemini(t *testing.T, p *offertest.Provider, o *model.Offer[*genai.Tool]) {
	t.Helper()
	ctx := t.Context()
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
	offertest.Equal(t, "answer", got,
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
	ctx := t.Context()
	tools := offertest.Corpus(t)
	o, err := gemini.Tools(ctx, tools, &model.OfferOptions{Dialect: offertest.Find(t, "gemini-schema")})
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
	return string(offertest.Marshal(t, v))
}

// TestGeminiNumber withholds a tool with a number that is not a float64, as numbers are
// in Google's API: the whole request would be refused.
func TestGeminiNumber(t *testing.T) {
	for _, id := range []string{"gemini", "gemini-schema"} {
		tools := toolpost.Tools{
			offertest.NewTool(t, "huge", json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","default":1e400}},"required":["a"]}`)),
			offertest.NewTool(t, "fine", json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","default":1e4}},"required":["a"]}`)),
		}
		o, err := gemini.Tools(t.Context(), tools, &model.OfferOptions{Dialect: offertest.Find(t, id)})
		if err != nil {
			t.Fatal(err)
		}
		if f := o.Tools[0].FunctionDeclarations; len(f) != 1 || f[0].Name != "fine" || o.Set.Lookup("huge") != nil {
			t.Errorf("%s: offered %v", id, f)
		}
		if w := o.Adapted.Withheld; len(w) != 1 || w[0].Name != "huge" || w[0].Rule != id+"/sdk-type" {
			t.Errorf("%s: withheld %v", id, w)
		}
	}
}

// TestGeminiLargeInteger: a tool whose listed integers Google would read as others is
// withheld. Bounds may be rounded: the tool checks its arguments.
func TestGeminiLargeInteger(t *testing.T) {
	tools := toolpost.Tools{
		offertest.NewTool(t, "listed", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740993]}}}`)),
		offertest.NewTool(t, "const", json.RawMessage(`{"type":"object","properties":{"a":{"const":12345678901234567890}}}`)),
		offertest.NewTool(t, "fine", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740992],"maximum":9223372036854775807}}}`)),
	}
	o, err := gemini.Tools(t.Context(), tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := o.Tools[0].FunctionDeclarations; len(f) != 1 || f[0].Name != "fine" {
		t.Errorf("offered %v", f)
	} else {
		offertest.Equal(t, "schema", offertest.Marshal(t, f[0].ParametersJsonSchema), `{"type":"object","properties":{"a":{"type":"integer","enum":[1,9007199254740992],"maximum":9223372036854775807}}}`)
	}
	if w := o.Adapted.Withheld; len(w) != 2 || !strings.Contains(w[0].Why, "the listed value 9007199254740993 would be another number for Google") {
		t.Errorf("withheld %v", w)
	}
}

// TestAnyResult makes answers of what foreign servers may send: each is JSON
// that names the call.
func TestAnyResult(t *testing.T) {
	for _, raw := range offertest.OddResults() {
		call := &toolpost.Call{ID: "c1", Name: "tool"}
		for _, media := range []bool{true, false} {
			answer := gemini.Answer(call, toolpost.RawResult([]byte(raw)), media)
			offertest.Contains(t, raw, offertest.Marshal(t, answer), `"c1"`)
		}
	}
}

// TestAnySchema offers odd and hostile schemas.
func TestAnySchema(t *testing.T) {
	for _, ts := range offertest.OddTools(t) {
		for _, id := range []string{"gemini", "gemini-schema"} {
			o, err := gemini.Tools(t.Context(), ts, &model.OfferOptions{Dialect: offertest.Find(t, id)})
			offertest.CheckOffer(t, o, err)
		}
	}
}

// TestAnyDialect offers in dialects that are not Google's own: relays speak its API for
// other models.
func TestAnyDialect(t *testing.T) {
	ts := toolpost.Tools{offertest.NewTool(t, "tool_0", json.RawMessage(`{"type":"object","properties":{}}`))}
	for _, d := range dialect.All() {
		o, err := gemini.Tools(t.Context(), ts, &model.OfferOptions{Dialect: d})
		offertest.CheckOffer(t, o, err)
		r, err := o.Call(t.Context(), &toolpost.Call{Name: "tool_0"})
		if err != nil || r.IsError() {
			t.Errorf("%s: %v, %v", d.ID, r, err)
		}
	}
}

func TestNoTools(t *testing.T) {
	o, err := gemini.Tools(t.Context(), toolpost.Tools{}, nil)
	if err != nil || o.Tools != nil {
		t.Errorf("%v, %v; want no tool without functions", o.Tools, err)
	}
}
