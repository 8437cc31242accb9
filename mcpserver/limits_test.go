package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// What only the server itself puts into _meta counts for nothing if a client
// sends it. The first of these ended the process.
func TestForgedMeta(t *testing.T) {
	forged := []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"toolpost/index":2305843009213693952}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"toolpost/index":-1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"toolpost/index":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"toolpost/unknown":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"toolpost\/unk\u006eown":"x","toolpost/unknown2":1}}}`,
	}
	s := serve(t, nil, textTool("t", "x"))
	lines := stdio(t, s, t.Context())
	lines.send(t, initialize)
	soon(t, lines.out.lines, "an answer")
	session := s.session(t)
	for _, body := range forged {
		lines.send(t, body)
		if got := soon(t, lines.out.lines, "an answer"); !strings.Contains(got, `"result"`) {
			t.Errorf("stdio: %s: got %s", body, got)
		}
		if e := s.post(t, body, session); !strings.Contains(e.body, `"result"`) {
			t.Errorf("HTTP: %s: got %s", body, e.body)
		}
	}
}

// A panic of any code that a message reaches ends one request, not the process.
func TestPanicsEndNothing(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		log := &syncBuffer{}
		s := serve(t, &mcpserver.Options{
			Logger: logger(log),
			Views:  &hooks{sessionEnded: func(string) { panic("on purpose") }},
		}, textTool("t", "x"))
		s.SetFeatures(&toolpost.Features{Subscribe: func(context.Context, string, bool) error { panic("on purpose") }})
		session := w.connect(t, s, nil)
		if w.isModern() {
			t.Skip("subscriptions are streams")
		}
		if err := session.Subscribe(t.Context(), subscribeTo("x://1")); err == nil || !strings.Contains(err.Error(), "internal error") {
			t.Errorf("got %v", err)
		}
		if got := callText(t, session, callOf("t")); got != "x" {
			t.Errorf("got %q", got)
		}
		if !strings.Contains(log.String(), "on purpose") {
			t.Error("the panic is not in the log")
		}
	})
}

// Sessions are limited. One more ends the one that is idle and was never used,
// else the one that is idle longest, but none that was in use a moment ago.
func TestSessionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, &mcpserver.Options{Limits: mcpserver.Limits{ClientSessions: 2}})
		alive := func(session string) bool { return handle(s, t.Context(), "POST", ping, session).Code == http.StatusOK }
		refused := func(session string) {
			t.Helper()
			w := handle(s, t.Context(), "POST", initialize, "")
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "end sessions that are done with DELETE") {
				t.Errorf("one more session than there may be: %d %s", w.Code, w.Body)
			}
			if !alive(session) {
				t.Error("a session has ended that was in use a moment ago")
			}
		}
		used, unused := openSession(t, s), openSession(t, s)
		refused(used)
		time.Sleep(11 * time.Second)
		third := openSession(t, s)
		if alive(unused) || !alive(used) || !alive(third) {
			t.Error("another session than the unused one has ended")
		}
		refused(used)
		time.Sleep(50 * time.Second)
		if !alive(third) {
			t.Error("the third session has ended")
		}
		time.Sleep(11 * time.Second)
		fourth := openSession(t, s)
		if alive(used) || !alive(third) || !alive(fourth) {
			t.Error("another session than the one that was idle longest has ended")
		}
	})
}

// Busy sessions are not ended to make room.
func TestBusySessionsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		s, _ := newServer(t, &mcpserver.Options{Limits: mcpserver.Limits{ClientSessions: 2}}, rawTool("wait", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			<-goOn
			return toolpost.TextResult("done"), nil
		}))
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`
		answers := make(chan *httptest.ResponseRecorder, 2)
		for range 2 {
			session := openSession(t, s)
			go func() { answers <- handle(s, t.Context(), "POST", call, session) }()
		}
		time.Sleep(time.Hour)
		if w := handle(s, t.Context(), "POST", initialize, ""); w.Code != http.StatusServiceUnavailable {
			t.Errorf("while all are busy: %d %s", w.Code, w.Body)
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/sse", nil)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("SSE while all are busy: %d %s", w.Code, w.Body)
		}
		close(goOn)
		for range 2 {
			if w := <-answers; !strings.Contains(w.Body.String(), "done") {
				t.Errorf("the call of a busy session: %d %s", w.Code, w.Body)
			}
		}
	})
}

