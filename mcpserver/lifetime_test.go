//lint:file-ignore SA1019 older versions of the protocol have logging

package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

// waiter is a tool that waits until its call is canceled.
func waiter() (tool *toolpost.Tool, started chan struct{}, ended chan error) {
	started, ended = make(chan struct{}, 9), make(chan error, 9)
	return rawTool("wait", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}), started, ended
}

const waitCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`

// DELETE cancels the calls of its session, and does not wait for them.
func TestDeleteCancels(t *testing.T) {
	tool, started, ended := waiter()
	s := serve(t, nil, tool)
	session := s.session(t)
	answered := make(chan bool)
	go func() { s.post(t, waitCall, session); close(answered) }()
	soon(t, started, "the call")
	if e := s.do(t, "DELETE", "/mcp", "", session); e.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", e.status, e.body)
	}
	soon(t, ended, "the end of the call")
	soon(t, answered, "the answer")
	if e := s.post(t, ping, session); e.status != http.StatusNotFound {
		t.Errorf("after DELETE: %d %s", e.status, e.body)
	}
}

// A handler that does not heed its context does not hold up DELETE.
func TestDeleteDoesNotWait(t *testing.T) {
	started, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, nil, rawTool("wait", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		close(started)
		<-goOn
		return toolpost.TextResult("late"), nil
	}))
	session := s.session(t)
	answered := make(chan bool)
	go func() { s.post(t, waitCall, session); close(answered) }()
	soon(t, started, "the call")
	if e := s.do(t, "DELETE", "/mcp", "", session); e.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", e.status, e.body)
	}
	if e := s.post(t, ping, session); e.status != http.StatusNotFound {
		t.Errorf("after DELETE: %d %s", e.status, e.body)
	}
	close(goOn)
	soon(t, answered, "the answer of the call")
}

// A call whose client has left goes on for a while, and no longer: nobody can
// receive its result.
func TestAbandonedCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, started, ended := waiter()
		s, _ := newServer(t, nil, tool)
		session := openSession(t, s)
		ctx, leave := context.WithCancel(t.Context())
		go handle(s, ctx, "POST", waitCall, session)
		<-started
		leave()
		left := time.Now()
		<-ended
		if lasted := time.Since(left); lasted < 5*time.Second || lasted > time.Minute {
			t.Errorf("the call went on for %v", lasted)
		}
	})
}

// A broken connection is one whose first write shows that the client has left, as with
// net/http.
type brokenConnection struct {
	http.ResponseWriter
	left context.CancelFunc
}

func (b brokenConnection) Write([]byte) (int, error) {
	b.left()
	return 0, io.ErrClosedPipe
}

// So does one whose client is found to have left when a comment is written to it.
func TestAbandonedCallsEndAfterComment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, started, ended := waiter()
		s, _ := newServer(t, nil, tool)
		session := openSession(t, s)
		ctx, leave := context.WithCancel(t.Context())
		began := time.Now()
		go func() {
			defer func() { _ = recover() }() // of http.ErrAbortHandler
			s.ServeHTTP(brokenConnection{httptest.NewRecorder(), leave}, request(ctx, "POST", waitCall, session+"Accept: application/json, text/event-stream"))
		}()
		<-started
		<-ended
		if lasted := time.Since(began); lasted > time.Minute {
			t.Errorf("the call went on for %v", lasted)
		}
	})
}

// The end of an SSE stream ends its session and the calls of it.
func TestEndOfSSECancels(t *testing.T) {
	tool, started, ended := waiter()
	s := serve(t, nil, tool)
	ctx, leave := context.WithCancel(t.Context())
	events, post := s.openSSE(t, ctx, "/sse")
	post(initialize)
	soon(t, events, "the answer of initialize")
	post(waitCall)
	soon(t, started, "the call")
	leave()
	soon(t, ended, "the end of the call")
}

// openSSE opens a session of the oldest transport. The client resolves the
// address of its messages as browsers do.
func (s *served) openSSE(t *testing.T, ctx context.Context, path string) (events chan string, post func(body string) int) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	events = make(chan string, 99)
	go func() {
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- data
			}
		}
	}()
	address, err := r.URL.Parse(soon(t, events, "the address for messages"))
	if err != nil {
		t.Fatal(err)
	}
	return events, func(body string) int {
		return s.do(t, "POST", strings.TrimPrefix(address.String(), s.url), body, "").status
	}
}

// Below a prefix, clients of the oldest transport find the way back.
func TestSSEUnderPrefix(t *testing.T) {
	s := serve(t, nil, textTool("t", "x"))
	h := httptest.NewServer(http.StripPrefix("/tools", s))
	t.Cleanup(h.Close)
	under := &served{s.Server, h.URL, s.tools, h.Client()}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	for _, path := range []string{"/tools/sse", "/tools/sse/"} {
		events, post := under.openSSE(t, ctx, path)
		if status := post(initialize); status != http.StatusAccepted {
			t.Errorf("%s: %d", path, status)
			continue
		}
		if got := soon(t, events, "the answer"); !strings.Contains(got, `"result"`) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// When the input ends, calls have a moment to finish; then they are canceled.
func TestEndOfInputCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, started, ended := waiter()
		s, _ := newServer(t, nil, tool)
		in, client := io.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.ServeStdio(t.Context(), in, io.Discard) }()
		_, _ = io.WriteString(client, initialize+"\n"+waitCall+"\n")
		<-started
		_ = client.Close()
		closed := time.Now()
		<-ended
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(closed); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

type userKey struct{}

// asUser is a middleware that authenticates by a header.
func asUser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, r.Header.Get("X-User"))))
	})
}

// A handler sees the context of the request that carries its call, and not
// that of the one which opened the session.
func TestContextOfTheCall(t *testing.T) {
	s := serve(t, nil, rawTool("who", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
		user, _ := ctx.Value(userKey{}).(string)
		return toolpost.TextResult(user), ctx.Err()
	}))
	h := httptest.NewServer(asUser(s))
	t.Cleanup(h.Close)
	s.url = h.URL
	e := s.post(t, initialize, "X-User: alice\n")
	session := "Mcp-Session-Id: " + e.header.Get("Mcp-Session-Id") + "\nX-User: bob\n"
	if e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who"}}`, session); !strings.Contains(e.body, `"bob"`) {
		t.Errorf("got %s", e.body)
	}
}

