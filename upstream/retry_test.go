package upstream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A server that ends the stream of an answer again and again, and wants it
// opened at once, does not keep us busy.
func TestImpatientServer(t *testing.T) {
	const opened = 4
	var streams atomic.Int64
	var id atomic.Value
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			modern(func(w http.ResponseWriter, _ *http.Request, m *message) {
				if m.Method != "tools/call" {
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
					return
				}
				id.Store(string(m.ID))
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "id: 0\nretry: 1\ndata:\n\n")
			}).ServeHTTP(w, r)
			return
		}
		if r.Header.Get("Last-Event-ID") == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		n := streams.Add(1)
		if n < opened {
			fmt.Fprintf(w, "id: %d\nretry: 1\ndata:\n\n", n)
			return
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", id.Load())
	}))
	s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
	began := time.Now()
	if _, err := s.call(t.Context(), &toolpost.Call{Name: "t", Arguments: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < opened*100*time.Millisecond {
		t.Errorf("%d streams were opened within %v", opened, took)
	}
}

// A connection that breaks ends one call. The calls of others go on, the session
// stays, and a tool that only reads is called again.
func TestBrokenConnection(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var handshakes, ended, reads atomic.Int64
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			if r.Method == http.MethodDelete {
				ended.Add(1)
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := `{"content":[]}`
		switch {
		case len(m.ID) == 0:
			w.WriteHeader(http.StatusAccepted)
			return
		case m.Method == "initialize":
			handshakes.Add(1)
			w.Header().Set("Mcp-Session-Id", "1")
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case m.Method == "tools/list":
			result = `{"tools":[{"name":"slow","inputSchema":{}},{"name":"cut","inputSchema":{}},{"name":"stream","inputSchema":{}},{"name":"read","inputSchema":{},"annotations":{"readOnlyHint":true}}]}`
		case bytes.Contains(m.Params, []byte("slow")):
			close(started)
			<-release
		case bytes.Contains(m.Params, []byte("stream")):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 0\nretry: 1\ndata:\n\n") // the stream cannot be opened again
			return
		case bytes.Contains(m.Params, []byte("cut")), reads.Add(1) == 1:
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	slow := make(chan error)
	go func() {
		_, err := s.call(t.Context(), &toolpost.Call{Name: "slow", Session: "one"})
		slow <- err
	}()
	<-started
	for _, name := range []string{"cut", "stream"} {
		if text := s.text(t, name, "{}", nil); !strings.Contains(text, "It may have been carried out") {
			t.Errorf("%s: got %s", name, text)
		}
	}
	if text := s.text(t, "read", "{}", nil); text != "" {
		t.Errorf("got %s", text)
	}
	close(release)
	if err := <-slow; err != nil {
		t.Errorf("the call of another client: %v", err)
	}
	if handshakes.Load() != 1 || ended.Load() != 0 {
		t.Errorf("%d sessions were opened and %d ended", handshakes.Load(), ended.Load())
	}
}

// The progress of a call that is repeated goes on where it was, as if there were one
// call; within one execution it is as the server reports it.
func TestProgressOfRepeatedCall(t *testing.T) {
	var calls atomic.Int64
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		result := `{"content":[]}`
		switch {
		case len(m.ID) == 0:
			w.WriteHeader(http.StatusAccepted)
			return
		case m.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", "1")
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case m.Method == "tools/list":
			result = `{"tools":[{"name":"read","inputSchema":{},"annotations":{"readOnlyHint":true}}]}`
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			values, last := []string{"1", "2", "2", "3"}, false
			if calls.Add(1) == 2 {
				values, last = []string{"1", "2.5", "3", "3.5", "4"}, true
			}
			for _, value := range values {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%s}}\n\n", m.ID, value)
			}
			if last {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, result)
				return
			}
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	seen := newRecorder()
	call := &toolpost.Call{Name: "read", Caller: seen, Session: "one", Params: json.RawMessage(`{"name":"read","_meta":{"progressToken":7}}`)}
	if _, err := s.call(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	want := []string{`progress{"progress":1}`, `progress{"progress":2}`, `progress{"progress":2}`, `progress{"progress":3}`, `progress{"progress":3.5}`, `progress{"progress":4}`}
	if diff := cmp.Diff(want, seen.heard); diff != "" {
		t.Error(diff)
	}
}
