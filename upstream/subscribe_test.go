package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// A subscription whose session ends with the answer to it is made again on the next one.
func TestSubscribeAsSessionEnds(t *testing.T) {
	for range 20 {
		var sessions atomic.Int64
		out := make(chan string, 10)
		subscribed := make(chan int64, 10)
		srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				sessions.Add(1)
				openStream(w)
				fmt.Fprint(w, "event: endpoint\ndata: /m\n\n")
				for {
					w.(http.Flusher).Flush()
					select {
					case text := <-out:
						if fmt.Fprintf(w, "data: %s\n\n", text); text[2] == 'i' { // the last answer of this session
							return
						}
					case <-r.Context().Done():
						return
					}
				}
			}
			var m message
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.WriteHeader(http.StatusAccepted)
			begin, answer := `{"jsonrpc":"2.0",`, `{}`
			switch m.Method {
			case "initialize":
				answer = `{"protocolVersion":"2024-11-05","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"old","version":"0"}}`
			case "resources/list":
				answer = `{"resources":[{"name":"r","uri":"x://r"}]}`
			case "resources/templates/list":
				answer = `{"resourceTemplates":[]}`
			case "resources/subscribe":
				subscribed <- sessions.Load()
				if sessions.Load() == 1 {
					out <- fmt.Sprintf(`{"id":%s,"jsonrpc":"2.0","result":{}}`, m.ID)
					return
				}
			}
			if m.ID != nil {
				out <- fmt.Sprintf(`%s"id":%s,"result":%s}`, begin, m.ID, answer)
			}
		}))
		s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.SSE}).ready(t)
		if err := s.Features().Subscribe(t.Context(), "x://r", true); err != nil {
			t.Fatal(err)
		}
		for session := int64(1); session == 1; {
			select {
			case session = <-subscribed:
			case <-time.After(time.Minute):
				t.Fatal("the next session has no subscription")
			}
		}
		s.Close()
	}
}
