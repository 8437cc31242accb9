package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// sessionless is a server without sessions whose tool t may be called twice.
// Call answers tools/call.
func sessionless(call http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}]}}`, m.ID)
		case "tools/call":
			r.Header.Set("Test-Id", string(m.ID))
			call(w, r)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}

const (
	notCarriedOut = "It was not carried out"
	mayBe         = "It may have been carried out"
)

// A call that the server refused was not carried out; one that ended with
// another error may have been.
func TestRefusedCalls(t *testing.T) {
	var status atomic.Int64
	s := start(t, &upstream.Config{Transport: upstream.HTTP, ProtocolVersion: "2025-11-25", URL: serve(t, sessionless(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
	})).URL}).ready(t)
	for code, want := range map[int]string{
		401: notCarriedOut, 403: notCarriedOut, 404: notCarriedOut, 405: notCarriedOut, 429: notCarriedOut,
		400: mayBe, 408: mayBe, 500: mayBe, 502: mayBe, 503: mayBe,
	} {
		status.Store(int64(code))
		if got := s.text(t, "t", `{}`, nil); !strings.Contains(got, want) {
			t.Errorf("%d: got %q, want %q in it", code, got, want)
		}
	}
}

// A call whose stream broke may have been carried out, whatever the server answers
// to the request for the rest of the stream.
func TestRefusedRestOfAnswer(t *testing.T) {
	s := start(t, &upstream.Config{Transport: upstream.HTTP, ProtocolVersion: "2025-11-25", URL: serve(t, sessionless(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\nretry: 1\ndata:\n\n") // the end: sessionless answers GET with 405
	})).URL}).ready(t)
	if got := s.text(t, "t", `{}`, nil); !strings.Contains(got, mayBe) || !strings.Contains(got, "405") {
		t.Errorf("got %q", got)
	}
}

// A call that is made again may have been carried out the first time, whatever
// becomes of the second.
func TestSecondTryOfACall(t *testing.T) {
	for name, stays := range map[string]bool{"the server is away": false, "the server refuses the second": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			good := sessionless(func(w http.ResponseWriter, _ *http.Request) {
				if calls.Add(1) == 1 {
					panic(http.ErrAbortHandler) // the connection breaks
				}
				w.WriteHeader(http.StatusTooManyRequests)
			})
			url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if calls.Load() > 0 && !stays {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				good.ServeHTTP(w, r)
			})).URL
			patience := time.Minute
			if !stays { // it is waited for in vain, and has refused one handshake by then
				patience = 3 * time.Second
			}
			u, err := upstream.Start(&upstream.Config{Name: "srv", URL: url, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"},
				&upstream.Options{Backoff: time.Millisecond, Patience: patience})
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			s := (&server{Upstream: u}).ready(t)
			if got := s.text(t, "t", `{}`, nil); !strings.Contains(got, mayBe) || !strings.Contains(got, "429") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A Toolpost that starts itself over and over ends: each one passes on how many
// there are above it.
func TestDepth(t *testing.T) {
	for depth, want := range map[string]string{"": "1", "1": "2", "odd": "1", "-7": "1"} {
		t.Setenv("TOOLPOST_DEPTH", depth)
		s := start(t, child(t, "env")).ready(t)
		if got := "\n" + s.text(t, "t", "", nil) + "\n"; !strings.Contains(got, "\nTOOLPOST_DEPTH="+want+"\n") {
			t.Errorf("%q: no depth %s in %s", depth, want, got)
		}
	}
	t.Setenv("TOOLPOST_DEPTH", "2")
	s := start(t, child(t, "env"))
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "this is toolpost itself") {
		t.Errorf("got %v", err)
	}
}

// The end of an elicitation by URL is told to the client that it belongs to,
// and to no other.
func TestElicitationComplete(t *testing.T) {
	s := start(t, child(t, "completes")).ready(t)
	a, b := newAsker("session a"), newAsker("session b")
	a.run(t, s, "")
	if got, want := strings.Join(a.heard, " "), `elicitation/complete{"elicitationId":"e"}`; got != want {
		t.Errorf("a heard %s, want %s", got, want)
	}
	b.run(t, s, "")
	if len(a.heard) != 1 || len(b.heard) != 0 {
		t.Errorf("after b's call, a has heard %q and b %q", a.heard, b.heard)
	}
}
