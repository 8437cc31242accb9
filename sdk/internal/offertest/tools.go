package offertest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// booking has two arguments that are not in alphabetical order, and one that
// may be left out; strict readers see null there.
type booking struct {
	Train string `json:"train" desc:"Its number."`
	Date  string `json:"date"`
	Class int    `json:"class,omitempty"`
}

// Railway returns a tool that books, one that fails and one that draws. The first one
// stores its arguments in booked.
func Railway(booked *json.RawMessage) toolpost.Tools {
	book := toolpost.New("book", "Books a seat.", func(ctx context.Context, in booking) (string, error) {
		*booked = toolpost.CallFrom(ctx).Arguments
		return fmt.Sprintf("%s on %s, class %d", in.Train, in.Date, in.Class), nil
	}, nil)
	fail := toolpost.New("fail", "Fails.", func(context.Context, struct{}) (string, error) {
		return "", toolpost.Failed.Errorf("the line is closed")
	}, nil)
	draw := toolpost.New("draw", "", func(context.Context, struct{}) ([]toolpost.Part, error) {
		return []toolpost.Part{
			{Type: "text", Text: "The plan:"},
			{Type: "image", MIMEType: "image/png", Data: []byte("png")},
			{Type: "image", MIMEType: "image/svg+xml", Data: []byte("<svg/>")},
			{Type: "resource", MIMEType: "application/pdf", URI: "plan:1", Data: []byte("pdf")},
			{Type: "resource_link", Name: "plan", URI: "plan:2"},
		}, nil
	}, nil)
	return toolpost.Tools{book, fail, draw}
}

// Find returns a built-in dialect.
func Find(t *testing.T, id string) *dialect.Dialect {
	t.Helper()
	d, err := dialect.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// NewTool returns a tool with a schema of a foreign source, which answers with its
// arguments.
func NewTool(t *testing.T, name string, input json.RawMessage) *toolpost.Tool {
	t.Helper()
	s, err := schema.Parse(input)
	if err != nil {
		t.Fatal(err)
	}
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Description: "A tool.", Input: s},
		Handler: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(string(call.Arguments)), nil
		},
	}
}

// Corpus returns the tools of real servers and the schemas of generators, each
// under a name of its own.
func Corpus(t *testing.T) toolpost.Tools {
	t.Helper()
	var all []json.RawMessage
	for _, s := range accept.Tools() {
		all = append(all, s.Input())
	}
	for _, r := range accept.Schemas() {
		all = append(all, r.Schema)
	}
	var tools toolpost.Tools
	for i, raw := range all { // without schemas that no tool can have
		if s, err := schema.Parse(raw); err == nil && s.IsObject() {
			tools = append(tools, NewTool(t, fmt.Sprintf("tool_%d", i), raw))
		}
	}
	return tools
}

// OddTools returns sets of one tool whose schema is odd or hostile.
func OddTools(t *testing.T) []toolpost.Tools {
	t.Helper()
	raws := []json.RawMessage{
		json.RawMessage(`true`), json.RawMessage(`{}`), json.RawMessage(`{"type":"string"}`),
		json.RawMessage(`{"type":"object","properties":{"properties":{"properties":{"a":{"default":1e999}}}}}`),
	}
	for _, h := range accept.Hostile() {
		raws = append(raws, h.Schema)
	}
	for _, s := range accept.Torture() {
		raws = append(raws, s.Input())
	}
	var sets []toolpost.Tools
	for _, raw := range raws {
		if _, err := schema.Parse(raw); err == nil {
			sets = append(sets, toolpost.Tools{NewTool(t, "tool", raw)})
		}
	}
	return sets
}

// CheckOffer checks that the one tool is offered or withheld, and what is offered can be
// encoded.
func CheckOffer[T any](t *testing.T, o *model.Offer[T], err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(o.Adapted.Tools); n != len(o.Tools) || n+len(o.Adapted.Withheld) != 1 {
		t.Fatalf("%d tools offered, %d adapted, withheld %v", len(o.Tools), n, o.Adapted.Withheld)
	}
	Marshal(t, o.Tools)
}

// OddResults returns what foreign servers may send as a result.
func OddResults() []string {
	return []string{
		`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"cG5n"}],"isError":true}`,
		`{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"cGRm"}},{"type":"new"}]}`,
		`{"structuredContent":{"$ref":"#"}}`,
		`{"content":[{"type":"image","mimeType":"image/png","data":7},{},{"type":"image","mimeType":"image/png"}]}`,
		`{"content":[{"type":"text","text":"\ud800\u0000"}]}`,
		`{"content":[],"isError":true}`, `{}`, `null`, `[]`, `{"content":`, "\xff", ``,
	}
}
