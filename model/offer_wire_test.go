package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// booking has two arguments that are not in alphabetical order, and one that
// may be left out; strict readers see null there.
type booking struct {
	Train string `json:"train" desc:"Its number."`
	Date  string `json:"date"`
	Class int    `json:"class,omitempty"`
}

// railway returns a tool that books, one that fails and one that draws. What
// the first was called with is told to booked.
func railway(booked *json.RawMessage) toolpost.Tools {
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

func equal(t *testing.T, what string, got json.RawMessage, want string) {
	t.Helper()
	if canonical(t, got) != canonical(t, json.RawMessage(want)) {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// canonical sorts members, and keeps numbers as they are.
func canonical(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// parsed is a tool with a schema of a foreign source, which answers with its arguments.
func parsed(t *testing.T, name string, input json.RawMessage) *toolpost.Tool {
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
