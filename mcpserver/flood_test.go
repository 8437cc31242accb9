package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/schema"
)

// What a client can send without end. The verbs are a number and members of the
// envelope.
var clientFloods = map[string]string{
	"ping":              `{"jsonrpc":"2.0","id":"q%d","method":"ping"%s}`,
	"list":              `{"jsonrpc":"2.0","id":"q%d","method":"tools/list"%s}`,
	"calls that wait":   `{"jsonrpc":"2.0","id":"q%d","method":"tools/call"%s,"params":{"name":"wait"}}`,
	"calls that ask":    `{"jsonrpc":"2.0","id":"q%d","method":"tools/call"%s,"params":{"name":"ask"}}`,
	"long results":      `{"jsonrpc":"2.0","id":"q%d","method":"tools/call"%s,"params":{"name":"long"}}`,
	"unknown":           `{"jsonrpc":"2.0","id":"q%d","method":"unknown"%s}`,
	"extension request": `{"jsonrpc":"2.0","id":"q%d","method":"x/y"%s}`,
	"long id":           `{"jsonrpc":"2.0","id":"q%d` + strings.Repeat("x", 1000) + `","method":"ping"%s}`,
	"same id":           `{"jsonrpc":"2.0","id":1,"method":"tools/call"%[2]s,"params":{"name":"wait","n":%[1]d}}`,
	"initialize":        `{"jsonrpc":"2.0","id":"q%d","method":"initialize"%s,"params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`,
	"subscribe":         `{"jsonrpc":"2.0","id":"q%[1]d","method":"resources/subscribe"%[2]s,"params":{"uri":"x:%[1]d"}}`,
	"read":              `{"jsonrpc":"2.0","id":"q%[1]d","method":"resources/read"%[2]s,"params":{"uri":"x:%[1]d"}}`,
	"completion":        `{"jsonrpc":"2.0","id":"q%d","method":"completion/complete"%s,"params":{"ref":{},"argument":{}}}`,
	"level":             `{"jsonrpc":"2.0","id":"q%d","method":"logging/setLevel"%s,"params":{"level":"debug"}}`,
	"cancelled":         `{"jsonrpc":"2.0","method":"notifications/cancelled"%[2]s,"params":{"requestId":"q%[1]d"}}`,
	"progress":          `{"jsonrpc":"2.0","method":"notifications/progress"%[2]s,"params":{"progressToken":1,"progress":%[1]d}}`,
	"roots":             `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"%[2]s,"params":{"x":%[1]d}}`,
	"of an extension":   `{"jsonrpc":"2.0","method":"notifications/x/y"%[2]s,"params":{"x":%[1]d}}`,
	"answer to nobody":  `{"jsonrpc":"2.0","id":1%[1]d00000%[2]s,"result":{}}`,
	"error to nobody":   `{"jsonrpc":"2.0","id":1%[1]d00000%[2]s,"error":{"code":%[1]d,"message":"m"}}`,
	"unknown state":     `{"jsonrpc":"2.0","id":"q%[1]d","method":"tools/call"%[2]s,"params":{"name":"ask","requestState":"toolpost:%[1]d","inputResponses":{"input":{}}}}`,
	"batch":             `[{"jsonrpc":"2.0","id":"q%[1]d","method":"tools/call"%[2]s,"params":{"name":"wait"}},{"jsonrpc":"2.0","id":"r%[1]d","method":"ping"}]`,
	"garbage":           `not JSON %d%s`,
}

// modernMeta is the envelope of a request of 2026-07-28 that stands in params.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// modernized returns a message as one of 2026-07-28.
func modernized(message string) string {
	if i := strings.LastIndex(message, `"params":{`); i >= 0 {
		i += len(`"params":{`)
		return message[:i] + modernMeta + "," + message[i:]
	}
	return strings.TrimSuffix(message, "}") + `,"params":{` + modernMeta + "}}"
}

