package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

// apart makes two sessions have processes of their own of a server over stdio, which
// change what they list.
func apart(t *testing.T, share, env string) (a, b *guest) {
	t.Helper()
	url := serveFile(t, `"a":{"command":"solitary","env":{`+env+`},"share":"`+share+`"}`)
	a, b = visit(t, url, "a", everyCapability), visit(t, url, "b", everyCapability)
	if share == "auto" {
		a.call("a__ask", question)
	}
	if one, other := a.call("a__pid", "{}"), b.call("a__pid", "{}"); one == other {
		t.Fatal("the sessions share a process")
	}
	a.listen()
	b.listen()
	return a, b
}

// Tools that the process of a session adds and removes are listed to that session, and
// run there. It is notified, and no other session is.
func TestToolsOfSessionProcesses(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"auto", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			a, b := apart(t, share, "")
			a.names()
			b.names()
			for _, version := range []string{"version_1", "version_2"} {
				b.call("a__change", "{}")
				b.hears("tools/list_changed")
				if got := b.names(); !slices.Contains(got, version) || slices.Contains(got, "version_0") {
					t.Errorf("after its change, the session lists %q", got)
				}
				if got := b.call("a__"+version, "{}"); got != version {
					t.Errorf("the new tool answers %s", got)
				}
				b.mu.Lock()
				b.heard = nil
				b.mu.Unlock()
			}
			for _, gone := range []string{"version_0", "version_1"} {
				if got := b.call("a__"+gone, "{}"); !strings.Contains(got, "unknown tool") {
					t.Errorf("a tool that is gone answers %s", got)
				}
			}
			if got := a.names(); !slices.Contains(got, "version_0") || slices.Contains(got, "version_2") {
				t.Errorf("another session lists %q", got)
			}
			if got := a.call("a__version_2", "{}"); !strings.Contains(got, "unknown tool") {
				t.Errorf("another session calls the new tool: %s", got)
			}
			if got := a.call("a__version_0", "{}"); got != "version_0" {
				t.Errorf("another session calls its tool: %s", got)
			}
			if got := b.call("a__ask", question); !strings.Contains(got, `"to":"b"`) {
				t.Errorf("a question: %s", got)
			}
			a.call("a__change", "{}")
			a.hears("tools/list_changed")
			if strings.Count(a.all(), "list_changed") != 1 || strings.Contains(b.all(), "list_changed") {
				t.Errorf("a heard %s; b heard %s", a.all(), b.all())
			}
		})
	}
}

// Prompts, resources, completions and subscriptions of a session are those of its
// process.
func TestFeaturesOfSessionProcesses(t *testing.T) {
	t.Parallel()
	for _, share := range []string{"auto", "per-session", "per-client"} {
		t.Run(share, func(t *testing.T) {
			a, b := apart(t, share, `"FEATURES":"1"`)
			for _, g := range []*guest{a, b} {
				g.must("prompts/list", "{}")
				g.must("resources/list", "{}")
				g.must("resources/subscribe", `{"uri":"x://shared"}`)
			}
			b.call("a__change", "{}")
			b.hears("prompts/list_changed")
			b.hears("resources/list_changed")
			b.hears("resources/updated")
			prompts, resources := string(b.must("prompts/list", "{}")), string(b.must("resources/list", "{}"))
			if !strings.Contains(prompts, "prompt_1") || strings.Contains(prompts, "prompt_0") || !strings.Contains(resources, "x://1") || strings.Contains(resources, "x://0") {
				t.Errorf("the session lists %s and %s", prompts, resources)
			}
			pid := b.call("a__pid", "{}")
			for method, params := range map[string]string{
				"prompts/get": `{"name":"a__prompt_1"}`, "resources/read": `{"uri":"x://1"}`,
				"completion/complete": `{"ref":{"type":"ref/prompt","name":"a__prompt_1"},"argument":{"name":"x","value":""}}`,
			} {
				if got := string(b.must(method, params)); !strings.Contains(got, "of "+pid) {
					t.Errorf("%s: %s", method, got)
				}
				if answer, err := a.ask(t.Context(), method, params); err != nil || wire.Get(answer, "result") != nil && method != "resources/read" {
					t.Errorf("another session, %s: %s (%v)", method, answer, err)
				}
			}
			if got := string(a.must("prompts/list", "{}")) + string(a.must("resources/list", "{}")); !strings.Contains(got, "prompt_0") || !strings.Contains(got, "x://0") || strings.Contains(got, "_1") {
				t.Errorf("another session lists %s", got)
			}
			a.call("a__change", "{}")
			a.hears("resources/updated")
			a.hears("prompts/list_changed")
			if strings.Count(a.all(), "updated") != 1 || strings.Count(b.all(), "updated") != 1 {
				t.Errorf("a heard %s; b heard %s", a.all(), b.all())
			}
		})
	}
}

// A session that watched a resource of the process that all share watches it in its own
// process from then on.
func TestSubscriptionsMoveToSessionProcesses(t *testing.T) {
	t.Parallel()
	url := serveFile(t, `"a":{"command":"solitary","env":{"FEATURES":"1"}}`)
	a, b := visit(t, url, "a", everyCapability), visit(t, url, "b", everyCapability)
	for _, g := range []*guest{a, b} {
		g.listen()
		g.call("a__pid", "{}")
		g.must("resources/subscribe", `{"uri":"x://shared"}`)
	}
	if got := b.call("a__ask", question); !strings.Contains(got, "from its next call on") {
		t.Fatalf("a question that may be for two clients: %s", got)
	}
	for _, g := range []*guest{a, b} {
		for !strings.Contains(g.all(), "updated") { // as soon as its process is subscribed to
			g.call("a__change", "{}")
		}
	}
}