// handle serves one request without a network.
func handle(s *mcpserver.Server, ctx context.Context, method, body, header string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request(ctx, method, body, header))
	return w
}

// request returns a request to /mcp; header is lines of "Name: value".
func request(ctx context.Context, method, body, header string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.Header.Set(name, value)
	}
	return r
}

func openSession(t *testing.T, s *mcpserver.Server) string {
	t.Helper()
	w := handle(s, t.Context(), "POST", initialize, "")
	if w.Code != http.StatusOK {
		t.Fatalf("initialize: %d %s", w.Code, w.Body)
	}
	return "Mcp-Protocol-Version: 2025-11-25\nMcp-Session-Id: " + w.Header().Get("Mcp-Session-Id") + "\n"
}

func TestUnusedSessionsEndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, nil)
		used, unused := openSession(t, s), openSession(t, s)
		handle(s, t.Context(), "POST", ping, used)
		time.Sleep(6 * time.Minute)
		if w := handle(s, t.Context(), "POST", ping, unused); w.Code != http.StatusNotFound {
			t.Errorf("the unused session: %d %s", w.Code, w.Body)
		}
		if w := handle(s, t.Context(), "POST", ping, used); w.Code != http.StatusOK {
			t.Errorf("the used session: %d %s", w.Code, w.Body)
		}
	})
}

// What a session keeps of its client is small.
func TestLongNames(t *testing.T) {
	s := serve(t, nil, textTool("t", "x"))
	long := strings.Repeat("n", 1<<10+1)
	body, header := modernCall("t", "{}", "")
	for name, e := range map[string]exchange{
		"name":      s.post(t, strings.Replace(initialize, `"name":"t"`, `"name":"`+long+`"`, 1), ""),
		"version":   s.post(t, strings.Replace(initialize, `"version":"1"`, `"version":"`+long+`"`, 1), ""),
		"anything":  s.post(t, strings.Replace(initialize, `"capabilities":{`, `"capabilities":{"experimental":{"x":{"y":"`+strings.Repeat("n", 64<<10)+`"}}`, 1), ""),
		"stateless": s.post(t, strings.Replace(body, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"`+long+`","version":"1"},`, 1), header),
	} {
		if code, _ := e.errorCode(t); e.status != 400 || code != -32602 {
			t.Errorf("%s: %d %.200s", name, e.status, e.body)
		}
	}
}

// One session cannot watch any number of resources.
func TestWatchesAreLimited(t *testing.T) {
	s := serve(t, nil)
	s.SetFeatures(&toolpost.Features{Subscribe: func(context.Context, string, bool) error { return nil }})
	session := s.session(t)
	refused := 0
	for i := range 20 {
		e := s.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://%d/%s"}}`, i, strings.Repeat("u", 8<<10)), session)
		if strings.Contains(e.body, "too many resources") {
			refused++
		}
	}
	if refused != 13 {
		t.Errorf("%d of 20 were refused", refused)
	}
}

