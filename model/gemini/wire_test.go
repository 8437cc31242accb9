package gemini_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
)

// A wire is a transport without a network. It answers every request with the
// same response, and keeps the requests.
type wire struct {
	status int
	header http.Header
	answer func() io.Reader

	requests []*http.Request
	bodies   []string
}

// streams returns a wire that answers with the stream.
func streams(stream string) *wire {
	return &wire{status: http.StatusOK, answer: func() io.Reader { return strings.NewReader(stream) }}
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) != r.ContentLength {
		return nil, fmt.Errorf("the length is %d, not %d", r.ContentLength, len(body))
	}
	w.requests, w.bodies = append(w.requests, r), append(w.bodies, string(body))
	header := w.header
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: w.status, Header: header, Body: io.NopCloser(w.answer()), Request: r}, nil
}

func (w *wire) options() *gemini.Options {
	return &gemini.Options{APIKey: modeltest.Key, BaseURL: "http://gemini.test", HTTPClient: &http.Client{Transport: w}}
}

// open returns a model that sends its requests over the wire.
func (w *wire) open(t testing.TB, name string) model.Model {
	t.Helper()
	m := gemini.New(name, w.options())
	return m
}

// data returns the events with the values of candidates[0] as a stream.
func data(candidates ...string) string {
	var b strings.Builder
	for _, c := range candidates {
		fmt.Fprintf(&b, "data: {\"candidates\":[%s]}\n\n", c)
	}
	return b.String()
}

// ask returns the response, or the error, of a request.
func ask(t testing.TB, m model.Model, r *model.Request) (*model.Response, error) {
	t.Helper()
	var response *model.Response
	for delta, err := range m.Stream(context.Background(), r) {
		if err != nil {
			return nil, err
		}
		response = delta.Response
	}
	return response, nil
}

func user(parts ...model.Part) *model.Message {
	return &model.Message{Role: model.RoleUser, Parts: parts}
}

func assistant(parts ...model.Part) *model.Message {
	return &model.Message{Role: model.RoleAssistant, Parts: parts}
}

func result(id, text string) model.Part {
	return model.Part{Type: model.TypeResult, Result: toolpost.TextResult(text).Message(id)}
}

func hello() *model.Request {
	return &model.Request{Messages: []*model.Message{model.UserText("Hello.")}}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("TOOLPOST_UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", name, text, want)
	}
}

// weatherSet returns a tool whose name and arguments the model sees as they are,
// and one whose name it does not.
func weatherSet(t testing.TB) *toolpost.Set {
	t.Helper()
	ctx := context.Background()
	tools, err := weather().Tools(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mail := *tools[0]
	mail.Name, mail.Description = "mail.send", "Sends a mail."
	set, err := toolpost.NewSet(ctx, toolpost.Tools{tools[0], &mail})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