// Limits of the floods: small, so that few messages reach them.
var (
	floodLimit  = budget.Limit{Number: 100, Bytes: 4 << 20}
	parkedLimit = budget.Limit{Number: 20, Bytes: 2 << 20}
)

// A floodedServer serves the floods of client "a" and the calls of client "b".
type floodedServer struct {
	*Server
	source *watchedSource
	conns  chan net.Conn
	http   *http.Server
	flood  int // connections of a flood; each waits with one request
}

type watchedSource struct {
	toolpost.Base
	tools    []*toolpost.Tool
	features *toolpost.Features
}

func (s *watchedSource) Tools(context.Context) ([]*toolpost.Tool, error) { return s.tools, nil }
func (s *watchedSource) Features() *toolpost.Features                    { return s.features }
func (s *watchedSource) Ready(context.Context) error                     { return nil }

func (s *floodedServer) Accept() (net.Conn, error) {
	if c, ok := <-s.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (s *floodedServer) Addr() net.Addr { return &net.TCPAddr{} }
func (s *floodedServer) Close() error   { return nil }

// dial returns the end of a connection whose other one is served. It holds nothing, so
// that a client that does not read is noticed at once.
func (s *floodedServer) dial() net.Conn {
	client, server := net.Pipe()
	s.conns <- server
	return client
}

func newFlooded(t *testing.T) *floodedServer {
	tool := func(name string, h toolpost.Handler) *toolpost.Tool {
		return &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)}, Handler: h, Policy: toolpost.Policy{SkipValidation: true}}
	}
	source := &watchedSource{tools: []*toolpost.Tool{
		tool("wait", func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		tool("ask", func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			raw, err := call.Caller.Request(ctx, "elicitation/create", json.RawMessage(`{"message":"m","requestedSchema":{"type":"object","properties":{}}}`))
			return toolpost.TextResult(string(raw)), err
		}),
		tool("long", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(strings.Repeat("x", 400<<10)), nil
		}),
		tool("echo", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult("here"), nil
		}),
	}, features: &toolpost.Features{
		Subscribe: func(context.Context, string, bool) error { return nil },
		Proxy: toolpost.Proxy{
			ReadUnlisted: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.RawResult([]byte(`{"contents":[]}`)), nil
			},
		},
	}}
	server, err := New(t.Context(), source, &Options{Limits: Limits{Body: 1 << 20, Sessions: 80, ClientSessions: 20}, Identity: func(r *http.Request) string { return r.Header.Get("X-Who") }})
	if err != nil {
		t.Fatal(err)
	}
	server.core.held, server.core.parked.held = newHolders(floodLimit), newHolders(parkedLimit)
	s := &floodedServer{Server: server, source: source, conns: make(chan net.Conn)}
	s.http = &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(s) }()
	return s
}

// end ends the server, and reports what is still held then.
func (s *floodedServer) end(t *testing.T) {
	t.Helper()
	close(s.conns)
	_ = s.http.Close()
	if err := s.Server.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Second) // of the bubble: the HTTP server lingers
	synctest.Wait()
	for _, who := range []quotaHolder{{identity: "a"}, {}} {
		for what, of := range map[string]*holders{"messages": s.core.held, "parked calls": s.core.parked.held, "watched resources": s.core.changes.watched} {
			if held := of.Of(who).Held(); held != (budget.Limit{}) {
				t.Errorf("%s: %+v is held after the end", what, held)
			}
		}
	}
}

