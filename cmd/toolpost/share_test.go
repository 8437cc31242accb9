package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

// The roots of a client reach its server, and so do those that it has later, however
// the server is shared.
func TestChangedRootsReachServers(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"auto", "always", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			g := visit(t, serveFile(t, `"a":{"command":"solitary","env":{"ROOTS":"1"},"share":"`+share+`"}`), "g", everyCapability)
			if got := g.call("a__roots", "{}"); !strings.Contains(got, "file:///one") {
				t.Errorf("got %s", got)
			}
			g.answer("roots/list", `{"roots":[{"uri":"file:///two"}]}`)
			if _, err := g.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`); err != nil {
				t.Fatal(err)
			}
			if got := g.call("a__roots", "{}"); !strings.Contains(got, "file:///two") {
				t.Errorf("the folder that the user took away stays: got %s", got)
			}
			g.leave()
		})
	}
}

// A process that is started for a client gets its roots before its first call if the
// server is known to ask for them.
func TestRootsBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"auto", "always", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			g := visit(t, serveFile(t, `"a":{"command":"solitary","env":{"ROOTS":"slow"},"share":"`+share+`"}`), "g", everyCapability)
			if got := g.call("a__roots", "{}"); !strings.Contains(got, "file:///one") {
				t.Errorf("got %s", got)
			}
			g.leave()
		})
	}
}

// A server that starts with the first call of its client may ask for roots while this
// call is under way, and no more: it gets those that the client has later all the same.
func TestRootsOfTheFirstCall(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"auto", "always", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			g := visit(t, serveFile(t, `"a":{"command":"solitary","env":{"ROOTS":"late"},"share":"`+share+`"}`), "g", everyCapability)
			g.call("a__roots", "{}")
			g.answer("roots/list", `{"roots":[{"uri":"file:///two"}]}`)
			if _, err := g.post(t.Context(), `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`); err != nil {
				t.Fatal(err)
			}
			if got := g.call("a__roots", "{}"); !strings.Contains(got, "file:///two") {
				t.Errorf("got %s", got)
			}
			g.leave()
		})
	}
}

// A log message that a server sends after its answer reaches the only client of the
// server, if that wants messages of its level.
func TestLogsOutsideOfCalls(t *testing.T) {
	t.Parallel()
	g := visit(t, serveFile(t, `"a":{"command":"solitary","share":"always"}`), "g", "{}")
	g.listen()
	if got := g.call("a__log", "{}"); got != "logged" {
		t.Fatalf("got %s", got)
	}
	g.hears(`"after"`)
	g.must("logging/setLevel", `{"level":"error"}`)
	before := g.all()
	g.call("a__log", "{}")
	g.call("a__change", "{}")
	g.hears("list_changed")
	if got := g.names(); !slices.Contains(got, "version_1") {
		t.Errorf("tools %q", got)
	}
	if after := strings.TrimPrefix(g.all(), before); strings.Contains(after, "notifications/message") {
		t.Errorf("heard %s", after)
	}
}

// A client is asked only for what it declared, and the server gets the error that the
// specification names.
func TestQuestionsThatTheClientDeclared(t *testing.T) {
	t.Parallel()
	g := visit(t, serveFile(t, `"a":{"command":"solitary"}`), "g", `{"sampling":{},"elicitation":{"url":{}}}`)
	for _, test := range []struct{ arguments, want string }{
		{question, `-32602,"message":"elicitation/create: the client did not declare the capability elicitation.form"`},
		{`{"method":"elicitation/create","params":{"mode":"url","message":"Go","url":"https://example.com","elicitationId":"1"}}`, "accept"},
		{`{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}`, `-32602,"message":"sampling/createMessage: the client did not declare the capability sampling.tools"`},
		{`{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"includeContext":"thisServer"}}`, `"model":"m"`},
		{`{"method":"roots/list","params":{}}`, "capability roots"},
	} {
		if got := g.call("a__ask", test.arguments); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s", test.arguments, got)
		}
	}
	if got := g.all(); strings.Contains(got, "tools") || strings.Contains(got, "includeContext") || strings.Contains(got, "Who?") {
		t.Errorf("the client was asked %s", got)
	}
}

// A server may ask each client that comes, however often one is started again: sessions
// that ended and sessions that did not end do not stand in the way of later ones.
func TestQuestionsOfLaterSessions(t *testing.T) {
	t.Parallel()
	url := serveFile(t, `"a":{"command":"solitary"}`)
	for i := range 6 {
		g := visit(t, url, "same", everyCapability)
		if got := g.call("a__ask", question); !strings.Contains(got, `"to":"same"`) {
			t.Fatalf("session %d: %s", i, got)
		}
		if i%2 == 0 {
			g.leave()
		}
	}
}

// Clients share a process until the server asks. The first question that may be for
// several is refused, and no later one; each reaches the client that it is for.
func TestQuestionsOfSessionsAtOnce(t *testing.T) {
	t.Parallel()
	url := serveFile(t, `"a":{"command":"solitary"}`)
	a, b := visit(t, url, "a", everyCapability), visit(t, url, "b", everyCapability)
	if one, other := a.call("a__pid", "{}"), b.call("a__pid", "{}"); one != other {
		t.Errorf("the processes are %s and %s before the server has asked", one, other)
	}
	if got := a.call("a__ask", question); !strings.Contains(got, "from its next call on") {
		t.Errorf("a question that may be for two clients: %s", got)
	}
	for range 2 {
		for _, g := range []*guest{a, b} {
			if got := g.call("a__ask", question); !strings.Contains(got, `"to":"`+g.name+`"`) {
				t.Errorf("client %s: %s", g.name, got)
			}
		}
	}
	if one, other := a.call("a__pid", "{}"), b.call("a__pid", "{}"); one == other {
		t.Error("two sessions share a process of a server that asks")
	}
	if one, again := a.call("a__pid", "{}"), a.call("a__pid", "{}"); one != again {
		t.Error("a session has lost its process")
	}
	late := visit(t, url, "late", `{"sampling":{},"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html"]}}}`)
	got := late.call("a__client", "{}")
	for _, want := range []string{`"name":"late"`, `"elicitation":{"url":{}}`, `"sampling":{}`, "io.modelcontextprotocol/ui"} {
		if !strings.Contains(got, want) || strings.Contains(got, "roots") {
			t.Errorf("the process of a client knows its client as %s, which lacks %s", got, want)
		}
	}
}

// stateless is a client of 2026-07-28.
func stateless(t *testing.T, url, name string) *guest {
	g := newGuest(t, url, name, everyCapability)
	g.version = wire.Stateless
	g.names() // which waits for the server
	return g
}

// Clients without sessions are asked in their calls, also beside other calls, and after
// calls that were canceled and that the server does not answer, as MCP wants it.
func TestQuestionsWithoutSessions(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"auto", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			url := serveFile(t, `"a":{"command":"solitary","share":"`+share+`"}`)
			g := stateless(t, url, "g")
			ask := func() {
				t.Helper()
				if got := g.call("a__ask", question); !strings.Contains(got, `"to":"g"`) {
					t.Errorf("got %s", got)
				}
			}
			ask()
			pid := g.call("a__pid", "{}")
			ask()
			if again := g.call("a__pid", "{}"); again != pid {
				t.Error("a call did not find the process of the call before")
			}
			for range 2 {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _ = g.ask(ctx, "tools/call", `{"name":"a__hang","arguments":{},"_meta":{}}`)
				}()
				ask() // beside it
				cancel()
				<-done
				ask()
			}
			var all sync.WaitGroup
			for range 5 {
				all.Go(ask)
			}
			all.Wait()
		})
	}
}

// The log messages of a call reach a session that asked for messages although others
// have used the server before, and show that the server is for one client.
func TestLogsOfLaterSessions(t *testing.T) {
	t.Parallel()
	url := serveFile(t, `"a":{"command":"solitary"}`)
	visit(t, url, "a", "{}").call("a__pid", "{}")
	visit(t, url, "b", "{}").call("a__pid", "{}")
	c := visit(t, url, "c", everyCapability)
	c.must("logging/setLevel", `{"level":"debug"}`)
	c.call("a__log", "{}")
	if got := c.all(); !strings.Contains(got, `"in"`) {
		t.Errorf("heard %q", got)
	}
	d := visit(t, url, "d", everyCapability)
	if got := d.call("a__ask", question); !strings.Contains(got, `"to":"d"`) {
		t.Errorf("got %s", got)
	}
}

// A question about roots that may be of several clients ends their process only if one
// of them may have roots: otherwise the answer is right for all.
func TestRootsOfSessionsAtOnce(t *testing.T) {
	t.Parallel()
	const roots = `{"method":"roots/list","params":{}}`
	for can, want := range map[string]bool{everyCapability: false, `{"elicitation":{}}`: true} {
		url := serveFile(t, `"a":{"command":"solitary"}`)
		a, b := visit(t, url, "a", `{}`), visit(t, url, "b", can)
		before := b.call("a__pid", "{}")
		if got := a.call("a__ask", roots); got != `{"roots":[]}` {
			t.Errorf("the clients have the roots %s", got)
		}
		if after := b.call("a__pid", "{}"); (before == after) != want {
			t.Errorf("with %s, the process stays: %v, want %v", can, before == after, want)
		}
		if got := b.call("a__ask", roots); strings.Contains(got, "file:///one") == want {
			t.Errorf("with %s, its roots are %s", can, got)
		}
		late := visit(t, url, "late", everyCapability) // the evidence counts for later clients
		if got := late.call("a__ask", roots); !strings.Contains(got, "file:///one") {
			t.Errorf("a later client has the roots %s", got)
		}
	}
}
