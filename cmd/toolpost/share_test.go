package main

import (
	"slices"
	"strings"
	"testing"
)

// The roots of a client reach its server, and so do those that it has later, however
// the server is shared.
func TestChangedRootsReachServers(t *testing.T) {
	for _, share := range []string{"always", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			g := visit(t, serveFile(t, `"a":{"command":"solitary","env":{"ROOTS":"1"},"share":"`+share+`"}`), "g", everyCapability)
			if got := g.call("a__roots", "{}"); !strings.Contains(got, "file:///one") {
				t.Errorf("got %s", got)
			}
			g.answers["roots/list"] = `{"roots":[{"uri":"file:///two"}]}`
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

// A log message that a server sends after its answer reaches the only client of the
// server, if that wants messages of its level.
func TestLogsOutsideOfCalls(t *testing.T) {
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
