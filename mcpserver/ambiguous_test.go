package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// What a filter in front of the server reads is what runs: one member names
// the tool, prompt or resource, and another one beside it is refused.
func TestOneNameOnly(t *testing.T) {
	s := serve(t, nil, textTool("list", "harmless"), textTool("read", "secret"))
	session := s.session(t)
	lines := stdio(t, s, t.Context())
	lines.send(t, initialize)
	soon(t, lines.out.lines, "an answer")
	for params, method := range map[string]string{
		`{"name":"list","uri":"read"}`: "tools/call",
		`{"uri":"read","name":"list"}`: "tools/call",
		`{"uri":"read"}`:               "tools/call",
		`{"name":"p","uri":"q"}`:       "prompts/get",
		`{"uri":"x://1","name":"y"}`:   "resources/read",
		`{"name":"x://1"}`:             "resources/read",
	} {
		body := `{"jsonrpc":"2.0","id":1,"params":` + params + `,"method":"` + method + `"}`
		if e := s.post(t, body, session); !strings.Contains(e.body, "-32602") {
			t.Errorf("%s %s: %s", method, params, e.body)
		}
		lines.send(t, body)
		if got := soon(t, lines.out.lines, "an answer"); !strings.Contains(got, "-32602") {
			t.Errorf("%s %s: %s", method, params, got)
		}
		_, header := modernCall("read", "{}", "")
		modern := strings.Replace(body, params, strings.TrimSuffix(params, "}")+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`, 1)
		if e := s.post(t, modern, strings.Replace(header, "tools/call", method, 1)); !strings.Contains(e.body, "-32602") {
			t.Errorf("modern %s %s: %s", method, params, e.body)
		}
	}
}

// Of several headers, a proxy may check another one than the server reads.
func TestOneHeaderOnly(t *testing.T) {
	s, _ := newServer(t, nil, textTool("t", "x"))
	body, modern := modernCall("t", "{}", "")
	send := func(name string, values ...string) int {
		r := httptest.NewRequest("POST", "http://localhost/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for line := range strings.Lines(modern) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			r.Header.Set(key, value)
		}
		for _, v := range values {
			r.Header.Add(name, v)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for name, value := range map[string]string{
		"Origin": "http://localhost", "Authorization": "Bearer x", "Sec-Fetch-Site": "same-origin", "Mcp-Session-Id": "x",
	} {
		if code := send(name, value); code != http.StatusOK {
			t.Errorf("one %s: %d", name, code)
		}
		if code := send(name, value, "evil"); code != http.StatusForbidden {
			t.Errorf("two %s: %d", name, code)
		}
	}
	for _, name := range []string{"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version"} {
		if code := send(name, "x"); code != http.StatusForbidden {
			t.Errorf("two %s: %d", name, code)
		}
	}
	if code := send("Origin", "javascript://localhost"); code != http.StatusForbidden {
		t.Errorf("another scheme: %d", code)
	}
}

// The client is asked in the order in which the handler names what it wants.
func TestOrderOfInputs(t *testing.T) {
	const keys = "zebra apple mango kiwi banana cherry"
	var requests strings.Builder
	for i, key := range strings.Fields(keys) {
		if i > 0 {
			requests.WriteByte(',')
		}
		requests.WriteString(`"` + key + `":{"method":"elicitation/create","params":{"message":"` + key + `","requestedSchema":{"type":"object","properties":{}}}}`)
	}
	tool := rawTool("rounds", anyObject, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if strings.Contains(string(call.Params), "inputResponses") {
			return toolpost.TextResult("done"), nil
		}
		return toolpost.RawResult(json.RawMessage(`{"resultType":"input_required","inputRequests":{` + requests.String() + `}}`)), nil
	})
	var asked []string
	w := way{"stdio", "2025-11-25"}
	session := w.connect(t, serve(t, nil, tool), &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked = append(asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
	})
	if got := callText(t, session, callOf("rounds")); got != "done" {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff(strings.Fields(keys), asked); diff != "" {
		t.Error(diff)
	}
}

// Templates of a hostile server take neither the process nor much time.
func TestHostileTemplates(t *testing.T) {
	s := serve(t, nil)
	features := &toolpost.Features{Resources: []*toolpost.Resource{{URI: "a:" + strings.Repeat("{a}", 1_800_000), Template: true}}}
	for range 1500 {
		features.Resources = append(features.Resources, &toolpost.Resource{URI: "x://" + strings.Repeat("{a}b", len(features.Resources)%60+1) + "c", Template: true})
	}
	s.SetFeatures(features)
	session := s.session(t)
	e := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://`+strings.Repeat("ab", 3000)+`"}}`, session)
	if !strings.Contains(e.body, "-32002") {
		t.Errorf("got %.200s", e.body)
	}
}
