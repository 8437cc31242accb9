package upstream_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

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
