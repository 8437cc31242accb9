package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// TestGate checks what a stop waits for, and that nothing more is let in.
func TestGate(t *testing.T) {
	tests := []struct {
		name, method, header string
		waits                bool
	}{
		{"a call", http.MethodPost, "tools/call", true},
		{"a call of the stateful era", http.MethodPost, "", true},
		{"a subscription", http.MethodPost, "subscriptions/listen", false},
		{"a stream", http.MethodGet, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var g inFlight
			entered, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			h := g.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				close(entered)
				<-release
			}))
			request := httptest.NewRequest(tt.method, "/mcp", nil)
			request.Header.Set("Mcp-Method", tt.header)
			go h.ServeHTTP(httptest.NewRecorder(), request)
			<-entered

			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if tt.waits {
				cancel()
			}
			if drained := g.drain(ctx); drained == tt.waits {
				t.Errorf("drained: %v", drained)
			}
			for g.mu.TryRLock() { // until the drain has begun
				g.mu.RUnlock()
				runtime.Gosched()
			}
			late := httptest.NewRecorder()
			h.ServeHTTP(late, httptest.NewRequest(http.MethodPost, "/mcp", nil))
			if late.Code != http.StatusServiceUnavailable {
				t.Errorf("a call after the signal: %d", late.Code)
			}
		})
	}
}

// TestHealth checks that the answer tells why a server is not ready.
func TestHealth(t *testing.T) {
	f, err := openFolder(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.root.Close()
	withheld := []gateway.WithheldTool{{Server: "everything", Tool: "add"}, {Server: "everything", Tool: "sub"}, {Server: "other", Tool: "x"}}
	s := &service{
		live: f.live, status: func() []upstream.Status { return servers },
		withheld:  func() []gateway.WithheldTool { return withheld },
		observing: observing{secrets: newSecretReader()},
	}
	w := httptest.NewRecorder()
	s.health(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	want := `{"status":"ok","tools":4,"servers":[` +
		`{"name":"everything","state":"ready","transport":"stdio","protocolVersion":"2025-11-25","tools":12,"withheld":["add","sub"]},` +
		`{"name":"a-server-with-a-long-name","state":"connecting","tools":0},` +
		`{"name":"web\u001b[2J","state":"failed","transport":"http","tools":0,"error":"connect to http://127.0.0.1:1/mcp: connection refused; is the server running?"},` +
		`{"name":"off","state":"disabled","tools":0}]}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("got %s", got)
	}
}