// Whoever waits for a source that hangs can cancel.
func TestCancelOfASubscription(t *testing.T) {
	hangs, release := make(chan struct{}), make(chan struct{})
	s := serve(t, nil)
	s.SetFeatures(&toolpost.Features{Subscribe: func(_ context.Context, _ string, on bool) error {
		if on {
			close(hangs)
			<-release
		}
		return nil
	}})
	subscribe := func(session string) string {
		return s.post(t, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://hangs"}}`, session).body
	}
	first, second := s.session(t), s.session(t)
	slow := make(chan string)
	go func() { slow <- subscribe(first) }()
	soon(t, hangs, "the subscription")
	waits := make(chan string)
	go func() { waits <- subscribe(second) }()
	cancel := func() {
		s.post(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, second)
	}
	limit := time.After(time.Minute)
	for cancel(); ; cancel() { // the first may come before the request
		select {
		case got := <-waits:
			if !strings.Contains(got, "canceled") {
				t.Errorf("got %s", got)
			}
			close(release)
			soon(t, slow, "the subscription that nobody canceled")
			return
		case <-time.After(20 * time.Millisecond):
		case <-limit:
			t.Fatal("it cannot be canceled")
		}
	}
}

// A source that hangs holds up nobody who watches another resource.
func TestHangingSubscription(t *testing.T) {
	hangs, release := make(chan struct{}), make(chan struct{})
	s := serve(t, nil)
	s.SetFeatures(&toolpost.Features{Subscribe: func(_ context.Context, uri string, on bool) error {
		if uri == "x://hangs" && on {
			close(hangs)
			<-release
		}
		return nil
	}})
	subscribe := func(session, uri string) string {
		return s.post(t, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`, session).body
	}
	first, second := s.session(t), s.session(t)
	slow := make(chan string)
	go func() { slow <- subscribe(first, "x://hangs") }()
	soon(t, hangs, "the subscription")
	fast := make(chan string)
	go func() { fast <- subscribe(second, "x://other") }()
	if got := soon(t, fast, "the other subscription"); !strings.Contains(got, `"result"`) {
		t.Errorf("got %s", got)
	}
	close(release)
	if got := soon(t, slow, "the slow subscription"); !strings.Contains(got, `"result"`) {
		t.Errorf("got %s", got)
	}
}

func callOf(name string) *mcp.CallToolParams { return &mcp.CallToolParams{Name: name} }

func subscribeTo(uri string) *mcp.SubscribeParams { return &mcp.SubscribeParams{URI: uri} }

// A prompt or resource of any size does not reach the client.
func TestLongResources(t *testing.T) {
	text := strings.Repeat("x", 9<<20)
	prompt := toolpost.NewPrompt("p", func(context.Context, struct{}) (string, error) { return text, nil }, nil)
	resource := toolpost.NewResource("x://1", "", func(context.Context, string) (string, error) { return text, nil }, nil)
	s := serve(t, nil)
	s.SetFeatures(&toolpost.Features{Prompts: []*toolpost.Prompt{prompt}, Resources: []*toolpost.Resource{resource}})
	session := s.session(t)
	for method, params := range map[string]string{"resources/read": `{"uri":"x://1"}`, "prompts/get": `{"name":"p"}`} {
		e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, session)
		if len(e.body) > 1000 || !strings.Contains(e.body, "the limit is") {
			t.Errorf("%s: %d bytes: %.200s", method, len(e.body), e.body)
		}
	}
}

// A small request of a length that is not known in advance is not large.
func TestChunkedRequestsAreSmall(t *testing.T) {
	started, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, nil, rawTool("wait", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		started <- struct{}{}
		<-goOn
		return toolpost.TextResult("done"), nil
	}))
	const count = 40
	body, header := modernCall("wait", "{}", "")
	statuses := make(chan int, count)
	for range count {
		go func() {
			r := post(t, body, header)
			r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(s.url, "http://")
			r.RequestURI, r.ContentLength = "", -1
			resp, err := s.client.Do(r)
			if err != nil {
				t.Error(err)
				statuses <- 0
				return
			}
			defer resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	for range count {
		select {
		case <-started:
		case status := <-statuses:
			t.Fatalf("a call was answered with %d", status)
		}
	}
	close(goOn)
	for range count {
		if status := soon(t, statuses, "an answer"); status != http.StatusOK {
			t.Errorf("got %d", status)
		}
	}
}
