package offer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/schema"
)

// A provider answers requests with replies, one after the other, and keeps
// the requests.
type provider struct {
	*httptest.Server
	requests []request
}

type request struct {
	path string
	body json.RawMessage
}

func newProvider(t *testing.T, replies ...string) *provider {
	t.Helper()
	p := new(provider)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(p.requests) == len(replies) {
			http.Error(w, fmt.Sprintf("request %d: %v", len(p.requests), err), http.StatusBadRequest)
			return
		}
		p.requests = append(p.requests, request{r.URL.Path, body})
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, replies[len(p.requests)-1])
	}))
	t.Cleanup(p.Close)
	return p
}

// at returns the JSON at a place in the body of the n-th request.
func (p *provider) at(t *testing.T, n int, place ...any) json.RawMessage {
	t.Helper()
	if n >= len(p.requests) {
		t.Fatalf("there were %d requests", len(p.requests))
	}
	v := p.requests[n].body
	for _, step := range place {
		v = within(t, v, step)
	}
	return v
}

func within(t *testing.T, v json.RawMessage, step any) json.RawMessage {
	t.Helper()
	if n, ok := step.(int); ok {
		var list []json.RawMessage
		if err := json.Unmarshal(v, &list); err != nil || n >= len(list) {
			t.Fatalf("no item %d in %s (%v)", n, v, err)
		}
		return list[n]
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(v, &object); err != nil {
		t.Fatalf("no member %v in %s: %v", step, v, err)
	}
	return object[step.(string)]
}

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
		return "", toolpost.Failed("the line is closed")
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

func find(t *testing.T, id string) *dialect.Dialect {
	t.Helper()
	d, err := dialect.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return d
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
