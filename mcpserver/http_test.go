package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestBadRequests(t *testing.T) {
	s := serve(t, &mcpserver.Options{Limits: mcpserver.Limits{Body: 1 << 20}, Hosts: []string{"tools.example"}, Origins: []string{"https://app.example"}}, textTool("t", "x"))
	session := s.session(t)
	body, modern := modernCall("t", "{}", "")
	tests := []struct {
		name, body, header string
		status, code       int
		id                 string
	}{
		{"not JSON", "hello", session, 400, -32700, "null"},
		{"truncated", ping[:20], session, 400, -32700, "null"},
		{"trailing garbage", ping + "x", session, 400, -32700, "1"},
		{"empty", "", session, 400, -32600, "null"},
		{"scalar", "7", session, 400, -32600, "null"},
		{"batch", "[" + ping + "]", session, 400, -32600, "null"},
		{"batch of the stateless era", "[" + body + "]", modern, 400, -32600, "null"},
		{"wrong jsonrpc", `{"jsonrpc":"1","id":1,"method":"ping"}`, session, 400, -32600, "1"},
		{"id 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, session, 400, -32600, "null"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", session, 400, -32700, "1"},
		{"half a surrogate pair", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"a":"\ud83d"}}}`, session, 400, -32700, `"a"`},
		{"response with half a surrogate pair", `{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d"}}`, session, 400, -32700, "null"},
		{"deep", strings.Repeat(`{"a":`, 100_000), session, 400, -32700, "null"},
		{"too large", strings.Repeat(" ", 1<<20+1), session, 413, -32600, "null"},
		{"gzip", ping, session + "Content-Encoding: gzip", 415, -32600, "null"},
		{"wrong content type", ping, session + "Content-Type: text/plain", 415, -32600, "null"},
		{"nothing acceptable", ping, session + "Accept: text/html", 406, -32600, "1"},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, session, 200, -32601, "1"},
		{"unknown log level", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}`, session, 200, -32602, "1"},
		{"number as cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":5}}`, session, 200, -32602, "1"},
		{"no session", ping, "", 400, -32600, "1"},
		{"unknown session", ping, "Mcp-Session-Id: nonsense", 404, -32600, "1"},
		{"unknown version", ping, "Mcp-Protocol-Version: 2020-01-01\nMcp-Session-Id: x", 400, -32600, "1"},
		{"second initialize", initialize, session, 200, -32600, "0"},
		{"foreign Host", ping, session + "Host: evil.example", 403, -32600, "null"},
		{"foreign Origin", ping, session + "Origin: https://evil.example", 403, -32600, "null"},
		{"foreign Origin as Host", ping, session + "Origin: http://evil.example\nHost: evil.example", 403, -32600, "null"},
		{"local Origin to a public Host", ping, session + "Origin: http://localhost:3000\nHost: tools.example", 403, -32600, "null"},
		{"null Origin", ping, session + "Origin: null", 403, -32600, "null"},
		{"other site", ping, session + "Sec-Fetch-Site: cross-site", 403, -32600, "null"},
		{"modern: unknown method", strings.Replace(body, "tools/call", "no/such", 1), strings.Replace(modern, "tools/call", "no/such", 1), 404, -32601, "1"},
		{"modern: unknown tool", strings.Replace(body, `"t"`, `"u"`, 1), strings.Replace(modern, "Name: t", "Name: u", 1), 400, -32602, "1"},
		{"modern: no Mcp-Method", body, "Mcp-Protocol-Version: 2026-07-28\nMcp-Name: t", 400, -32020, "1"},
		{"modern: other Mcp-Method", body, strings.Replace(modern, "tools/call", "tools/list", 1), 400, -32020, "1"},
		{"modern: no Mcp-Name", body, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call", 400, -32020, "1"},
		{"modern: other Mcp-Name", body, strings.Replace(modern, "Name: t", "Name: u", 1), 400, -32020, "1"},
		{"modern: bad base64", body, strings.Replace(modern, "Name: t", "Name: =?base64?%%?=", 1), 400, -32020, "1"},
		{"modern: no version header", body, "Mcp-Method: tools/call\nMcp-Name: t", 400, -32020, "1"},
		{"modern: no version in the body", strings.Replace(body, "/protocolVersion", "/x", 1), modern, 400, -32602, "1"},
		{"modern: no capabilities", strings.Replace(body, "/clientCapabilities", "/x", 1), modern, 400, -32602, "1"},
		{"modern: bad client info", strings.Replace(body, "clientCapabilities\":{", "clientInfo\":7,\"io.modelcontextprotocol/clientCapabilities\":{", 1), modern, 400, -32602, "1"},
		{"modern: future version", strings.ReplaceAll(body, "2026-07-28", "2099-01-01"), strings.ReplaceAll(modern, "2026-07-28", "2099-01-01"), 400, -32022, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := s.post(t, tt.body, tt.header)
			code, id := e.errorCode(t)
			if e.status != tt.status || code != tt.code || id != tt.id {
				t.Errorf("got %d, code %d, id %s; want %d, %d, %s\n%.300s", e.status, code, id, tt.status, tt.code, tt.id, e.body)
			}
			if e.status != 200 && e.header.Get("Content-Type") != "application/json" {
				t.Errorf("content type %s", e.header.Get("Content-Type"))
			}
		})
	}
	if e := s.post(t, ping, session); e.status != 200 || !strings.Contains(e.body, `"result":{}`) {
		t.Errorf("after all that, ping answers %d %s", e.status, e.body)
	}
}