// neighbour calls as another client.
func (s *floodedServer) neighbour(t *testing.T) {
	t.Helper()
	w := s.handle("b", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "", "")
	session := w.Header().Get(sessionHeader)
	for _, got := range []*httptest.ResponseRecorder{
		s.handle("b", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`, "2025-11-25", session),
		s.handle("b", modernized(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`), "2026-07-28", ""),
		s.handle("b", modernized(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`), "2026-07-28", ""),
	} {
		if !strings.Contains(got.Body.String(), "here") && !strings.Contains(got.Body.String(), "input_required") {
			t.Errorf("the neighbour: %d %.200s", got.Code, got.Body)
		}
	}
}

func (s *floodedServer) handle(who, body, version, session string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
	r.Header = headerFor(who, body, version, session)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func headerFor(who, body, version, session string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "X-Who": {who}, "Accept": {"application/json, text/event-stream"}}
	if version != "" {
		h.Set(versionHeader, version)
	}
	if session != "" {
		h.Set(sessionHeader, session)
	}
	if version == "2026-07-28" {
		var m struct {
			Method string
			Params struct{ Name, URI string }
		}
		_ = json.Unmarshal([]byte(body), &m)
		h.Set(methodHeader, m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			h.Set(nameHeader, name)
		}
	}
	return h
}

// send writes a POST, and does not read the answer.
func send(c net.Conn, path, body string, h http.Header) error {
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", path, len(body))
	_ = h.Write(&b)
	_, err := io.WriteString(c, b.String()+"\r\n"+body)
	return err
}

func heapSize() int64 {
	for range 2 { // the second collection frees what pools and finalizers held
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A flood sends messages of one client until they are not taken any more. Each message
// is made for a number. It returns when the client leaves.
type flood func(s *floodedServer, message func(int) string, leave <-chan struct{})

func floodPosts(path func(s *floodedServer) (path, version, session string)) flood {
	return func(s *floodedServer, message func(int) string, leave <-chan struct{}) {
		where, version, session := path(s)
		var all sync.WaitGroup
		for n := range s.flood {
			c := s.dial()
			all.Go(func() {
				for i := 0; i < 20; i++ {
					body := message(n*20 + i)
					if send(c, where, body, headerFor("a", body, version, session)) != nil {
						return
					}
				}
			})
			all.Go(func() {
				<-leave
				c.Close()
			})
		}
		all.Wait()
	}
}

var floods = map[string]flood{
	"stdio": func(s *floodedServer, message func(int) string, leave <-chan struct{}) {
		in, toServer := net.Pipe()
		fromServer, out := net.Pipe()
		var all sync.WaitGroup
		all.Go(func() { _ = s.ServeStdio(context.Background(), in, out) })
		all.Go(func() {
			_, _ = io.WriteString(toServer, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}}}}`+"\n")
			_, _ = bufio.NewReader(fromServer).ReadString('\n')
			for i := range 4 * s.flood {
				if _, err := io.WriteString(toServer, message(i)+"\n"); err != nil {
					return
				}
			}
		})
		<-leave
		toServer.Close()
		fromServer.Close()
		all.Wait()
	},
	"SSE": func(s *floodedServer, message func(int) string, leave <-chan struct{}) {
		stream := s.dial()
		_, _ = io.WriteString(stream, "GET /sse HTTP/1.1\r\nHost: localhost\r\nX-Who: a\r\n\r\n")
		endpoint := ""
		for lines := bufio.NewScanner(stream); endpoint == "" && lines.Scan(); {
			endpoint, _ = strings.CutPrefix(lines.Text(), "data: ")
			if !strings.HasPrefix(lines.Text(), "data: ") {
				endpoint = ""
			}
		}
		floodPosts(func(*floodedServer) (path, version, session string) { return endpoint, "", "" })(s, message, leave)
		stream.Close()
	},
	"sessions": floodPosts(func(s *floodedServer) (path, version, session string) {
		w := s.handle("a", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"elicitation":{}}}}`, "", "")
		return "/mcp", "", w.Header().Get(sessionHeader)
	}),
	"without sessions": floodPosts(func(*floodedServer) (path, version, session string) { return "/mcp", "2026-07-28", "" }),
}

// drown floods a server, and looks at what it holds when it takes no more, and at a
// neighbour. Afterwards nothing is left, which also the end of the bubble checks. All floods
// of a test share the size of the heap before: to collect garbage took longer than a flood.
func drown(t *testing.T, before int64, f flood, connections int, message func(int) string) {
	synctest.Test(t, func(t *testing.T) {
		s := newFlooded(t)
		s.flood = connections
		leave := make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() { f(s, message, leave) })
		synctest.Wait()
		if grown := heapSize() - before; grown > 24<<20+int64(connections)*int64(len(message(0))) {
			t.Errorf("the heap has grown by %d KiB", grown>>10)
		}
		s.neighbour(t)
		if n := runtime.NumGoroutine(); n > 8*connections+500 { // both ends of the connections are here
			t.Errorf("there are %d goroutines", n)
		}
		close(leave)
		done.Wait()
		s.neighbour(t)
		s.end(t)
	})
}

// A client that sends without end and reads nothing neither fills the memory nor takes
// the room of other clients, whatever it sends and over whichever transport.
func TestFloods(t *testing.T) {
	before := heapSize()
	for transport, f := range floods {
		for kind, message := range clientFloods {
			t.Run(transport+"/"+kind, func(t *testing.T) {
				drown(t, before, f, 150, func(i int) string { return asVersion(transport, fmt.Sprintf(message, i, "")) })
			})
		}
	}
}

// Large messages are counted as a whole, also if little of them is used.
func TestFloodsOfLargeMessages(t *testing.T) {
	pad := `,"pad":"` + strings.Repeat("x", 300<<10) + `"`
	before := heapSize()
	for transport, f := range floods {
		for _, kind := range []string{"calls that wait", "calls that ask", "of an extension", "answer to nobody", "batch", "garbage"} {
			t.Run(transport+"/"+kind, func(t *testing.T) {
				drown(t, before, f, 40, func(i int) string { return asVersion(transport, fmt.Sprintf(clientFloods[kind], i, pad)) })
			})
		}
	}
}

// A client may send bodies slowly, open sessions and streams, and read nothing.
func TestFloodsOfConnections(t *testing.T) {
	before := heapSize()
	session := func(s *floodedServer) string {
		return s.handle("a", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`, "", "").Header().Get(sessionHeader)
	}
	for name, request := range map[string]func(s *floodedServer) string{
		"slow bodies": func(*floodedServer) string {
			return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Who: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat(" ", 200<<10)
		},
		"slow bodies of no length": func(*floodedServer) string {
			return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Who: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nf4240\r\n" + strings.Repeat(" ", 200<<10)
		},
		"streams of a session each": func(s *floodedServer) string {
			return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Who: a\r\nMcp-Session-Id: " + session(s) + "\r\n\r\n"
		},
		"SSE": func(*floodedServer) string { return "GET /sse HTTP/1.1\r\nHost: localhost\r\nX-Who: a\r\n\r\n" },
		"subscriptions": func(s *floodedServer) string {
			body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + modernMeta + `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x:1","x:2"]}}}`
			return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Who: a\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			drown(t, before, func(s *floodedServer, _ func(int) string, leave <-chan struct{}) {
				var all sync.WaitGroup
				for range s.flood {
					c := s.dial()
					all.Go(func() { _, _ = io.WriteString(c, request(s)) }) // the server may have closed it
					all.Go(func() {
						<-leave
						c.Close()
					})
				}
				all.Go(func() {
					for i := range 300 {
						s.source.Notify(toolpost.Event{Resource: "x:1"})
						s.source.Notify(toolpost.Event{Notification: &toolpost.Call{Name: "notifications/x/y", Params: fmt.Appendf(nil, `{"n":%d,"x":%q}`, i, strings.Repeat("x", 1000))}})
					}
				})
				all.Wait()
			}, 100, func(int) string { return strings.Repeat(" ", 200<<10) })
		})
	}
}

func asVersion(transport, message string) string {
	if transport == "without sessions" && message[0] == '{' {
		return modernized(message)
	}
	return message
}
