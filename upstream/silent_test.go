package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// A silent server is an ordinary one that at some requests falls silent: it
// holds them open until the test ends.
type silent struct {
	at  func(r *http.Request, m *message) bool
	end chan struct{}
}

func newSilent(t *testing.T, at func(*http.Request, *message) bool, h http.Handler) string {
	s := &silent{at: at, end: make(chan struct{})}
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m message
		_ = json.Unmarshal(body, &m)
		if !s.at(r, &m) {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			h.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet { // a stream that is open, and nothing else
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
		}
		<-s.end // not even the client's leaving counts
	}))
	t.Cleanup(func() { close(s.end) })
	return srv.URL
}

// closes fails the test if Close waits for the server.
func closes(t *testing.T, s *server) {
	t.Helper()
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("close took %v", took)
	}
}

// Close does not wait for a server that answers nothing any more.
func TestCloseOfSilentServers(t *testing.T) {
	t.Parallel()
	classic := func(t *testing.T) http.Handler { return streamableHandler(t, sdkServer(t.Context()), false) }
	modern := func(t *testing.T) http.Handler { return streamableHandler(t, sdkServer(t.Context()), true) }
	sse := func(t *testing.T) http.Handler { return sseHandler(sdkServer(t.Context())) }
	notification := func(m *message) bool { return m.ID == nil || m.Method == "" }
	tests := map[string]struct {
		handler func(*testing.T) http.Handler
		at      func(*http.Request, *message) bool
		call    bool // one is under way
		version string
	}{
		"the end of the session":  {classic, func(r *http.Request, _ *message) bool { return r.Method == http.MethodDelete }, false, ""},
		"the stream":              {classic, func(r *http.Request, _ *message) bool { return r.Method == http.MethodGet }, false, ""},
		"stream, end and a call":  {classic, func(r *http.Request, m *message) bool { return r.Method != http.MethodPost || m.Method == "tools/call" }, true, ""},
		"a call and its end":      {modern, func(_ *http.Request, m *message) bool { return m.Method == "tools/call" || notification(m) }, true, "2026-07-28"},
		"what it is to listen to": {modern, func(_ *http.Request, m *message) bool { return m.Method == "subscriptions/listen" || notification(m) }, false, "2026-07-28"},
		"SSE, a call": {sse, func(_ *http.Request, m *message) bool {
			return m.Method == "tools/call" || m.Method == "notifications/cancelled"
		}, true, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := test.handler(t)
			asked := make(chan struct{}, 1)
			s := start(t, &upstream.Config{URL: newSilent(t, func(r *http.Request, m *message) bool {
				if m.Method == "tools/call" {
					asked <- struct{}{}
				}
				return test.at(r, m)
			}, h), ProtocolVersion: test.version}).ready(t)
			result := make(chan string, 1)
			if test.call {
				go func() { result <- s.text(t, "echo", `{}`, nil) }()
				<-asked
			}
			closes(t, s)
			if test.call {
				if got := <-result; !strings.Contains(got, "it was closed") {
					t.Errorf("got %q", got)
				}
			}
		})
	}
}

// A server that falls silent while it is connected to does not hold up Close,
// or the next attempt, either.
func TestSilentHandshakes(t *testing.T) {
	ping := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch m.Method {
		case "initialize": // a question comes before the answer
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n")
			w.(http.Flusher).Flush()
		case "server/discover":
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		<-r.Context().Done()
	})
	url := newSilent(t, func(_ *http.Request, m *message) bool { return string(m.ID) == `"p"` }, ping)
	s := start(t, &upstream.Config{URL: url, Transport: upstream.HTTP, ConnectTimeout: 200 * time.Millisecond})
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("got %v", err)
	}
	closes(t, s)
	for _, silence := range []string{"initialize", "notifications/initialized", "tools/list"} {
		t.Run(silence, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{}, 100)
			s := start(t, &upstream.Config{URL: newSilent(t, func(_ *http.Request, m *message) bool {
				if m.Method == silence {
					reached <- struct{}{}
				}
				return m.Method == silence || m.Method == "notifications/cancelled"
			}, streamableHandler(t, sdkServer(t.Context()), false))})
			<-reached
			closes(t, s)
		})
	}
}
