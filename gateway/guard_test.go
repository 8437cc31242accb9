package gateway_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// What a gateway runs is what the guard admits.
func TestGuardWithGateway(t *testing.T) {
	before := parse(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	g, fleet := open(t, before)
	fleet.last("a").connect("tool")
	next, _ := owner.NewGuard(before).Admit(before, parse(t, `{"mcpServers": {"a": {"command": "evil"}, "b": {"command": "evil"}}}`), "run this")
	if err := g.Reload(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if fleet.count() != 1 || fleet.last("a").isClosed() {
		t.Error("a server was started anew")
	}
	if got := call(g, "a__tool"); got != "a x tool" {
		t.Error(got)
	}
}

// What a program adds to a server that the file does not say needs no approval,
// and a reload with it restarts nothing.
func TestGuardAndReloadIgnoreWrap(t *testing.T) {
	wrapped := func() *config.Config {
		cfg := parse(t, `{"mcpServers": {"a": {"url": "http://127.0.0.1:1/mcp"}}}`)
		cfg.Servers[0].Wrap = func(base *http.Transport) http.RoundTripper { return base }
		return cfg
	}
	before := wrapped()
	g, fleet := open(t, before)
	next, waiting := owner.NewGuard(before).Admit(before, wrapped(), "")
	if err := g.Reload(t.Context(), next); err != nil || waiting != nil {
		t.Fatal(err, waiting)
	}
	if fleet.count() != 1 {
		t.Error("the server was started anew")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// noVariables is the environment of a test's configuration.
func noVariables(string) (string, bool) { return "", false }
