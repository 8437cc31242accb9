package upstream_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// classic answers the requests of a connection up to 2025-11-25. The function gets
// the others.
func classic(capabilities string, rest func(w http.ResponseWriter, r *http.Request, m *message)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &m)
		if m.Method != "initialize" {
			rest(w, r, &m)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":%s,"serverInfo":{"name":"x","version":"1"}}}`, m.ID, capabilities)
	})
}

// openStream begins a stream of events.
func openStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
}

// An answer that comes on the stream of another call, or of none, reaches the call
// whose id it has, and no other, and that call does not wait for its own stream.
func TestAnswersOnOtherStreams(t *testing.T) {
	for _, where := range []string{"another call", "none"} {
		t.Run(where, func(t *testing.T) {
			ids, release := make(chan string, 1), make(chan struct{})
			answer := func(w http.ResponseWriter, id, text string) {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n\n", id, text)
				w.(http.Flusher).Flush()
			}
			srv := serve(t, classic(`{"tools":{}}`, func(w http.ResponseWriter, r *http.Request, m *message) {
				switch {
				case r.Method == http.MethodGet && where == "none":
					openStream(w)
					select {
					case id := <-ids:
						answer(w, id, "first")
					case <-r.Context().Done():
						return
					}
					<-r.Context().Done()
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
				case m.Method == "tools/list":
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"first","inputSchema":{}},{"name":"second","inputSchema":{}}]}}`, m.ID)
				case strings.Contains(string(m.Params), "first"):
					openStream(w) // on which nothing comes
					ids <- string(m.ID)
					<-r.Context().Done()
				default:
					openStream(w)
					if where == "another call" {
						answer(w, <-ids, "first")
					}
					<-release
					answer(w, string(m.ID), "second")
				}
			}))
			s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
			second := make(chan string, 1)
			first := make(chan string, 1)
			go func() { first <- s.text(t, "first", "{}", nil) }()
			go func() { second <- s.text(t, "second", "{}", nil) }()
			select {
			case got := <-first:
				if got != "first" {
					t.Errorf("the first call got %q", got)
				}
			case got := <-second:
				t.Errorf("the second call got %q before its answer", got)
			case <-time.After(time.Minute):
				t.Error("the first call waits for its own stream")
			}
			close(release)
			if got := <-second; got != "second" {
				t.Errorf("the second call got %q", got)
			}
		})
	}
}

// A server that never answers notifications/initialized is used nevertheless.
func TestInitializedIsNotAnswered(t *testing.T) {
	t.Parallel()
	srv := serve(t, classic(`{"tools":{}}`, func(w http.ResponseWriter, r *http.Request, m *message) {
		switch {
		case m.Method == "notifications/initialized":
			<-r.Context().Done()
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{}}]}}`, m.ID)
		}
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25", ConnectTimeout: 15 * time.Second}).ready(t)
	if got := s.names(t); got != "t" {
		t.Errorf("got %s", got)
	}
	closes(t, s)
}

// What changes while the stream of changes is broken is seen when it is open
// again, even if the server does not say that it has begun.
func TestChangesWhileStreamIsBroken(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			var streams atomic.Int64
			var changed atomic.Bool
			breaks := make(chan struct{})
			stream := func(w http.ResponseWriter, r *http.Request) {
				n := streams.Add(1)
				openStream(w)
				fmt.Fprint(w, "retry: 1\n\n")
				w.(http.Flusher).Flush()
				if version == "2025-11-25" && n == 1 || n == 2 {
					select {
					case <-breaks:
						return
					case <-r.Context().Done():
					}
				}
				<-r.Context().Done()
			}
			rest := func(w http.ResponseWriter, r *http.Request, m *message) {
				switch {
				case r.Method == http.MethodGet && version == "2025-11-25", m.Method == "subscriptions/listen":
					stream(w, r)
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
				default:
					tool, result := "before", `{}`
					if changed.Load() {
						tool = "after"
					}
					switch m.Method {
					case "tools/list":
						result = `{"tools":[{"name":"` + tool + `","inputSchema":{}}]}`
					case "server/discover":
						result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"x","version":"1"}}`
					case "resources/list":
						result = `{"resources":[]}`
					case "resources/templates/list":
						result = `{"resourceTemplates":[]}`
					}
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
				}
			}
			srv := serve(t, classic(`{"tools":{"listChanged":true},"resources":{"subscribe":true}}`, rest))
			s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: version}).ready(t)
			if got := s.names(t); got != "before" {
				t.Fatalf("got %s", got)
			}
			if err := s.Features().Subscribe(t.Context(), "x://a", true); err != nil {
				t.Fatal(err)
			}
			if version == "2026-07-28" && streams.Load() != 2 {
				t.Fatalf("%d streams are open", streams.Load())
			}
			changed.Store(true)
			close(breaks)
			s.until(t, "the new tool is listed", func() bool { return s.names(t) == "after" })
			updated(t, s, "x://a")
		})
	}
}

// Resources may have changed while there was no session.
func TestChangesWithoutSession(t *testing.T) {
	t.Parallel()
	for _, stateless := range []bool{false, true} {
		var h switchable
		h.set(streamableHandler(t, sdkServer(t.Context()), stateless))
		srv := serve(t, &h)
		s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
		if err := s.Features().Subscribe(t.Context(), "test://r", true); err != nil {
			t.Fatal(err)
		}
		h.set(streamableHandler(t, sdkServer(t.Context()), stateless))
		srv.CloseClientConnections()
		updated(t, s, "test://r")
	}
}

// updated waits until a resource is said to have changed.
func updated(t *testing.T, s *server, uri string) {
	t.Helper()
	select {
	case got := <-s.uris:
		if got != uri {
			t.Errorf("%s was updated", got)
		}
	case <-time.After(time.Minute):
		t.Error("the resource may have changed, and nobody is told")
	}
}

// A server that compresses what it may compress is asked not to. What is
// compressed nevertheless is named.
func TestCompressedAnswers(t *testing.T) {
	var always atomic.Bool
	good := streamableHandler(t, sdkServer(t.Context()), true)
	s := start(t, &upstream.Config{URL: serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepts := r.Header["Accept-Encoding"]
		if accepts == nil || strings.Contains(accepts[0], "gzip") || always.Load() {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			w = &compressed{w, z}
		}
		good.ServeHTTP(w, r)
	})).URL}).ready(t)
	if got := s.text(t, "echo", `{"a":1}`, nil); got != `{"a":1}` {
		t.Errorf("got %q", got)
	}
	always.Store(true)
	if got := s.text(t, "echo", `{"a":1}`, nil); !strings.Contains(got, "it answered with content compressed with gzip, which is not MCP") {
		t.Errorf("got %q", got)
	}
}

// compressed is a response that is compressed.
type compressed struct {
	http.ResponseWriter
	to io.Writer
}

func (c *compressed) Write(p []byte) (int, error) { return c.to.Write(p) }

// A connection that brought the answer to another request, which the server sent
// late, carries no more requests.
func TestAnswersOutOfStep(t *testing.T) {
	var conns sync.Map
	srv := serve(t, classic(`{"tools":{}}`, func(w http.ResponseWriter, r *http.Request, m *message) {
		conns.Store(r.RemoteAddr, true)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		id, result := string(m.ID), `{"content":[{"type":"text","text":"ok"}]}`
		if m.Method == "tools/list" {
			result = `{"tools":[{"name":"t","inputSchema":{}},{"name":"late","inputSchema":{}}]}`
		}
		if strings.Contains(string(m.Params), "late") {
			id = "1"
			conns.Clear()
			conns.Store("old "+r.RemoteAddr, true)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	if got := s.text(t, "late", "{}", nil); !strings.Contains(got, "does not answer the call") {
		t.Errorf("got %q", got)
	}
	if got := s.text(t, "t", "{}", nil); got != "ok" {
		t.Errorf("got %q", got)
	}
	conns.Range(func(address, _ any) bool {
		if _, again := conns.Load("old " + address.(string)); again {
			t.Error("the connection is used again")
		}
		return true
	})
}