// A session serves only the identity that opened it.
func TestIdentityOfASession(t *testing.T) {
	s := serve(t, &mcpserver.Options{Identity: func(r *http.Request) string { return r.Header.Get("X-User") }}, textTool("t", "x"))
	e := s.post(t, initialize, "X-User: alice\n")
	session := "Mcp-Session-Id: " + e.header.Get("Mcp-Session-Id") + "\nMcp-Protocol-Version: 2025-11-25\n"
	for _, method := range []string{"POST", "GET", "DELETE"} {
		for _, user := range []string{"X-User: bob\n", ""} {
			if e := s.do(t, method, "/mcp", ping, session+user); e.status != http.StatusForbidden {
				t.Errorf("%s by %q: %d %s", method, user, e.status, e.body)
			}
		}
	}
	if e := s.post(t, ping, session+"X-User: alice\n"); e.status != http.StatusOK {
		t.Errorf("alice: %d %s", e.status, e.body)
	}
}

// The session of a user serves only the address that it was opened at, also over SSE:
// the address may be what the user is allowed.
func TestAddressOfASession(t *testing.T) {
	live, err := toolpost.NewLive(t.Context(), toolpost.Tools{textTool("t", "x")})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, &mcpserver.Options{
		Identity: func(r *http.Request) string { return r.Header.Get("X-User") },
		Views:    &hooks{view: func(observe.Client) (*toolpost.Live, error) { return live, nil }},
	})
	e := s.do(t, "POST", "/mcp/much", initialize, "X-User: alice\n")
	session := "Mcp-Session-Id: " + e.header.Get("Mcp-Session-Id") + "\nMcp-Protocol-Version: 2025-11-25\nX-User: alice\n"
	for _, method := range []string{"POST", "GET", "DELETE"} {
		for _, path := range []string{"/mcp", "/mcp/little"} {
			if e := s.do(t, method, path, ping, session); e.status != http.StatusForbidden || !strings.Contains(e.body, "another address") {
				t.Errorf("%s %s: %d %s", method, path, e.status, e.body)
			}
		}
	}
	if e := s.do(t, "POST", "/mcp/much", ping, session); e.status != http.StatusOK {
		t.Errorf("its own address: %d %s", e.status, e.body)
	}
}

