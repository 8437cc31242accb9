package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
)

// An ear is a client of the session era that hears what comes on all its streams.
type ear struct {
	t     *testing.T
	send  func(message string)
	heard chan wire.Message
	calls int
}

// hearing opens a session over a transport.
func hearing(t *testing.T, s *mcpserver.Server, transport string) *ear {
	e := &ear{t: t, heard: make(chan wire.Message, 100)}
	var listen func()
	if transport == "stdio" {
		in, client := io.Pipe()
		server, out := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.ServeStdio(t.Context(), in, out)
		}()
		t.Cleanup(func() { client.Close(); out.Close(); <-done })
		go e.read(server, "")
		e.send = func(message string) { io.WriteString(client, message+"\n") }
	} else {
		listen = e.overHTTP(s, transport == "sse")
	}
	e.call("initialize", `{"protocolVersion":"`+wire.LastSession+`","capabilities":{},"clientInfo":{"name":"ear","version":"1"}}`)
	if listen != nil {
		listen()
	}
	return e
}

// overHTTP returns what opens the stream of the session.
func (e *ear) overHTTP(s *mcpserver.Server, sse bool) (listen func()) {
	h := httptest.NewServer(s)
	e.t.Cleanup(h.Close)
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	do := func(method, url, body string) *http.Response {
		r, err := http.NewRequestWithContext(e.t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			e.t.Fatal(err)
		}
		r.Header = header.Clone()
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			e.t.Fatal(err)
		}
		return resp
	}
	if sse {
		stream := do(http.MethodGet, h.URL+"/sse", "")
		lines := bufio.NewReader(stream.Body)
		_, _ = lines.ReadString('\n')
		address, err := lines.ReadString('\n')
		if err != nil {
			e.t.Fatal(err)
		}
		go e.read(lines, "data: ")
		e.send = func(message string) {
			do(http.MethodPost, h.URL+strings.TrimSpace(strings.TrimPrefix(address, "data: ")), message).Body.Close()
		}
		return nil
	}
	e.send = func(message string) {
		resp := do(http.MethodPost, h.URL+"/mcp", message)
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			header.Set("Mcp-Session-Id", id)
		}
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			e.read(resp.Body, "data: ")
		} else {
			e.read(resp.Body, "")
		}
		resp.Body.Close()
	}
	return func() {
		stream := do(http.MethodGet, h.URL+"/mcp", "")
		go e.read(stream.Body, "data: ")
	}
}

func (e *ear) read(r io.Reader, prefix string) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			for _, m := range wire.Read([]byte(text)) {
				e.heard <- m
			}
		}
	}
}

// call makes a call, and returns its result.
func (e *ear) call(method, params string) string {
	e.t.Helper()
	e.calls++
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.calls, method, params))
	m := e.next()
	if m.Method != "" {
		e.t.Errorf("heard %s %s before the response to %s", m.Method, m.Params, method)
	}
	return string(m.Result) + string(m.Err)
}

func (e *ear) next() (m wire.Message) {
	e.t.Helper()
	select {
	case m = <-e.heard:
	case <-time.After(time.Minute):
		e.t.Fatal("nothing is heard")
	}
	return m
}

// say makes the server say something outside of calls.
func (e *ear) say(method, params string) {
	message := `{"jsonrpc":"2.0","method":"` + method + `"}`
	if params != "" {
		message = `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
	}
	e.send(`{"jsonrpc":"2.0","method":"notifications/echo/say","params":{"message":` + message + `}}`)
}

func (e *ear) want(method, params string) {
	e.t.Helper()
	if m := e.next(); m.Method != method || string(m.Params) != params {
		e.t.Errorf("heard %s %s, want %s %s", m.Method, m.Params, method, params)
	}
}

// What a server says outside of calls reaches the clients that it can be for, and
// nobody else.
func TestNotificationsOutsideOfCalls(t *testing.T) {
	for _, below := range []string{"http", "stdio"} {
		for _, above := range []string{"http", "sse", "stdio"} {
			t.Run(below+" to "+above, func(t *testing.T) {
				s := openGateway(t, `{"mcpServers":{"x":`+extendedEntry(t, below, wire.LastSession)+`,"prefix":""}}}`)
				a, b := hearing(t, s, above), hearing(t, s, above)
				const status = "notifications/tasks/status"
				a.call("tools/call", `{"name":"job","task":{}}`)
				a.say("notifications/echo/private", `{ "n":1.0}`)
				a.say(status, `{"taskId":"2"}`) // is nobody's
				a.say("notifications/echo/changed", `{"_meta":{"of":"a"}}`)
				a.want("notifications/echo/private", `{ "n":1.0}`)
				a.want("notifications/echo/changed", "")
				b.want("notifications/echo/changed", "")

				b.call("tools/call", `{"name":"job","task":{}}`)
				a.say("notifications/echo/private", `{ "n":1.0}`) // nothing says whose it is
				a.say(status, `{"taskId":"2", "status":"working","n":1.0}`)
				a.say(status, `{"taskId":"1", "status":"completed"}`)
				a.say("notifications/echo/result", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"2"}},"n":1.0}`)
				a.say(status, `{"TaskId":"1","taskId":2}`)
				a.say("notifications/message", `{"level":"error","data":"private"}`)
				a.say("notifications/echo/changed", "")
				a.want(status, `{"taskId":"1", "status":"completed"}`)
				a.want("notifications/echo/changed", "")
				b.want(status, `{"taskId":"2", "status":"working","n":1.0}`)
				b.want("notifications/echo/result", `{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"2"}},"n":1.0}`)
				b.want("notifications/echo/changed", "")
			})
		}
	}
}

// Whoever shares the processes of a server, what it says about a task reaches the client of
// the task, and only it.
func TestTaskStatusOfSharedProcesses(t *testing.T) {
	for _, share := range []string{"always", "auto", "per-client", "per-session"} {
		for _, above := range []string{"http", "sse", "stdio"} {
			t.Run(share+" to "+above, func(t *testing.T) {
				s := openGateway(t, `{"mcpServers":{"x":`+extendedEntry(t, "stdio", wire.LastSession)+`,"share":"`+share+`","prefix":""}}}`)
				a, b := hearing(t, s, above), hearing(t, s, above)
				const status = "notifications/tasks/status"
				for _, e := range []*ear{a, b} {
					id := wire.Unquote(wire.Get(wire.Get([]byte(e.call("tools/call", `{"name":"job","task":{}}`)), "task"), "taskId"))
					e.say(status, `{"taskId":"`+id+`","status":"working"}`)
					e.want(status, `{"taskId":"`+id+`","status":"working"}`)
				}
				if len(a.heard) > 0 || len(b.heard) > 0 {
					t.Error("a client heard of a task of another")
				}
			})
		}
	}
}
