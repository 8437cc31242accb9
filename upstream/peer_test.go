package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/upstream"
)

// A process that takes long to start is started once, and gets each request of
// the handshake once: its first answer is waited for, however short the probe.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"":           "initialize notifications/initialized tools/list tools/call",
		"2026-07-28": "server/discover initialize notifications/initialized tools/list tools/call",
	} {
		gate, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer gate.Close()
		var starts atomic.Int32
		open := make(chan struct{})
		go func() {
			for c, err := gate.Accept(); err == nil; c, err = gate.Accept() {
				starts.Add(1)
				<-open
				c.Close()
			}
		}()
		cfg := child(t, "recites", "GATE", gate.Addr().String())
		cfg.ProbeTimeout, cfg.ProtocolVersion = 10*time.Millisecond, version
		s := start(t, cfg)
		early, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond) // 50 times the probe
		if err := s.Ready(early); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ready before the server has answered: %v", err)
		}
		cancel()
		close(open)
		s.ready(t)
		if got := s.text(t, "t", "", nil); got != want || starts.Load() != 1 {
			t.Errorf("%s: started %d times, got %s, want %s", version, starts.Load(), got, want)
		}
	}
}

// recites is a server whose tool returns the methods that it was sent.
func recites(o *odd) {
	if c, err := net.Dial("tcp", o.gate); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	var methods []string
	o.call = func(m *message) { o.text(m, strings.Join(methods, " ")) }
	for m := o.next(); m != nil; m = o.next() {
		methods = append(methods, m.Method)
		o.handle(m)
	}
}

// Calls one after the other use one connection to the server, whether it answers
// with JSON or with events.
func TestConnectionIsUsedAgain(t *testing.T) {
	const small, large = `{"content":[]}`, 64 << 10
	long := `{"content":[{"type":"text","text":"` + strings.Repeat("x", large) + `"}]}`
	for name, test := range map[string]struct {
		result string
		events bool
	}{
		"JSON": {small, false}, "events": {small, true}, "much JSON": {long, false}, "long events": {long, true},
	} {
		t.Run(name, func(t *testing.T) {
			least := int64(1000)
			for try := 0; try < 20 && least > 3; try++ { // a busy system takes too long for the end of some responses
				cfg := answering(t, `{"jsonrpc":"2.0","id":$ID,"result":`+test.result+`}`, test.events)
				connections := countConnections(t, cfg)
				s := start(t, cfg).ready(t)
				for range 100 {
					if _, err := s.call(t.Context(), &toolpost.Call{Name: "t"}); err != nil {
						t.Fatal(err)
					}
				}
				least = min(least, connections.Load())
				s.Close()
			}
			if least > 3 {
				t.Errorf("100 calls used %d connections", least)
			}
		})
	}
}

// countConnections puts a server in front of that of cfg that counts connections.
func countConnections(t *testing.T, cfg *upstream.Config) *atomic.Int64 {
	var n atomic.Int64
	to := cfg.URL
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, _ := http.NewRequestWithContext(r.Context(), r.Method, to, r.Body)
		out.Header = r.Header
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.Header().Del("Content-Length") // the end is sent after the answer
		w.WriteHeader(resp.StatusCode)
		w.(http.Flusher).Flush()
		_, _ = io.Copy(w, resp.Body)
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond) // the end of the response is a packet of its own
	}))
	front.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			n.Add(1)
		}
	}
	front.Start()
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	cfg.URL = front.URL
	return &n
}

