// Package offertest has tools, and a provider that they are offered to, for the tests of
// packages that convert tools to the types of SDKs.
package offertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A Provider answers requests with replies, one after the other, and keeps
// the requests.
type Provider struct {
	*httptest.Server
	Requests []Request
}

// A Request is one that a provider received.
type Request struct {
	Path string
	Body json.RawMessage
}

// NewProvider returns a provider with the replies.
func NewProvider(t *testing.T, replies ...string) *Provider {
	t.Helper()
	p := new(Provider)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || len(p.Requests) == len(replies) {
			http.Error(w, fmt.Sprintf("request %d: %v", len(p.Requests), err), http.StatusBadRequest)
			return
		}
		p.Requests = append(p.Requests, Request{r.URL.Path, body})
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, replies[len(p.Requests)-1])
	}))
	t.Cleanup(p.Close)
	return p
}

// At returns the JSON at a place in the body of the n-th request.
func (p *Provider) At(t *testing.T, n int, place ...any) json.RawMessage {
	t.Helper()
	if n >= len(p.Requests) {
		t.Fatalf("there were %d requests", len(p.Requests))
	}
	v := p.Requests[n].Body
	for _, step := range place {
		v = Within(t, v, step)
	}
	return v
}

// Within returns the member of an object, or the item of an array, that step names.
func Within(t *testing.T, v json.RawMessage, step any) json.RawMessage {
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

// InOrder checks that the JSON has the names of properties in this order.
func InOrder(t *testing.T, raw json.RawMessage, names ...string) {
	t.Helper()
	last := -1
	for _, n := range names {
		at := strings.Index(string(raw), `"`+n+`":`)
		if at <= last {
			t.Errorf("%s is not after what is before it in %v: %s", n, names, raw)
		}
		last = at
	}
}

// Contains checks that the JSON contains a text.
func Contains(t *testing.T, what string, got json.RawMessage, want string) {
	t.Helper()
	if !strings.Contains(string(got), want) {
		t.Errorf("%s: %s does not contain %q", what, got, want)
	}
}

// Equal checks that two values are the same but for the order of members.
func Equal(t *testing.T, what string, got json.RawMessage, want string) {
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
	return string(Marshal(t, v))
}

// Marshal returns a value as JSON.
func Marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
