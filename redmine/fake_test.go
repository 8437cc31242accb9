package redmine_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// A fakeRedmine answers requests from memory and remembers them.
type fakeRedmine struct {
	mu       sync.Mutex
	requests []string // method and path with query
	bodies   []string
	answers  map[string]string // JSON by method and path, without the query
	handle   func(w http.ResponseWriter, r *http.Request, body string) bool
}

const adminAnswer = `{"user":{"id":1,"login":"admin","firstname":"Redmine","lastname":"Admin","admin":true}}`

func newFake(answers map[string]string) *fakeRedmine {
	all := map[string]string{"GET /users/current.json": adminAnswer}
	for k, v := range answers {
		all[k] = v
	}
	return &fakeRedmine{answers: all}
}

func (f *fakeRedmine) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	f.mu.Lock()
	f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
	f.bodies = append(f.bodies, string(body))
	f.mu.Unlock()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if f.handle == nil || !f.handle(w, r, string(body)) {
		f.mu.Lock()
		answer, ok := f.answers[r.Method+" "+r.URL.Path]
		f.mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, answer)
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

// count returns how many requests begin with a prefix.
func (f *fakeRedmine) count(prefix string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func (f *fakeRedmine) open(t testing.TB) *toolpost.Set {
	t.Helper()
	s, err := redmine.New(&redmine.Options{URL: "http://redmine.test", Key: "key-of-the-test", Transport: f})
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// use calls a tool and returns the text of its result.
func use(ctx context.Context, t testing.TB, set *toolpost.Set, tool, arguments string) (text string, failed bool) {
	t.Helper()
	text, _, failed = result(ctx, t, set, tool, arguments)
	return text, failed
}

func result(ctx context.Context, t testing.TB, set *toolpost.Set, tool, arguments string) (text, structured string, failed bool) {
	t.Helper()
	r, err := set.Call(ctx, &toolpost.Call{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return err.Error(), "", true
	}
	var b strings.Builder
	for _, p := range r.Parts() {
		b.WriteString(p.Text)
	}
	return b.String(), string(r.Structured()), r.IsError()
}
