package upstream_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A passingLayer is a layer that logs in when the server refuses a request, and then
// adds a header. It notes the statuses of the calls that it gets.
type passingLayer struct {
	base http.RoundTripper

	mu       sync.Mutex
	loggedIn bool
	statuses []int
}

func (l *passingLayer) Passes(context.Context, *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.loggedIn
}

func (l *passingLayer) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	resp, err := l.base.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost {
		return resp, err
	}
	l.statuses = append(l.statuses, resp.StatusCode)
	if resp.StatusCode != http.StatusUnauthorized {
		return resp, nil
	}
	resp.Body.Close()
	l.loggedIn = true
	again := r.Clone(r.Context())
	again.Header.Set("Authorization", "Bearer it")
	again.Body, err = r.GetBody()
	if err != nil {
		return nil, err
	}
	resp, err = l.base.RoundTrip(again)
	if err == nil {
		l.statuses = append(l.statuses, resp.StatusCode)
	}
	return resp, err
}

// A layer that passes requests gets only the refusal of a call, which the server gets no
// second time as it was.
func TestLayerThatPasses(t *testing.T) {
	t.Parallel()
	for name, stateless := range map[string]bool{"sessions": false, "stateless": true} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var sent []string // the authorizations of calls
			refuse := false
			good := streamableHandler(t, sdkServer(t.Context()), stateless)
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				if bytes.Contains(body, []byte(`"tools/call"`)) {
					mu.Lock()
					sent = append(sent, r.Header.Get("Authorization"))
					no := refuse && sent[len(sent)-1] == ""
					mu.Unlock()
					if no {
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
				}
				good.ServeHTTP(w, r)
			}))
			layer := &passingLayer{}
			s := start(t, &upstream.Config{URL: srv.URL, Wrap: func(base *http.Transport) http.RoundTripper {
				layer.base = base
				return layer
			}}).ready(t)
			call := func(text string) {
				t.Helper()
				if got := s.text(t, "echo", `{"text":"`+text+`"}`, nil); !strings.Contains(got, text) {
					t.Errorf("got %q", got)
				}
			}
			seen := func() []int {
				layer.mu.Lock()
				defer layer.mu.Unlock()
				return slices.Clone(layer.statuses)
			}
			before := len(seen())
			call("one")
			if after := len(seen()); after != before {
				t.Errorf("the layer got %v", seen()[before:])
			}
			mu.Lock()
			refuse = true
			mu.Unlock()
			call("two")
			if got := seen()[before:]; !slices.Equal(got, []int{http.StatusUnauthorized, http.StatusOK}) {
				t.Errorf("the layer got %v", got)
			}
			mu.Lock()
			defer mu.Unlock()
			if want := []string{"", "", "Bearer it"}; !slices.Equal(sent, want) {
				t.Errorf("the server got %q, want %q", sent, want)
			}
		})
	}
}

// The method of an extension is one line of a request, whatever it is.
func TestMethodIsOneLine(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	srv := serve(t, modern(func(w http.ResponseWriter, r *http.Request, m *message) {
		if strings.HasPrefix(m.Method, "skills/") {
			got <- r.Header
		}
		result(w, m, "{}")
	}))
	s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
	if _, err := s.Features().Extend(t.Context(), &toolpost.Call{Name: "skills/a\r\nX-Odd: b"}); err != nil {
		t.Fatal(err)
	}
	if odd := (<-got).Get("X-Odd"); odd != "" {
		t.Errorf("the server got a header %q of the caller", odd)
	}
}
