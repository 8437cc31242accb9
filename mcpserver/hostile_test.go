package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
)

// No error of a client passes for its consent.
func TestRefusalIsNoAnswer(t *testing.T) {
	tool := rawTool("ask", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var answer struct{ Action string }
		if err := call.Ask(ctx, "elicitation/create", map[string]any{"message": "may I?"}, &answer); err != nil {
			return nil, toolpost.Failed.Errorf("refused")
		}
		return toolpost.TextResult(answer.Action), nil
	})
	everyWay(t, func(t *testing.T, w way) {
		for _, code := range []int64{1, -32042} {
			session := w.connect(t, serve(t, nil, tool), &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return nil, &jsonrpc.Error{Code: code, Message: "no", Data: json.RawMessage(`{"action":"accept"}`)}
				},
			})
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
			switch {
			case w.isModern() && err == nil: // the client does not call again
				t.Errorf("code %d: got %+v", code, r)
			case !w.isModern() && (err != nil || !r.IsError || r.Content[0].(*mcp.TextContent).Text != "refused"):
				t.Errorf("code %d: got %+v, %v", code, r, err)
			}
		}
	})
}

// Ids are compared by what they mean, and a refused batch leaves none behind.
func TestIDsOverStdio(t *testing.T) {
	started, goOn := make(chan struct{}), make(chan struct{})
	s := serve(t, nil, rawTool("slow", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		close(started)
		<-goOn
		return toolpost.TextResult("done"), nil
	}))
	r := stdio(t, s, t.Context())
	r.send(t, strings.Replace(initialize, "2025-11-25", "2025-03-26", 1))
	soon(t, r.out.lines, "an answer")
	r.send(t, `{"jsonrpc":"2.0","id":"a\/b","method":"tools/call","params":{"name":"slow"}}`)
	soon(t, started, "the call")
	ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	const refused = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`
	for _, tt := range []struct{ line, want string }{
		{ping(`"a/b"`), `{"jsonrpc":"2.0","id":"a/b","error":{"code":-32600,`},
		{"[" + ping("7") + "," + ping(`"\u0061/b"`) + "]", refused},
		{"[" + ping(`"\u00e9"`) + "," + ping(`"é"`) + "]", refused},
		{ping("7"), `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{"[" + ping(`"\u00e9"`) + "]", `[{"jsonrpc":"2.0","id":"é","result":{}}]`},
		{ping(`"\u00e9"`), `{"jsonrpc":"2.0","id":"é","result":{}}`},
	} {
		r.send(t, tt.line)
		if got := soon(t, r.out.lines, "an answer"); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.line, got, tt.want)
		}
	}
	close(goOn)
	soon(t, r.out.lines, "the answer of the slow call")
	_ = r.in.Close()
	if err := soon(t, r.done, "the end"); err != nil { // at once: no call is open
		t.Error(err)
	}
}

// Bad parameters of initialize are named in terms of the protocol.
func TestBadInitialize(t *testing.T) {
	s := serve(t, nil)
	lines := stdio(t, s, t.Context())
	for from, to := range map[string]string{
		`"2025-11-25"`:      `5|protocolVersion must be a string`,
		`"capabilities":{}`: `"capabilities":[]|capabilities must be an object`,
		`"name":"t"`:        `"name":{}|clientInfo.name must be a string`,
	} {
		to, text, _ := strings.Cut(to, "|")
		body := strings.Replace(initialize, from, to, 1)
		want := `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"initialize: ` + text + `"}}`
		if e := s.post(t, body, ""); e.status != 400 || e.last() != want {
			t.Errorf("got %d %s, want %s", e.status, e.body, want)
		}
		lines.send(t, body)
		if got := soon(t, lines.out.lines, "an answer"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	lines.send(t, initialize)
	if got := soon(t, lines.out.lines, "an answer"); !strings.Contains(got, `"result"`) {
		t.Errorf("then: %s", got)
	}
}
