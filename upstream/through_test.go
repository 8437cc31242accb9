package upstream_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// modern is a server of 2026-07-28 over HTTP. What answers is f.
func modern(f func(w http.ResponseWriter, r *http.Request, m *message)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "server/discover":
			result(w, &m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`)
		case "tools/list":
			result(w, &m, "{"+oneTool+"}")
		default:
			f(w, r, &m)
		}
	})
}

func result(w http.ResponseWriter, m *message, result string) {
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Between a modern client and a modern server, the rounds of a call and what
// the client says about itself pass through.
func TestModernToModern(t *testing.T) {
	srv := serve(t, modern(func(w http.ResponseWriter, r *http.Request, m *message) {
		var p map[string]json.RawMessage
		_ = json.Unmarshal(m.Params, &p)
		if p["requestState"] == nil {
			result(w, m, `{"resultType":"input_required","requestState":"s","odd":1.0,"inputRequests":{"a":{"method":"x"},"b":{"method":"y"}}}`)
			return
		}
		var text strings.Builder
		for _, name := range []string{"name", "arguments", "inputResponses", "requestState", "odd", "_meta"} {
			fmt.Fprintf(&text, "%s=%s\n", name, p[name])
		}
		raw, _ := json.Marshal(text.String())
		result(w, m, `{"content":[{"type":"text","text":`+string(raw)+`}]}`)
	}))
	s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
	params := func(meta, more string) json.RawMessage {
		return json.RawMessage(`{"name":"srv__t","odd":[1.0],"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"theirs","version":"1"}` + meta + `}` + more + `}`)
	}
	r, err := s.call(t.Context(), &toolpost.Call{Name: "t", Params: params("", ""), Caller: newRecorder()})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"resultType":"input_required","requestState":"s","odd":1.0,"inputRequests":{"a":{"method":"x"},"b":{"method":"y"}}}`
	if got, _ := r.MarshalJSON(); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	const answers = `,"inputResponses":{"a":{"n":9007199254740993},"b":{}},"requestState":"s"`
	tests := map[string]struct{ meta, has, hasNot string }{
		"its abilities and level": {
			`,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"odd":1}},"io.modelcontextprotocol/logLevel":"error","io.modelcontextprotocol/odd":7,"k":1e400`,
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"odd":1}},"io.modelcontextprotocol/logLevel":"error","io.modelcontextprotocol/odd":7,"k":1e400`,
			"sampling",
		},
		"no abilities":       {``, `"io.modelcontextprotocol/clientCapabilities":{}`, "sampling"},
		"no level":           {``, ``, "logLevel"},
		"we are the client":  {``, `"name":"toolpost"`, "theirs"},
		"no token unasked":   {``, ``, "progressToken"},
		"a token of our own": {`,"progressToken":"theirs"`, `"progressToken":`, `"progressToken":"theirs"`},
	}
	for name, test := range tests {
		r, err := s.call(t.Context(), &toolpost.Call{
			Name: "t", Arguments: json.RawMessage(`{"x":9007199254740993}`), Params: params(test.meta, answers), Caller: newRecorder(),
		})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := r.FirstText()
		for _, want := range []string{
			"name=\"t\"\n", "arguments={\"x\":9007199254740993}\n", "inputResponses={\"a\":{\"n\":9007199254740993},\"b\":{}}\n",
			"requestState=\"s\"\n", "odd=[1.0]\n", `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, test.has,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in\n%s", name, want, got)
			}
		}
		if strings.Contains(got, test.hasNot) {
			t.Errorf("%s: there is %s in\n%s", name, test.hasNot, got)
		}
	}
}

// A caller of before 2026-07-28, or none of MCP, is asked, whatever it sends.
func TestClassicToModern(t *testing.T) {
	s := start(t, &upstream.Config{URL: serve(t, streamableHandler(t, sdkServer(t.Context()), true)).URL}).ready(t)
	r := newRecorder()
	r.answer = func(string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`), nil
	}
	for _, params := range []string{
		``, `{"requestState":"other","inputResponses":{"name":{"action":"decline"}}}`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`,
	} {
		got, err := s.call(t.Context(), &toolpost.Call{Name: "ask", Params: json.RawMessage(params), Caller: r})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := got.FirstText(); text != "accept Ada" {
			t.Errorf("%s: got %q", params, text)
		}
	}
}

// What a client with sessions says in other spellings about its hop does not reach a server
// without sessions beside what we say.
func TestOtherSpellingsOfTheHop(t *testing.T) {
	srv := serve(t, modern(func(w http.ResponseWriter, r *http.Request, m *message) {
		var p struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &p)
		raw, _ := json.Marshal(fmt.Sprint(slices.Sorted(maps.Keys(p.Meta))))
		result(w, m, `{"content":[{"type":"text","text":`+string(raw)+`}]}`)
	}))
	s := start(t, &upstream.Config{URL: srv.URL}).ready(t)
	for _, name := range []string{"protocolVersion", "clientInfo", "clientCapabilities", "logLevel"} {
		name = "io.modelcontextprotocol/" + name
		for _, other := range []string{strings.ToLower(name), strings.ToUpper(name), `i\u0001` + name[1:], `\u0049` + name[1:]} {
			call := &toolpost.Call{Name: "t", Params: json.RawMessage(`{"_meta":{"` + other + `":1,"mine":2}}`), Caller: newRecorder()}
			got, err := s.call(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			const want = "[io.modelcontextprotocol/clientCapabilities io.modelcontextprotocol/clientInfo io.modelcontextprotocol/logLevel io.modelcontextprotocol/protocolVersion mine]"
			if text, _ := got.FirstText(); text != want {
				t.Errorf("%s: the server got %s", other, text)
			}
		}
	}
}

// TestInputOfResults checks that what a result asks for reaches a client only if
// the client may show it, whichever era client and server are of.
func TestInputOfResults(t *testing.T) {
	const asks = `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":`
	answer := func(arguments json.RawMessage) string {
		if strings.Contains(string(arguments), "script") {
			return asks + `{"mode":"url","message":"m","url":"javascript:alert(1)"}}}}`
		}
		return asks + `{"message":"a\u200b"}}}}`
	}
	now := modern(func(w http.ResponseWriter, _ *http.Request, m *message) { result(w, m, answer(m.Params)) })
	before := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json")
		switch m.Method {
		case "initialize":
			result(w, &m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`)
		case "tools/list":
			result(w, &m, "{"+oneTool+"}")
		case "tools/call":
			result(w, &m, answer(m.Params))
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
	for name, h := range map[string]http.Handler{"2026-07-28": now, "2025-11-25": before} {
		s := start(t, &upstream.Config{URL: serve(t, h).URL}).ready(t)
		call := func(argument string) string {
			t.Helper()
			params := `{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
			r, err := s.call(t.Context(), &toolpost.Call{Name: "t", Arguments: json.RawMessage(`{"x":"` + argument + `"}`), Params: json.RawMessage(params), Caller: newRecorder()})
			if err != nil {
				return err.Error()
			}
			raw, err := r.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		if got := call("script"); strings.Contains(got, "input_required") || !strings.Contains(got, "is refused") {
			t.Errorf("%s: an address that runs a script is passed on: %s", name, got)
		}
		if got := call("text"); got != asks+`{"message":"a"}}}}` {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
