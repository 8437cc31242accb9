package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// answer is a handler that always returns the same.
func answer(r *toolpost.Result) toolpost.Handler {
	return func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return r, nil }
}

// post is a request to /mcp; header is lines of "Name: value".
func post(t *testing.T, body, header string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.Header.Set(name, value)
	}
	return r
}

// events sends a request and returns the data of the events of its response.
func (s *served) events(t *testing.T, ctx context.Context, method, body, header string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = post(t, "", header).Header
	r.Header.Set("Accept", "text/event-stream")
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", method, resp.StatusCode)
	}
	found := make(chan string, 99)
	go func() {
		defer resp.Body.Close()
		defer close(found)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				found <- data
			}
		}
	}()
	return found
}

// oddResults are results whose every byte must arrive.
var oddResults = []string{
	`{ "content" : [ ] }`,
	"{\n  \"content\": [\n\t{ \"type\" : \"text\", \"text\": \"a\\nb\" }\n  ]\n}",
	`{"content":[],"z":1,"a":2,"content ":[]}`,
	`{"content":[{"type":"text","text":"\u00e9\/\ud83d\ude00<&>"}]}`,
	`{"content":[{"type":"video","src":"v","n":9007199254740993}]}`,
	`{"content":[],"structuredContent":{"n":1e400,"m":-0,"f":1.10,"big":123456789012345678901234567890}}`,
	`{"content":[],"isError":false,"_meta":{"k":null},"unknown":{"":[[]]}}`,
	`{"content":[{"type":"resource_link","uri":"ui://a/b","name":""}],"resultType":"task","task":{"id":"1"}}`,
	` {"content":[]} `,
}

// Results arrive byte for byte in sessions: white space, order, escapes,
// numbers, unknown members.
func TestResultsAreKeptInSessions(t *testing.T) {
	result := ""
	s := serve(t, nil, rawTool("odd", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.RawResult(json.RawMessage(result)), nil
	}))
	session := s.session(t)
	lines := stdio(t, s, t.Context())
	lines.send(t, initialize)
	soon(t, lines.out.lines, "the answer of initialize")
	stream, post := s.openSSE(t, t.Context(), "/sse")
	post(initialize)
	soon(t, stream, "the answer of initialize")
	const call = `{"jsonrpc":"2.0","id":"\u0031","method":"tools/call","params":{"name":"odd"}}`
	for _, result = range oddResults {
		want := `{"jsonrpc":"2.0","id":"1","result":` + result + `}`
		if e := s.post(t, call, session); e.body != want {
			t.Errorf("session: got %s, want %s", e.body, want)
		}
		lines.send(t, call)
		flat := strings.NewReplacer("\n", " ").Replace(want)
		if got := soon(t, lines.out.lines, "an answer"); got != flat {
			t.Errorf("stdio: got %s, want %s", got, flat)
		}
		post(call)
		for _, want := range strings.Split(want, "\n") {
			if got := soon(t, stream, "an answer"); got != want {
				t.Errorf("SSE: got %s, want %s", got, want)
			}
		}
	}
}

// asker asks its client, and returns the answer.
func asker(ended chan error) *toolpost.Tool {
	return rawTool("ask", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		raw, err := call.Caller.Request(ctx, "elicitation/create", json.RawMessage(`{"message":"secret of A"}`))
		if ended != nil {
			ended <- err
		}
		return toolpost.TextResult(string(raw)), err
	})
}

// canElicit is initialize of a client that answers elicitations.
var canElicit = strings.Replace(initialize, `"capabilities":{`, `"capabilities":{"elicitation":{}`, 1)

const askCall = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask"}}`

func idOf(t *testing.T, message string) string {
	t.Helper()
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return string(m.ID)
}

// A client is asked on the stream of its own call, and nobody else can answer.
func TestNobodyElseAnswers(t *testing.T) {
	s := serve(t, nil, asker(nil))
	open := func() string {
		return "Mcp-Session-Id: " + s.post(t, canElicit, "").header.Get("Mcp-Session-Id") + "\n"
	}
	a, b := open(), open()
	listening, leave := context.WithCancel(t.Context())
	defer leave()
	overheard := s.events(t, listening, "GET", "", b)
	asked := s.events(t, t.Context(), "POST", askCall, a)
	question := soon(t, asked, "the question")
	if !strings.Contains(question, "secret of A") {
		t.Fatalf("got %s", question)
	}
	answerOf := func(who string) string {
		return `{"jsonrpc":"2.0","id":"` + idOf(t, question) + `","result":{"from":"` + who + `"}}` // as a string
	}
	if e := s.post(t, answerOf("B"), b); e.status != http.StatusAccepted {
		t.Errorf("B: %d %s", e.status, e.body)
	}
	if e := s.post(t, answerOf("A"), a); e.status != http.StatusAccepted {
		t.Errorf("A: %d %s", e.status, e.body)
	}
	if got := soon(t, asked, "the result"); !strings.Contains(got, `{\"from\":\"A\"}`) {
		t.Errorf("got %s", got)
	}
	leave()
	for got := range overheard {
		t.Errorf("B hears %s", got)
	}
}