// A call of a tool that is not there says why, if that is known.
func TestMissingTool(t *testing.T) {
	s := serve(t, &mcpserver.Options{Views: &hooks{missing: func(_ observe.Client, tool string) error {
		if tool == "known" {
			return errors.New("server away: connection refused")
		}
		return nil
	}}}, textTool("t", "x"))
	session := s.session(t)
	for tool, want := range map[string]string{"known": "connection refused", "typo": `unknown tool \"typo\"; call tools/list`} {
		e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`"}}`, session)
		if code, _ := e.errorCode(t); code != -32602 || !strings.Contains(e.body, want) {
			t.Errorf("%s: got %s, want %s in it", tool, e.body, want)
		}
	}
}

// A tool that is not listed can be called.
func TestUnlistedTool(t *testing.T) {
	hidden := textTool("hidden", "found")
	hidden.Policy.Unlisted = true
	s := serve(t, nil, hidden, textTool("t", "x"))
	session := s.session(t)
	e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session)
	if strings.Contains(e.body, "hidden") || !strings.Contains(e.body, `"name":"t"`) {
		t.Errorf("the list is %s", e.body)
	}
	if e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hidden"}}`, session); !strings.Contains(e.body, "found") {
		t.Errorf("the call answers %s", e.body)
	}
}

func TestAcceptable(t *testing.T) {
	s := serve(t, &mcpserver.Options{Hosts: []string{"tools.example"}, Origins: []string{"https://app.example"}}, textTool("t", "x"))
	session := s.session(t)
	body, modern := modernCall("t", "{}", "")
	for name, tt := range map[string]struct{ body, header string }{
		"JSON only":                {ping, session + "Accept: application/json"},
		"events only":              {ping, session + "Accept: text/event-stream"},
		"anything":                 {ping, session + "Accept: */*"},
		"configured Host":          {ping, session + "Host: tools.example:8443"},
		"configured Origin":        {ping, session + "Origin: https://app.example"},
		"same Origin":              {ping, session + "Origin: https://tools.example\nHost: tools.example"},
		"another port here":        {ping, session + "Origin: http://localhost:6274"},
		"same site":                {ping, session + "Sec-Fetch-Site: same-origin"},
		"string id":                {strings.Replace(ping, "1}", `"a\"b"}`, 1), session},
		"modern":                   {body, modern},
		"modern, JSON only":        {body, modern + "Accept: application/json"},
		"modern, events only":      {body, modern + "Accept: text/event-stream"},
		"modern, name in base64":   {body, strings.Replace(modern, "Name: t", "Name: =?base64?dA==?=", 1)},
		"modern, known by body":    {body, modern},
		"charset":                  {ping, session + "Content-Type: application/json; charset=utf-8"},
		"unknown envelope members": {strings.Replace(ping, "{", `{"x":[1],`, 1), session},
	} {
		if e := s.post(t, tt.body, tt.header); e.status != 200 || !strings.Contains(e.last(), `"result":{`) {
			t.Errorf("%s: %d %s", name, e.status, e.body)
		}
	}
}