// The sessions of a user end, and those of others go on.
func TestEndSessions(t *testing.T) {
	s := serve(t, &mcpserver.Options{Identity: func(r *http.Request) string { return r.Header.Get("X-User") }}, textTool("t", "x"))
	open := func(user string) string {
		e := s.post(t, initialize, "X-User: "+user+"\n")
		return "Mcp-Session-Id: " + e.header.Get("Mcp-Session-Id") + "\nMcp-Protocol-Version: 2025-11-25\nX-User: " + user + "\n"
	}
	alice, bob := open("alice"), open("bob")
	s.Server.EndSessions(func(identity string) bool { return identity == "alice" })
	if e := s.post(t, ping, alice); e.status != http.StatusNotFound {
		t.Errorf("alice: %d %s", e.status, e.body)
	}
	if e := s.post(t, ping, bob); e.status != http.StatusOK {
		t.Errorf("bob: %d %s", e.status, e.body)
	}
}

// A stuckWriter is the response to a client that stops reading after some writes.
type stuckWriter struct {
	*httptest.ResponseRecorder
	reads    int
	mu       sync.Mutex
	deadline time.Time
	wrote    chan struct{}
}

func (w *stuckWriter) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = t
	return nil
}

func (w *stuckWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	reads, deadline := w.reads, w.deadline
	w.reads--
	if reads > 0 {
		_, _ = w.ResponseRecorder.Write(b)
	}
	w.mu.Unlock()
	if reads > 0 {
		w.wrote <- struct{}{}
		return len(b), nil
	}
	if deadline.IsZero() {
		select {} // for ever
	}
	time.Sleep(time.Until(deadline))
	return 0, errors.New("write deadline")
}

// A client that does not read loses its session. Others do not wait for it.
func TestStuckReader(t *testing.T) {
	for _, transport := range []string{"sse", "mcp"} {
		synctest.Test(t, func(t *testing.T) {
			s, src := newServer(t, nil, textTool("t", "x"))
			session := openSession(t, s)
			gone := make(chan struct{}, 9)
			for range 3 {
				stuck := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), reads: 1, wrote: make(chan struct{}, 9)}
				if transport == "sse" {
					stuck.reads = 2 // also the answer to initialize
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/"+transport, nil)
				if transport == "mcp" {
					_, id, _ := strings.Cut(openSession(t, s), "Mcp-Session-Id: ")
					r.Header.Set("Mcp-Session-Id", strings.TrimSpace(id))
				}
				go func() {
					s.ServeHTTP(stuck, r)
					gone <- struct{}{}
				}()
				if synctest.Wait(); transport == "sse" {
					stuck.mu.Lock()
					_, query, _ := strings.Cut(strings.TrimSpace(stuck.Body.String()), "?")
					stuck.mu.Unlock()
					post := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/sse?"+query, strings.NewReader(initialize))
					post.Header.Set("Content-Type", "application/json")
					s.ServeHTTP(httptest.NewRecorder(), post)
				}
			}
			good := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), reads: 99, wrote: make(chan struct{}, 99)}
			ctx, leave := context.WithCancel(t.Context())
			_, id, _ := strings.Cut(session, "Mcp-Session-Id: ")
			r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost/mcp", nil)
			r.Header.Set("Mcp-Session-Id", strings.TrimSpace(id))
			go s.ServeHTTP(good, r)
			synctest.Wait()
			for len(good.wrote) > 0 {
				<-good.wrote
			}
			start := time.Now()
			src.set(t, textTool("other", "x"))
			<-good.wrote
			if took := time.Since(start); took > time.Second {
				t.Errorf("%s: the others were told after %v", transport, took)
			}
			if transport == "sse" {
				for range 3 {
					<-gone
				}
				if took := time.Since(start); took > time.Minute {
					t.Errorf("the sessions ended after %v", took)
				}
			}
			leave()
			time.Sleep(time.Hour)
		})
	}
}

