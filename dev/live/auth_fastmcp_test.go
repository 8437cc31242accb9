//go:build unix

package live

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuthFastMCP is the life of a login at a real FastMCP server with its own authorization
// server, which refuses clients whose id is not in the body.
func TestAuthFastMCP(t *testing.T) {
	t.Parallel()
	interpreter := pythonOf(t, "fastmcp")
	script, err := filepath.Abs(filepath.Join("testdata", "auth", "own_server.py"))
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	server := start(t, nil, interpreter, script, port, "9") // seconds: tokens are renewed 10 s before their end
	until(t, "the server listens", func() error {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
		}
		return err
	})
	h := emptyHome(t)
	config := filepath.Join(t.TempDir(), "toolpost.json")
	write(t, config, `{"mcpServers": {"tracker": {"url": "http://127.0.0.1:`+port+`/mcp"}}}`)
	h.fails("toolpost login tracker", "call", "--config", config, "tracker__read")
	h.login("--config", config)
	const calls = 2
	for range calls {
		h.must("read something", "call", "--config", config, "tracker__read")
	}
	if n := strings.Count(server.output.String(), "renewed\n"); n < calls {
		t.Errorf("%d renewals, want at least %d", n, calls)
	}
	h.must("Logged out of tracker", "logout", "tracker", "--config", config)
	h.fails("toolpost login tracker", "call", "--config", config, "tracker__read")
}