// A server that leaves its streams open after the answer delays few calls. When it no
// longer does, its connections are used again.
func TestStreamsThatStayOpen(t *testing.T) {
	end := make(chan struct{})
	var from atomic.Value // the address of the connection of the last call
	s := start(t, &upstream.Config{Transport: upstream.HTTP, ProtocolVersion: "2025-11-25", URL: serve(t, sessionless(func(w http.ResponseWriter, r *http.Request) {
		from.Store(r.RemoteAddr)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", r.Header.Get("Test-Id"))
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-end:
		}
		time.Sleep(time.Millisecond) // the end of the response is a packet of its own
	})).URL}).ready(t)
	call := func() {
		if _, err := s.call(t.Context(), &toolpost.Call{Name: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	least := time.Hour
	for i := range 200 {
		began := time.Now()
		call()
		if i >= 20 {
			least = min(least, time.Since(began))
		}
	}
	if least >= 50*time.Millisecond { // each call waited for the end of its stream
		t.Errorf("no call took less than %v", least)
	}
	close(end)
	for same, n := 0, 0; same < 5; n++ {
		if n == 5000 {
			t.Fatal("each call has a connection of its own")
		}
		before := from.Load()
		if call(); from.Load() == before {
			same++
		} else {
			same = 0
		}
	}
}

// What a server writes in a result passes as it is: white space, the order of
// members, escapes, numbers, and what nobody knows.
func TestOddResults(t *testing.T) {
	for _, result := range []string{
		"{ \t\"content\" : [ ] }", `{"content":[],"isError":false,"zeta":{"b":1,"a":2.50e+01},"_meta":{"k":12345678901234567890}}`,
		`{"structuredContent":null,"content":[{"type":"odd\u0020kind","n":-0.0,"s":"\ud83d\ude00\/"}]}`, `{"content":[{"text":"","type":"text"}],"structuredContent":[1]}`,
		`{"task":{"taskId":"1"},"resultType":"task"}`, `{}`, `{"content":7,"content":[],"isError":"yes"}`,
	} {
		for way, cfg := range ways(t, " {\t\"result\":"+result+" , \"id\" :$ID,\"odd\":1,\"jsonrpc\":\"2.0\"} ") {
			r, err := start(t, cfg).ready(t).call(t.Context(), &toolpost.Call{Name: "t"})
			if err != nil {
				t.Fatalf("%s, %s: %v", result, way, err)
			}
			if got, _ := r.MarshalJSON(); string(got) != result {
				t.Errorf("%s: got %s, want %s", way, got, result)
			}
		}
	}
}

// What a server notifies of during a call reaches the caller, also what Toolpost
// does not know. Requests that Toolpost does not know are refused, and pings are
// answered.
func TestUnknownMessages(t *testing.T) {
	s := start(t, child(t, "odd-messages")).ready(t)
	a := newAsker("session a")
	got := a.run(t, s, "")
	for _, want := range []string{`{"jsonrpc":"2.0","id":"p","result":{}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"method not found: \"odd/request\""}}`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if want := []string{`odd/thing{"n":9007199254740993, "x":[1.0]}`}; !slices.Equal(a.heard, want) {
		t.Errorf("heard %q, want %q", a.heard, want)
	}
}

func oddMessages(o *odd) {
	o.call = func(m *message) {
		o.send(`{"jsonrpc":"2.0","method":"notifications/odd/thing","params":{"n":9007199254740993, "x":[1.0]}}`)
		o.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		o.send(`{"jsonrpc":"2.0","id":7,"method":"odd/request","params":[]}`)
		o.text(m, o.next().raw+o.next().raw)
	}
	o.serve()
}

// A call of a server without sessions is cancelled by the end of its response,
// and by nothing else.
func TestCancelWithoutSession(t *testing.T) {
	reached, left := make(chan struct{}), make(chan struct{})
	var methods sync.Map
	srv := serve(t, modern(func(w http.ResponseWriter, r *http.Request, m *message) {
		methods.Store(m.Method, true)
		if strings.Contains(string(m.Params), "wait") {
			close(reached)
			<-r.Context().Done()
			close(left)
			return
		}
		result(w, m, `{"content":[{"type":"text","text":"ok"}]}`)
	}))
	s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if _, err := s.call(ctx, &toolpost.Call{Name: "t", Arguments: json.RawMessage(`{"do":"wait"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Fatal("the response was not ended")
	}
	if got := s.text(t, "t", "", nil); got != "ok" {
		t.Errorf("got %q", got)
	}
	if _, sent := methods.Load("notifications/cancelled"); sent {
		t.Error("a notification was sent too")
	}
}

// A session ends after its calls: a server may wait for them before it ends it.
func TestCloseCancelsCallsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &callServer{}
		s := start(t, &upstream.Config{URL: "http://127.0.0.1:1/mcp", ProtocolVersion: "2025-11-25", Wrap: func(*http.Transport) http.RoundTripper { return server }}).ready(t)
		var calling sync.WaitGroup
		calling.Go(func() { _, _ = s.call(t.Context(), &toolpost.Call{Name: "t"}) })
		synctest.Wait()
		s.Close()
		calling.Wait()
		if want := []string{"call " + server.call, "the session"}; !slices.Equal(server.ends, want) {
			t.Errorf("what ended was %q, want %q", server.ends, want)
		}
	})
}

// A callServer is a server in memory with one tool that never answers. It notes what ends.
type callServer struct {
	call string // the id of its call
	mu   sync.Mutex
	ends []string
}

func (s *callServer) end(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, what)
}

func (s *callServer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	switch r.Method {
	case http.MethodGet:
		answer.WriteHeader(http.StatusMethodNotAllowed)
	case http.MethodDelete:
		s.end("the session")
	case http.MethodPost:
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch m.Method {
		case "initialize":
			answer.Header().Set("Mcp-Session-Id", "1")
			result(answer, &m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`)
		case "tools/list":
			result(answer, &m, "{"+oneTool+"}")
		case "tools/call":
			s.call = string(m.ID)
			<-r.Context().Done()
			return nil, r.Context().Err()
		case "notifications/cancelled":
			s.end("call " + string(wire.Get(m.Params, "requestId")))
			answer.WriteHeader(http.StatusAccepted)
		default:
			answer.WriteHeader(http.StatusAccepted)
		}
	}
	return answer.Result(), nil
}

// A question to a client ends when the server that asks is lost.
func TestQuestionsOfLostServers(t *testing.T) {
	s := start(t, child(t, "asks-and-ends")).ready(t)
	ended := make(chan error, 1)
	if _, err := s.call(t.Context(), &toolpost.Call{Name: "t", Session: "a", Caller: waiter(ended)}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !strings.Contains(err.Error(), "exit status 1") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the client is still asked")
	}
}

func asksAndEnds(o *odd) {
	o.call = func(*message) {
		o.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?"}}`)
		o.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		o.next() // the answer to ping: the question has been read
		os.Exit(1)
	}
	o.serve()
}

// A waiter is a caller that answers no question, and tells why one ended.
type waiter chan error

func (w waiter) Notify(context.Context, string, json.RawMessage) error { return nil }

func (w waiter) Request(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	w <- context.Cause(ctx)
	return nil, context.Cause(ctx)
}