// A client that never reads its answer does not keep it for ever.
func TestUnreadAnswer(t *testing.T) {
	body, header := modernCall("big", "{}", "")
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, nil, textTool("big", strings.Repeat("x", 1<<20)))
		client, server := net.Pipe()
		l := &pipeListener{make(chan net.Conn, 1), make(chan struct{})}
		l.conns <- server
		ended := make(chan struct{})
		h := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			s.ServeHTTP(w, r)
		})}
		go h.Serve(l)
		defer h.Close()
		defer client.Close()
		_, _ = io.WriteString(client, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "+
			jsonNumber(len(body))+"\r\n"+strings.ReplaceAll(header, "\n", "\r\n")+"\r\n"+body)
		start := time.Now()
		<-ended
		if took := time.Since(start); took > time.Minute {
			t.Errorf("the answer was kept for %v", took)
		}
	})
}

func jsonNumber(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// A client that never sets a level gets messages from info on; whoever sets
// one gets those.
func TestLogLevels(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if w.isModern() {
			t.Skip("each request says its level")
		}
		s := serve(t, nil, rawTool("work", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			err := errors.Join(call.Log(ctx, "debug", "l", "fine"), call.Log(ctx, "info", "l", "seen"),
				call.Caller.Notify(ctx, "notifications/elicitation/complete", json.RawMessage(`{"elicitationId":"e"}`)))
			return toolpost.TextResult("done"), err
		}))
		logs, complete := make(chan any, 9), make(chan string, 9)
		session := w.connect(t, s, &mcp.ClientOptions{
			LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { logs <- r.Params.Data },
			ElicitationCompleteHandler: func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) {
				complete <- r.Params.ElicitationID
			},
		})
		callText(t, session, callOf("work"))
		if got := soon(t, logs, "a message"); got != "seen" {
			t.Errorf("without a level: %v", got)
		}
		if got := soon(t, complete, "the end of the elicitation"); got != "e" {
			t.Errorf("elicitation %q is complete", got)
		}
		for level, want := range map[string]string{"debug": "fine", "error": ""} {
			if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: mcp.LoggingLevel(level)}); err != nil {
				t.Fatal(err)
			}
			callText(t, session, callOf("work"))
			soon(t, complete, "the end of the elicitation") // the messages came before it
			if want != "" {
				if got := soon(t, logs, "a message"); got != want {
					t.Errorf("level %s: %v", level, got)
				}
				soon(t, logs, "the next message")
			} else if len(logs) > 0 {
				t.Errorf("level %s: %v", level, <-logs)
			}
		}
	})
}

// The gateway learns that a client's roots have changed.
func TestRootsChanged(t *testing.T) {
	changed := make(chan string, 9)
	s := serve(t, &mcpserver.Options{Views: &hooks{rootsChanged: func(session string) { changed <- session }}}, whoseTool())
	const notification = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whose"}}`
	session := s.session(t)
	e := s.post(t, call, session)
	s.post(t, notification, session)
	if got := soon(t, changed, "the change"); !strings.Contains(e.body, got) {
		t.Errorf("%q has other roots, want that of %s", got, e.body)
	}
	lines := stdio(t, s, t.Context())
	lines.send(t, initialize)
	soon(t, lines.out.lines, "an answer")
	lines.send(t, call)
	whose := soon(t, lines.out.lines, "an answer")
	lines.send(t, notification)
	if got := soon(t, changed, "the change"); !strings.Contains(whose, got) {
		t.Errorf("%q has other roots, want that of %s", got, whose)
	}
}

// Early clients wait until the servers are there, and not for ever.
func TestEarlyLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{ready: make(chan struct{})}
		s := newServerOf(t, nil, src)
		const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		start := time.Now()
		first, second := openSession(t, s), ""
		if took := time.Since(start); took > time.Second {
			t.Errorf("initialize took %v", took)
		}
		start = time.Now()
		handle(s, t.Context(), "POST", list, first)
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("the first list took %v", took)
		}
		start = time.Now()
		handle(s, t.Context(), "POST", list, first)
		if took := time.Since(start); took != 0 {
			t.Errorf("the second list took %v", took)
		}
		second = openSession(t, s)
		go func() {
			time.Sleep(2 * time.Second)
			src.set(t, textTool("late", "x"))
			close(src.ready)
		}()
		if w := handle(s, t.Context(), "POST", list, second); !strings.Contains(w.Body.String(), `"late"`) {
			t.Errorf("got %s", w.Body)
		}
		start = time.Now()
		if openSession(t, s); time.Since(start) != 0 {
			t.Error("initialize waits although all is there")
		}
	})
}
