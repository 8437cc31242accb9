//go:build linux

package live

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestLongOutput has 500 MB of a tool pass the gateway, in one message over
// each transport, and finds their last line; the gateway's memory stays small.
func TestLongOutput(t *testing.T) {
	node(t) // skips without make live
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	remote := listen(t, http.HandlerFunc(longHTTP))
	config := filepath.Join(t.TempDir(), "toolpost.json")
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"stdio":  map[string]any{"command": self, "args": []string{"long"}},
		"json":   map[string]any{"type": "http", "url": remote.URL + "/json"},
		"events": map[string]any{"type": "http", "url": remote.URL + "/events"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, config, string(servers))
	gateway, url := gateway(t, config)
	client := dial(t, url)
	for _, name := range []string{"stdio", "json", "events"} {
		until(t, "connect to "+name, func() error { return offers(t, client, name+"__log") })
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: name + "__log", Arguments: map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := r.Meta["toolpost/output_ref"].(string)
		if view := r.Content[0].(*mcp.TextContent).Text; r.IsError || len(view) > 48_000 || !strings.HasSuffix(view, longLast+"\n") || ref == "" {
			t.Fatalf("%s: the view has %d characters and the reference %q: %.300q", name, len(view), ref, view)
		}
		found := call{"tool_output_cache_grep", map[string]any{"ref_id": ref, "pattern": "verdict"}, strconv.Itoa(longRows+1) + ": " + longLast}
		if err := try(t, client, found); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: the gateway has used %d MB of memory at the most", name, peak(t, gateway.Process.Pid)>>20)
	}
	if most := peak(t, gateway.Process.Pid); most > 128<<20 {
		t.Errorf("the gateway has used %d MB of memory", most>>20)
	}
}

// peak is the most memory that a process had resident (proc(5), VmHWM), in bytes.
func peak(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	n, _ := strconv.Atoi(string(m[1])) // they are digits
	return n << 10
}

func offers(t *testing.T, client *mcp.ClientSession, tool string) error {
	list, err := client.ListTools(t.Context(), nil)
	if err == nil && !slices.ContainsFunc(list.Tools, func(l *mcp.Tool) bool { return l.Name == tool }) {
		err = fmt.Errorf("there is no %s", tool)
	}
	return err
}
