package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

func whoseTool() *toolpost.Tool {
	return rawTool("whose", anyObject, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(call.Session).WithOutputRef("ref"), nil
	})
}

func holderTool() *toolpost.Tool {
	return rawTool("holder", anyObject, func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(call.Session), nil
	})
}

// Calls of one session belong together, and to no other session; of clients
// without sessions, those of one name on one host.
func TestSessionOfACall(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil, whoseTool())
		whose := func(session *mcp.ClientSession) string {
			return callText(t, session, &mcp.CallToolParams{Name: "whose"})
		}
		one := w.connect(t, s, nil)
		same, other := w.connect(t, s, nil), func() *mcp.ClientSession { c, _ := w.dialAs(t, s, "another", "", nil); return c }()
		first := whose(one)
		if first == "" || whose(one) != first {
			t.Errorf("calls of one session are of %q and %q", first, whose(one))
		}
		stateless := w.isModern() && w.transport == "http"
		if got := whose(same); (got == first) != stateless {
			t.Errorf("a second session is %q beside %q", got, first)
		}
		if got := whose(other); got == first {
			t.Errorf("another client is %q too", got)
		}
	})
}

// The end of a session is told, by the name that its calls had.
func TestSessionEnded(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		if w.isModern() {
			t.Skip("it has no sessions")
		}
		ended := make(chan string, 1)
		s := serve(t, &mcpserver.Options{Views: &hooks{sessionEnded: func(session string) { ended <- session }}}, whoseTool())
		one := w.connect(t, s, nil)
		whose := callText(t, one, &mcp.CallToolParams{Name: "whose"})
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		if got := <-ended; got != whose {
			t.Errorf("%q has ended, and calls were of %q", got, whose)
		}
	})
}

func TestCredentialsTellCallersApart(t *testing.T) {
	s := serve(t, nil, whoseTool())
	whose := func(header string) string {
		body, headers := modernCall("whose", "{}", "")
		return s.post(t, body, headers+header).body
	}
	a, b := whose("Authorization: Bearer secret-a\n"), whose("Authorization: Bearer secret-b\n")
	if a == b || a != whose("Authorization: Bearer secret-a\n") || a == whose("") || strings.Contains(a, "secret") {
		t.Errorf("callers are %s and %s", a, b)
	}
	if !strings.Contains(a, `"_meta":{"toolpost/output_ref":"ref"`) {
		t.Errorf("the reference is not in _meta: %s", a)
	}
}

// Another credential that nobody has verified is that of another caller, and so are
// none and another client.
func TestHolderOfReferences(t *testing.T) {
	s := serve(t, nil, holderTool())
	holder := func(client, header string) string {
		body, headers := modernCall("holder", "{}", "")
		return s.post(t, strings.Replace(body, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"`+client+`","version":"1"},`, 1), headers+header).body
	}
	first := holder("raw", "Authorization: Bearer a\n")
	for _, got := range []string{holder("raw", "Authorization: Bearer b\n"), holder("raw", ""), holder("other", "Authorization: Bearer a\n")} {
		if got == first {
			t.Errorf("another caller is %s too", got)
		}
	}
}