// A call that its client takes back ends, and takes back what it asked.
func TestCancelWithdrawsTheQuestion(t *testing.T) {
	ended := make(chan error, 1)
	s := serve(t, nil, asker(ended))
	lines := stdio(t, s, t.Context())
	lines.send(t, canElicit)
	soon(t, lines.out.lines, "the answer of initialize")
	lines.send(t, askCall)
	id := idOf(t, soon(t, lines.out.lines, "the question"))
	lines.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if err := soon(t, ended, "the end of the question"); err == nil {
		t.Error("the question was answered")
	}
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	if got := soon(t, lines.out.lines, "the withdrawal"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Notifications that the protocol does not know reach clients with sessions.
func TestUnknownNotifications(t *testing.T) {
	s := serve(t, nil, rawTool("t", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult("done"), call.Caller.Notify(ctx, "notifications/x/y", json.RawMessage(`{ "n":9007199254740993 }`))
	}))
	got := s.events(t, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, s.session(t))
	if m := soon(t, got, "the notification"); m != `{"jsonrpc":"2.0","method":"notifications/x/y","params":{ "n":9007199254740993 }}` {
		t.Errorf("got %s", m)
	}
}

// A handler that goes on after its call sends nothing more.
func TestNothingAfterTheResult(t *testing.T) {
	goOn, sent := make(chan struct{}), make(chan error)
	s := serve(t, nil, rawTool("t", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		go func() {
			<-goOn
			sent <- call.Caller.Notify(context.WithoutCancel(ctx), "notifications/late", nil)
		}()
		return toolpost.TextResult("done"), nil
	}))
	lines := stdio(t, s, t.Context())
	lines.send(t, initialize)
	soon(t, lines.out.lines, "the answer of initialize")
	lines.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
	soon(t, lines.out.lines, "the result")
	close(goOn)
	if err := soon(t, sent, "the notification"); err == nil {
		t.Error("the notification was sent")
	}
	lines.send(t, ping)
	if got := soon(t, lines.out.lines, "an answer"); !strings.Contains(got, `"result":{}`) {
		t.Errorf("got %s", got)
	}
}

// A change while a client has no stream reaches it when it opens one, unless
// it has listed since.
func TestChangesWaitForAStream(t *testing.T) {
	s := serve(t, nil, textTool("a", "x"))
	s.SetFeatures(&toolpost.Features{})
	session := s.session(t)
	s.tools.set(t, textTool("b", "x"))
	s.SetFeatures(&toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "p"}}})
	s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	got := s.events(t, ctx, "GET", "", session)
	if m := soon(t, got, "the change"); m != `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}` {
		t.Errorf("got %s", m)
	}
	s.tools.set(t, textTool("c", "x"))
	if m := soon(t, got, "the next change"); m != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}` {
		t.Errorf("got %s", m)
	}
	again := s.events(t, ctx, "GET", "", session) // takes the place of the first
	if m, more := <-got; more {
		t.Errorf("the first stream got %s", m)
	}
	s.tools.set(t, textTool("d", "x"))
	soon(t, again, "the change on the second stream")
}

// A session lives as long as its stream.
func TestStreamsKeepSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan string, 9)
		s, _ := newServer(t, &mcpserver.Options{Views: &hooks{sessionEnded: func(name string) { ended <- name }}})
		session := openSession(t, s)
		ctx, leave := context.WithCancel(t.Context())
		go handle(s, ctx, "GET", "", session)
		time.Sleep(time.Hour)
		if w := handle(s, t.Context(), "POST", ping, session); w.Code != http.StatusOK {
			t.Errorf("with a stream: %d %s", w.Code, w.Body)
		}
		leave()
		time.Sleep(40 * time.Minute)
		if w := handle(s, t.Context(), "POST", ping, session); w.Code != http.StatusNotFound {
			t.Errorf("without one: %d %s", w.Code, w.Body)
		}
		if len(ended) != 1 {
			t.Errorf("the end was reported %d times", len(ended))
		}
	})
}

// A session over SSE cannot be used at /mcp, nor the other way round.
func TestSessionsOfOneTransport(t *testing.T) {
	s := serve(t, nil)
	session := s.session(t)
	_, id, _ := strings.Cut(strings.SplitN(session, "\n", 2)[0], ": ")
	if e := s.do(t, "POST", "/sse?sessionid="+id, ping, ""); e.status != http.StatusNotFound {
		t.Errorf("a session of /mcp at /sse: %d %s", e.status, e.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	head := make([]byte, 200)
	n, err := io.ReadAtLeast(resp.Body, head, 40)
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ = strings.Cut(strings.TrimSpace(string(head[:n])), "sessionid=")
	if e := s.post(t, ping, "Mcp-Session-Id: "+id); e.status != http.StatusNotFound {
		t.Errorf("a session of /sse at /mcp: %d %s", e.status, e.body)
	}
}
