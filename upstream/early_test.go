package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// legacy is a server of 2024-11-05 whose stream begins with a text, in which ENDPOINT
// stands for the event that names the second address. The other channel brings the
// answers to its requests.
func legacy(t *testing.T, begin string) (address string, answers <-chan string) {
	out, got := make(chan string, 10), make(chan string, 1000)
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			openStream(w)
			fmt.Fprint(w, strings.ReplaceAll(strings.ReplaceAll(begin, "ENDPOINT", "event: endpoint\ndata: /m\n\n"), "HOST", strings.ToLower(r.Host)))
			for {
				w.(http.Flusher).Flush()
				select {
				case text := <-out:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
				case <-r.Context().Done():
					return
				}
			}
		}
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.WriteHeader(http.StatusAccepted)
		switch {
		case m.Method == "" && m.ID != nil:
			got <- string(m.ID)
		case m.ID == nil:
		case m.Method == "initialize":
			out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}}`, m.ID)
		case m.Method == "tools/list":
			out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, oneTool)
		default:
			out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}`, m.ID)
		}
	}))
	return srv.URL, got
}

// Whatever a legacy server sends before it names its second address, it connects.
func TestBeforeEndpoint(t *testing.T) {
	for _, begin := range []string{
		"ENDPOINT",
		": hi\n\nENDPOINT",
		":" + strings.Repeat(" ", 2048) + "\n\nENDPOINT",
		"retry: 1000\n\nENDPOINT",
		"retry: 1000\nENDPOINT",
		"\uFEFF\n\n\nENDPOINT",
		"id: 0\nevent: connected\ndata: {\"clientId\":\"1\"}\n\nENDPOINT",
		"event: ping\n\nENDPOINT",
		"event: ping\ndata: x\n\nevent: open\ndata: {}\n\nevent: heartbeat\ndata: {\"t\":1}\n\nENDPOINT",
		"data:\n\nENDPOINT",
		"data: hello\n\nENDPOINT",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\nENDPOINT",
		"data: " + strings.Repeat("x", 1<<17) + "\n\nENDPOINT",
		strings.Repeat("event: ping\ndata: x\n\n", 5000) + "ENDPOINT",
		strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n", 5000) + "ENDPOINT",
		"event: endpoint\ndata:  /m \n\n",
		"event: endpoint\r\ndata: http://HOST/m\r\n\r\n",
	} {
		address, _ := legacy(t, begin)
		s := start(t, &upstream.Config{URL: address, Transport: upstream.SSE})
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("%.60q: %v", begin, err)
			continue
		}
		if got := s.text(t, "t", "{}", nil); got != "ok" {
			t.Errorf("%.60q: got %s", begin, got)
		}
	}
}

// A request that comes before the address of its answer is answered, once there is one.
// There is a limit.
func TestRequestBeforeEndpoint(t *testing.T) {
	address, answers := legacy(t, `data: {"jsonrpc":"2.0","id":"early","method":"ping"}`+"\n\nENDPOINT")
	start(t, &upstream.Config{URL: address, Transport: upstream.SSE}).ready(t)
	if got := <-answers; got != `"early"` {
		t.Errorf("got %s", got)
	}
	const sent = 500
	address, answers = legacy(t, strings.Repeat(`data: {"jsonrpc":"2.0","id":"early","method":"ping"}`+"\n\n", sent)+"ENDPOINT")
	s := start(t, &upstream.Config{URL: address, Transport: upstream.SSE}).ready(t)
	s.Close()
	if n := len(answers); n >= sent {
		t.Errorf("%d of %d early requests were answered", n, sent)
	}
}

// The address of the second endpoint may write the origin of the first in another way.
func TestEndpointOfSameOrigin(t *testing.T) {
	address, _ := legacy(t, "event: endpoint\ndata: http://HOST/m\n\n")
	address = strings.Replace(address, "127.0.0.1", "LOCALHOST", 1)
	s := start(t, &upstream.Config{URL: address, Transport: upstream.SSE}).ready(t)
	if got := s.text(t, "t", "{}", nil); got != "ok" {
		t.Errorf("got %s", got)
	}
}

// One message that cannot be sent over legacy SSE ends one call: those of others, the
// stream and the session stay.
func TestCutPostOverSSE(t *testing.T) {
	var cut, sessions atomic.Int64
	release := make(chan struct{})
	out := make(chan string, 10)
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			sessions.Add(1)
			openStream(w)
			fmt.Fprint(w, "event: endpoint\ndata: /m\n\n")
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
		answer := `{"content":[]}`
		switch {
		case m.Method == "initialize":
			answer = `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"0"}}`
		case m.Method == "tools/list":
			answer = `{"tools":[{"name":"slow","inputSchema":{}},{"name":"cut","inputSchema":{}},{"name":"read","inputSchema":{},"annotations":{"readOnlyHint":true}}]}`
		case m.param("name") == `"cut"`, m.param("name") == `"read"` && cut.Add(1) == 1:
			panic(http.ErrAbortHandler)
		case m.param("name") == `"slow"`:
			id := m.ID
			go func() {
				release <- struct{}{}
				<-release
				out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"slow"}]}}`, id)
			}()
			m.ID = nil
		}
		w.WriteHeader(http.StatusAccepted)
		if m.ID != nil {
			out <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)
		}
	}))
	s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.SSE}).ready(t)
	slow := make(chan string, 1)
	go func() { slow <- s.text(t, "slow", "{}", nil) }()
	<-release
	if got := s.text(t, "cut", "{}", nil); !strings.Contains(got, "It may have been carried out") {
		t.Errorf("got %s", got)
	}
	if r, err := s.call(t.Context(), &toolpost.Call{Name: "read", Arguments: []byte("{}")}); err != nil || r.IsError() {
		t.Errorf("a call that only reads: %v %v", r, err)
	}
	release <- struct{}{}
	if got := <-slow; got != "slow" {
		t.Errorf("the call of another client: %s", got)
	}
	if n := sessions.Load(); n != 1 {
		t.Errorf("%d streams were opened", n)
	}
}
