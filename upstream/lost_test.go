package upstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A forgetful is a server with sessions that can forget them all.
type forgetful struct {
	mu       sync.Mutex
	sessions int             // that were opened
	known    map[string]bool // the ids of those that it did not forget
	ran      int             // calls
	asks     int             // subscriptions
	closed   bool            // initialize is refused too
	refuse   func(w http.ResponseWriter, m *message)
	hangs    chan struct{}
	hung     func(w http.ResponseWriter, m *message) // what hang answers; a result if nil
}

func (f *forgetful) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = nil
}

// counts returns how many sessions were opened and how many calls were carried out.
func (f *forgetful) counts() (sessions, ran int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sessions, f.ran
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m message
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	f.mu.Lock()
	known, closed := f.known[r.Header.Get("Mcp-Session-Id")], f.closed
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "initialize" && !closed:
		f.mu.Lock()
		f.sessions++
		id := fmt.Sprint("session-", f.sessions)
		if f.known == nil {
			f.known = map[string]bool{}
		}
		f.known[id] = true
		f.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		result(w, &m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"x","version":"1"}}`)
	case !known:
		f.refuse(w, &m)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/list":
		result(w, &m, `{"tools":[{"name":"write","inputSchema":{}},{"name":"hang","inputSchema":{}}]}`)
	case m.Method == "resources/list":
		result(w, &m, `{"resources":[{"name":"r","uri":"x://r"}]}`)
	case m.Method == "resources/templates/list":
		result(w, &m, `{"resourceTemplates":[]}`)
	case m.Method == "resources/subscribe":
		f.mu.Lock()
		f.asks++
		f.mu.Unlock()
		result(w, &m, `{}`)
	case m.Method == "tools/call":
		f.call(w, r, &m)
	default:
		result(w, &m, `{}`)
	}
}

func (f *forgetful) call(w http.ResponseWriter, r *http.Request, m *message) {
	switch m.param("name") {
	case `"write"`:
		f.mu.Lock()
		f.ran++
		f.mu.Unlock()
		result(w, m, `{"content":[{"type":"text","text":"done"}]}`)
	case `"hang"`:
		f.hangs <- struct{}{}
		select {
		case <-f.hangs:
		case <-r.Context().Done():
		}
		if f.hung != nil {
			f.hung(w, m)
			return
		}
		result(w, m, `{"content":[{"type":"text","text":"hung"}]}`)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool"}}`, m.ID)
	}
}

// refuseWith returns what answers with a status and a text. ID stands for the id of the
// request.
func refuseWith(status int, kind, text string) func(http.ResponseWriter, *message) {
	return func(w http.ResponseWriter, m *message) {
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", kind)
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "ID", string(m.ID)))
	}
}

// Words in which servers refuse a session that they do not know.
var sessionRefusals = map[string]func(http.ResponseWriter, *message){
	"404":                   refuseWith(404, "text/plain", "Session not found"),
	"404 without words":     refuseWith(404, "text/plain", ""),
	"400":                   refuseWith(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`),
	"400 without words":     refuseWith(400, "text/plain", ""),
	"401":                   refuseWith(401, "text/plain", "Unauthorized: Session not found"),
	"401 without words":     refuseWith(401, "application/json", `{"error":"invalid_token"}`),
	"403":                   refuseWith(403, "text/html", "<h1>Forbidden</h1>"),
	"405":                   refuseWith(405, "text/plain", ""),
	"409":                   refuseWith(409, "text/plain", "unknown session"),
	"410":                   refuseWith(410, "text/plain", "gone"),
	"412":                   refuseWith(412, "application/json", `{"error":"SESSION_EXPIRED"}`),
	"422":                   refuseWith(422, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"unexpected message, expected initialize request"}}`),
	"440":                   refuseWith(440, "text/plain", ""),
	"500":                   refuseWith(500, "text/plain", "KeyError: session 7 does not exist"),
	"503":                   refuseWith(503, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"Session terminated"}}`),
	"200, not found":        refuseWith(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Session not found"}}`),
	"200, not initialized":  refuseWith(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32002,"message":"Received request before initialization was complete"}}`),
	"200, words in data":    refuseWith(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Invalid Request","data":{"reason":"missing session"}}}`),
	"200, stream of events": refuseWith(200, "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32000,\"message\":\"Invalid session ID\"}}\n\n"),
}