func TestBatch(t *testing.T) {
	s := serve(t, nil, echoTool())
	id := s.post(t, strings.Replace(initialize, "2025-11-25", "2025-03-26", 1), "").header.Get("Mcp-Session-Id")
	e := s.post(t, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993}}},
		{"jsonrpc":"2.0","method":"notifications/initialized"},
		{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"n":2}}}]`, "Mcp-Session-Id: "+id)
	for _, want := range []string{`\"n\":9007199254740993`, `\"n\":2`} {
		if e.status != 200 || !strings.Contains(e.body, want) {
			t.Errorf("no %s in %d %s", want, e.status, e.body)
		}
	}
}

// Unknown methods spoil only themselves.
func TestUnknownMethodsInBatch(t *testing.T) {
	s := serve(t, nil)
	id := s.post(t, strings.Replace(initialize, "2025-11-25", "2025-03-26", 1), "").header.Get("Mcp-Session-Id")
	const call, notice = `{"jsonrpc":"2.0","id":"u","method":"no/such","params":{"x":1}}`, `{"jsonrpc":"2.0","method":"notifications/no"}`
	e := s.post(t, "["+notice+","+call+","+ping+"]", "Mcp-Session-Id: "+id)
	for _, want := range []string{`"id":"u","error":{"code":-32601,"message":"there is no method \"no/such\""}`, `"id":1,"result":{}`} {
		if e.status != 200 || !strings.Contains(e.body, want) {
			t.Errorf("no %s in %d %s", want, e.status, e.body)
		}
	}
	if e := s.post(t, "["+notice+"]", "Mcp-Session-Id: "+id); e.status != 202 {
		t.Errorf("notifications only: %d %s", e.status, e.body)
	}
}

// echoTool answers with its params.
func echoTool() *toolpost.Tool {
	return rawTool("echo", anyObject, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(string(call.Params)), nil
	})
}

func TestPaths(t *testing.T) {
	s := serve(t, nil)
	if e := s.do(t, "GET", "/", "", ""); e.status != 404 || !strings.Contains(e.body, "/mcp") || !strings.Contains(e.body, "/sse") || !json.Valid([]byte(e.body)) {
		t.Errorf("/: %d %s", e.status, e.body)
	}
	for path, method := range map[string]string{"/mcp": "PUT", "/sse": "DELETE"} {
		e := s.do(t, method, path, "", "")
		if path == "/mcp" && e.status != 405 || path == "/sse" && (e.status != 405 || e.header.Get("Allow") == "") {
			t.Errorf("%s %s: %d %s", method, path, e.status, e.body)
		}
	}
	if e := s.do(t, "POST", "/sse?sessionid=none", ping, ""); e.status != 404 {
		t.Errorf("unknown SSE session: %d %s", e.status, e.body)
	}
	if e := s.do(t, "GET", "/sse", "", "Sec-Fetch-Site: cross-site"); e.status != 403 {
		t.Errorf("SSE from another site: %d", e.status)
	}
}

