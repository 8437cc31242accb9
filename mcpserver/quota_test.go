package mcpserver_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/mcpserver"
)

// quotaServer serves callers who say who they are.
func quotaServer(t *testing.T, opts *mcpserver.Options) (open func(who string) int, call func(who string) int) {
	opts.Identity = func(r *http.Request) string { return r.Header.Get("X-Who") }
	s, _ := newServer(t, opts)
	sessions := map[string][]string{}
	open = func(who string) int {
		w := handle(s, t.Context(), "POST", initialize, "X-Who: "+who)
		if w.Code == http.StatusOK {
			sessions[who] = append(sessions[who], w.Header().Get("Mcp-Session-Id"))
		}
		return w.Code
	}
	call = func(who string) (served int) { // with each session
		for _, id := range sessions[who] {
			if handle(s, t.Context(), "POST", ping, "X-Who: "+who+"\nMcp-Session-Id: "+id).Code == http.StatusOK {
				served++
			}
		}
		return served
	}
	return open, call
}

// Callers at one address, such as that of a proxy, do not share a limit.
func TestSessionsOfOneIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, call := quotaServer(t, &mcpserver.Options{Limits: mcpserver.Limits{ClientSessions: 3}})
		for range 3 {
			open("a")
		}
		if served := call("a"); served != 3 {
			t.Fatalf("%d sessions of a", served)
		}
		if got := open("a"); got != http.StatusServiceUnavailable {
			t.Errorf("a fourth session of a: %d", got)
		}
		for _, who := range []string{"b", ""} {
			if got := open(who); got != http.StatusOK {
				t.Errorf("a session of %q: %d", who, got)
			}
		}
	})
}

// When all sessions are in use, who has most gives way to those who have fewer.
func TestLargestHolderGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, call := quotaServer(t, &mcpserver.Options{Limits: mcpserver.Limits{Sessions: 6, ClientSessions: 5}})
		for range 5 {
			open("a")
		}
		open("b")
		call("a")
		call("b")
		for _, who := range []string{"c", "c", "d"} {
			time.Sleep(time.Second)
			call("a")
			if got := open(who); got != http.StatusOK {
				t.Errorf("a session of %s: %d", who, got)
			}
		}
		if a, b, c, d := call("a"), call("b"), call("c"), call("d"); a != 2 || b != 1 || c != 2 || d != 1 {
			t.Errorf("a has %d, b %d, c %d, d %d", a, b, c, d)
		}
		if got := open("c"); got != http.StatusServiceUnavailable {
			t.Errorf("nobody has more than c: %d", got)
		}
	})
}