// A server that was restarted serves the next call, in whatever words it refuses the
// session that it does not know, and carries the call out once.
func TestForgottenSession(t *testing.T) {
	for name, refuse := range sessionRefusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &forgetful{refuse: refuse}
			s := start(t, &upstream.Config{URL: serve(t, f).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
			for n := 1; n <= 2; n++ {
				if got := s.text(t, "write", "{}", nil); got != "done" {
					t.Fatalf("call %d: %s", n, got)
				}
				f.forget()
			}
			if got := s.text(t, "write", "{}", nil); got != "done" {
				t.Fatalf("the last call: %s", got)
			}
			if sessions, ran := f.counts(); sessions != 3 || ran != 3 {
				t.Errorf("%d sessions were opened and %d calls carried out, want 3 and 3", sessions, ran)
			}
		})
	}
}

// A subscription over a session that the server forgot is made on a new one.
func TestSubscribeForgottenSession(t *testing.T) {
	f := &forgetful{refuse: sessionRefusals["401"]}
	s := start(t, &upstream.Config{URL: serve(t, f).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	f.forget()
	if err := s.Features().Subscribe(t.Context(), "x://r", true); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sessions != 2 || f.asks != 1 {
		t.Errorf("%d sessions were opened and %d subscriptions made, want 2 and 1", f.sessions, f.asks)
	}
}

// A refusal that concerns one call ends that call, not the session and the calls of
// others.
func TestRefusedCallKeepsSession(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter, *message){
		"401":              refuseWith(401, "text/plain", "log in first"),
		"403":              refuseWith(403, "text/plain", "not yours"),
		"404":              refuseWith(404, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no such method"}}`),
		"404 of the data":  refuseWith(404, "text/plain", "no such file"),
		"422":              refuseWith(422, "text/plain", "a is missing"),
		"429":              refuseWith(429, "text/plain", "too many sessions"),
		"500":              refuseWith(500, "text/plain", "oops"),
		"another session":  refuseWith(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"browser session not found"}}`),
		"another session2": refuseWith(400, "text/plain", "the session with the database has expired"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &forgetful{hangs: make(chan struct{})}
			srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var m message
				if _ = json.Unmarshal(body, &m); m.Method == "tools/call" && m.param("name") == `"write"` {
					refuse(w, &m)
					return
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				f.ServeHTTP(w, r)
			}))
			s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
			other := make(chan string, 1)
			go func() { other <- s.text(t, "hang", "{}", nil) }()
			<-f.hangs
			for range 3 {
				r, err := s.call(t.Context(), &toolpost.Call{Name: "write", Arguments: []byte("{}")})
				if err == nil && !r.IsError() {
					t.Error("the call succeeded")
				}
			}
			f.hangs <- struct{}{}
			if got := <-other; got != "hung" {
				t.Errorf("the call of another client: %s", got)
			}
			if sessions, _ := f.counts(); sessions != 1 {
				t.Errorf("%d sessions were opened", sessions)
			}
		})
	}
}

// Where a new session is refused like the old one, the caller gets the reason, and the
// server few requests.
func TestNewSessionIsRefusedToo(t *testing.T) {
	f := &forgetful{refuse: sessionRefusals["401 without words"]}
	var handshakes int
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		if r.Header.Get("Mcp-Session-Id") == "" {
			handshakes++
		}
		f.mu.Unlock()
		f.ServeHTTP(w, r)
	}))
	u, err := upstream.Start(&upstream.Config{Name: "srv", URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"},
		&upstream.Options{Patience: time.Millisecond, Backoff: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s := (&server{changed: make(chan struct{}, 1)}).watch(t, u).ready(t)
	f.mu.Lock()
	f.known, f.closed = nil, true
	f.mu.Unlock()
	if got := s.text(t, "write", "{}", nil); !strings.Contains(got, "It was not carried out") {
		t.Errorf("got %s", got)
	}
	s.until(t, "it has failed", func() bool { return s.Status().State == upstream.Failed })
	if got := s.Status().Err.Error(); !strings.Contains(got, "no longer knows our session") && !strings.Contains(got, "401 Unauthorized; give it credentials") {
		t.Errorf("got %s", got)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if handshakes > 3 || f.ran != 0 {
		t.Errorf("%d handshakes, %d calls carried out", handshakes, f.ran)
	}
}

// A call whose stream broke is not repeated because its session is gone as well: it
// may have been carried out.
func TestCutCallOfForgottenSession(t *testing.T) {
	f := &forgetful{refuse: sessionRefusals["404"]}
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"hang"`):
			f.forget()
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata:\n\n")
			return
		case r.Header.Get("Last-Event-ID") != "":
			f.refuse(w, &message{ID: json.RawMessage("1")})
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		f.ServeHTTP(w, r)
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
	if got := s.text(t, "hang", "{}", nil); !strings.Contains(got, "It may have been carried out") {
		t.Errorf("got %s", got)
	}
	if got := s.text(t, "write", "{}", nil); got != "done" {
		t.Errorf("the next call: %s", got)
	}
	if sessions, ran := f.counts(); sessions != 2 || ran != 1 {
		t.Errorf("%d sessions were opened and %d calls carried out", sessions, ran)
	}
}

// A legacy SSE server behind a balancer forgets the session while its stream is open.
func TestForgottenSSESession(t *testing.T) {
	var mu sync.Mutex
	var known, sessions, ran int
	streams := map[string]chan string{}
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			mu.Lock()
			sessions++
			known = sessions
			id, out := fmt.Sprint(sessions), make(chan string, 10)
			streams[id] = out
			mu.Unlock()
			openStream(w)
			fmt.Fprintf(w, "event: endpoint\ndata: /m?s=%s\n\n", id)
			for {
				w.(http.Flusher).Flush()
				select {
				case text := <-out:
					fmt.Fprintf(w, "data: %s\n\n", text)
				case <-r.Context().Done():
					return
				}
			}
		}
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		id := r.URL.Query().Get("s")
		mu.Lock()
		defer mu.Unlock()
		if id != fmt.Sprint(known) {
			http.Error(w, "Could not find session", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		answer := `{}`
		switch m.Method {
		case "initialize":
			answer = `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			answer = "{" + oneTool + "}"
		case "tools/call":
			ran++
			answer = `{"content":[{"type":"text","text":"done"}]}`
		}
		if m.ID != nil {
			streams[id] <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)
		}
	}))
	s := start(t, &upstream.Config{URL: srv.URL + "/sse", Transport: upstream.SSE}).ready(t)
	mu.Lock()
	known = 0
	mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if r, err := s.call(ctx, &toolpost.Call{Name: "t", Arguments: []byte("{}")}); err != nil || r.IsError() {
		t.Fatal(r, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if sessions != 2 || ran != 1 {
		t.Errorf("%d sessions were opened and %d calls carried out, want 2 and 1", sessions, ran)
	}
}

// Calls under way when a session turns out to be lost get what the server answers
// them. One that failed in other words than those for the session is not repeated: it may
// have been carried out.
func TestCallsUnderWayAsSessionIsLost(t *testing.T) {
	for name, test := range map[string]struct {
		hung func(w http.ResponseWriter, m *message)
		want string
	}{
		"result":             {nil, "hung"},
		"error of the tool":  {refuseWith(200, "application/json", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"database session rollback failed"}}`), "rollback"},
		"status of a proxy":  {refuseWith(408, "text/plain", "timeout"), "408"},
		"error of a program": {refuseWith(500, "text/plain", "KeyError: the session of the shop"), "500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &forgetful{refuse: sessionRefusals["404"], hangs: make(chan struct{}), hung: test.hung}
			s := start(t, &upstream.Config{URL: serve(t, f).URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
			other := make(chan string, 1)
			go func() {
				r, err := s.call(t.Context(), &toolpost.Call{Name: "hang", Arguments: []byte("{}")})
				raw, _ := json.Marshal(r)
				other <- fmt.Sprint(string(raw), err)
			}()
			<-f.hangs
			f.forget()
			if got := s.text(t, "write", "{}", nil); got != "done" {
				t.Fatal(got)
			}
			select {
			case f.hangs <- struct{}{}:
			case got := <-other:
				t.Fatalf("the call under way: %s", got)
			}
			select {
			case got := <-other:
				if !strings.Contains(got, test.want) {
					t.Errorf("the call under way: %s", got)
				}
			case <-f.hangs:
				t.Error("the call was repeated")
				f.hangs <- struct{}{}
			}
		})
	}
}