func TestExactBytes(t *testing.T) {
	const (
		input  = `{"type":"object","properties":{"z":{"type":"integer","default":9007199254740993},"a":{"x-odd":1.50}},"required":["z"]}`
		result = `{"zeta":1,"content":[{"type":"text","text":""},{"type":"video","src":"v"}],"structuredContent":{"n":9007199254740993,"f":1.10},"isError":false,"_meta":{"k":9007199254740993}}`
	)
	var got *toolpost.Call
	tool := rawTool("exact", input, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		got = call
		return toolpost.RawResult(json.RawMessage(result)), nil
	})
	tool.Title = "T"
	tool.Raw = json.RawMessage(`{"title":"T","name":"exact","execution":{"taskSupport":"optional"},"inputSchema":{},"description":"a tool"}`)
	s := serve(t, nil, tool)
	session := s.session(t)
	arguments := `{"z":9007199254740993,"a":1.10}`
	params := `{"name":"exact","arguments":` + arguments + `,"x-unknown":{"n":9007199254740993},"_meta":{"n":9007199254740993}}`

	e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`, session)
	if want := `{"jsonrpc":"2.0","id":1,"result":` + result + `}`; e.last() != want {
		t.Errorf("got  %s\nwant %s", e.last(), want)
	}
	if string(got.Arguments) != arguments || string(got.Params) != params {
		t.Errorf("the handler saw %s in %s", got.Arguments, got.Params)
	}

	body, header := modernCall("exact", arguments, `,"x-unknown":1e0`)
	e = s.post(t, body, header)
	want := `{"jsonrpc":"2.0","id":1,"result":` + strings.TrimSuffix(result, "}}") +
		`,"io.modelcontextprotocol/serverInfo":{"name":"toolpost","version":"0.0.0"}},"resultType":"complete"}}`
	if e.last() != want {
		t.Errorf("got  %s\nwant %s", e.last(), want)
	}
	if string(got.Arguments) != arguments || !strings.Contains(string(got.Params), `"x-unknown":1e0`) {
		t.Errorf("the handler saw %s in %s", got.Arguments, got.Params)
	}

	e = s.post(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, session)
	definition := `{"title":"T","name":"exact","execution":{"taskSupport":"optional"},"inputSchema":` + input + `,"description":"a tool"}`
	if want := `{"jsonrpc":"2.0","id":2,"result":{"tools":[` + definition + `]}}`; e.last() != want {
		t.Errorf("got  %s\nwant %s", e.last(), want)
	}
}

func TestStructuredContentByVersion(t *testing.T) {
	s := serve(t, nil, rawTool("t", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.RawResult(json.RawMessage(`{"content":[],"structuredContent":[1]}`)), nil
	}))
	e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, s.session(t))
	if want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[1]"}]}}`; e.last() != want {
		t.Errorf("session era: %s", e.last())
	}
	if e := s.callModern(t, "t"); !strings.Contains(e.last(), `"structuredContent":[1]`) {
		t.Errorf("stateless era: %s", e.last())
	}
}

// A client gets nothing in a result that it would refuse: neither members that are
// null nor content that its version does not have.
func TestResultsAreValidByVersion(t *testing.T) {
	s := serve(t, nil, rawTool("t", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.RawResult(json.RawMessage(`{"content":[{"type":"text","text":"a","_meta":null},{"type":"resource_link","uri":"x:1","name":"n"}],"isError":null}`)), nil
	}))
	for version, want := range map[string]string{
		"2024-11-05": `{"content":[{"type":"text","text":"a"},{"type":"text","text":"n: x:1"}]}`,
		"2025-11-25": `{"content":[{"type":"text","text":"a"},{"type":"resource_link","uri":"x:1","name":"n"}]}`,
	} {
		e := s.post(t, strings.Replace(initialize, "2025-11-25", version, 1), "")
		session := "Mcp-Session-Id: " + e.header.Get("Mcp-Session-Id") + "\nMcp-Protocol-Version: " + version + "\n"
		e = s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, session)
		if want = `{"jsonrpc":"2.0","id":1,"result":` + want + `}`; e.last() != want {
			t.Errorf("%s: got %s, want %s", version, e.last(), want)
		}
	}
	if e := s.callModern(t, "t"); !strings.Contains(e.last(), `"text":"a"},{"type":"resource_link"`) || strings.Contains(e.last(), "null") {
		t.Errorf("2026-07-28: got %s", e.last())
	}
}

// callModern calls a tool without arguments in the stateless era.
func (s *served) callModern(t *testing.T, tool string) exchange {
	body, header := modernCall(tool, "{}", "")
	return s.post(t, body, header)
}

func TestMirroredArguments(t *testing.T) {
	s := serve(t, nil, rawTool("t", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
		"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`,
		func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return toolpost.TextResult("ok"), nil }))
	tests := []struct {
		name, arguments, header string
		status                  int
	}{
		{"equal", `{"region":"eu","deep":{"n":42}}`, "Mcp-Param-Region: eu\nMcp-Param-N: 42", 200},
		{"equal number", `{"deep":{"n":42}}`, "Mcp-Param-N: 42.0", 200},
		{"base64", `{"region":"ü"}`, "Mcp-Param-Region: =?base64?w7w=?=", 200},
		{"absent", `{}`, "", 200},
		{"null", `{"region":null}`, "", 200},
		{"missing header", `{"region":"eu"}`, "", 400},
		{"missing argument", `{}`, "Mcp-Param-Region: eu", 400},
		{"other", `{"region":"eu"}`, "Mcp-Param-Region: us", 400},
		{"other number", `{"deep":{"n":42}}`, "Mcp-Param-N: 43", 400},
		{"huge number", `{"deep":{"n":9007199254740993}}`, "Mcp-Param-N: 9007199254740992", 400},
		{"object", `{"region":{}}`, "Mcp-Param-Region: {}", 400},
		{"bad base64", `{"region":"eu"}`, "Mcp-Param-Region: =?base64?!?=", 400},
	}
	for _, tt := range tests {
		body, header := modernCall("t", tt.arguments, "")
		e := s.post(t, body, header+tt.header)
		if e.status != tt.status {
			t.Errorf("%s: %d %s", tt.name, e.status, e.body)
		} else if tt.status == 400 {
			if code, _ := e.errorCode(t); code != mcp.CodeHeaderMismatch {
				t.Errorf("%s: code %d", tt.name, code)
			}
		}
	}
}

func TestListsOfTheStatelessEra(t *testing.T) {
	s := serve(t, nil, textTool("t", "x"))
	body := `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"CURSOR","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	const header = "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/list"
	e := s.post(t, strings.Replace(body, "CURSOR", "", 1), header)
	want := `{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"t","description":"a tool","inputSchema":{"type":"object"}}],"resultType":"complete",` +
		`"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"toolpost","version":"0.0.0"}}}}`
	if e.last() != want || e.header.Get("Content-Type") != "application/json" {
		t.Errorf("got  %s\nwant %s", e.last(), want)
	}
	if code, _ := s.post(t, strings.Replace(body, "CURSOR", "none", 1), header).errorCode(t); code != -32602 {
		t.Errorf("unknown cursor: code %d", code)
	}
}

// A client that goes away ends its call, also in the middle of a stream.
func TestDisconnectCancels(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	s := serve(t, nil, rawTool("wait", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if err := call.Progress(ctx, 1, 0, ""); err != nil {
			return nil, err
		}
		close(started)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}))
	body, header := modernCall("wait", "{}", "")
	body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":9007199254740993,`, 1)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		req.Header.Set(name, value)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":9007199254740993}}`; strings.TrimSpace(data) != want {
				t.Errorf("got %s, want %s", data, want)
			}
			break
		}
	}
	<-started
	cancel()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the handler goes on")
	}
}

func TestSessionTimeout(t *testing.T) {
	s := serve(t, &mcpserver.Options{Limits: mcpserver.Limits{SessionTimeout: 20 * time.Millisecond}})
	session := s.session(t)
	deadline := time.Now().Add(time.Minute)
	// Each request keeps the session, so the pauses grow.
	for pause := 30 * time.Millisecond; ; pause *= 2 {
		<-time.After(pause)
		if e := s.post(t, ping, session); e.status == 404 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the idle session lives")
		}
	}
}

func TestDelete(t *testing.T) {
	s := serve(t, nil)
	session := s.session(t)
	if e := s.do(t, "DELETE", "/mcp", "", session); e.status != 204 {
		t.Errorf("DELETE: %d %s", e.status, e.body)
	}
	if e := s.post(t, ping, session); e.status != 404 || !strings.Contains(e.body, "initialize again") {
		t.Errorf("after DELETE: %d %s", e.status, e.body)
	}
}

func TestGuard(t *testing.T) {
	s := serve(t, &mcpserver.Options{Hosts: []string{"tools.example"}})
	h := s.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for host, want := range map[string]int{"localhost:1": 204, "tools.example": 204, "evil.example": 403} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = host
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", host, w.Code, want)
		}
	}
}
