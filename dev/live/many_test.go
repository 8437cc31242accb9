//go:build unix

package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

// A realServer is a server of a registry. It starts without credentials that are
// real, and without network.
type realServer struct {
	peer   string   // in peers.txt; "" for a package of pypi.txt
	pip    string   // in pypi.txt, the package or the one that needs it
	bin    string   // below node_modules/.bin, or the Python module
	args   []string // DIR stands for a folder of the test
	env    map[string]string
	call   *call  // without side effects; nil if all of its calls need network or a browser
	reason string // why nothing is called
}

const (
	needsNetwork = "its tools need network"
	needsBrowser = "its tools need a browser"
	minServers   = 12 // must be equal
)

var realServers = map[string]realServer{
	"everything": {peer: "@modelcontextprotocol/server-everything", bin: "mcp-server-everything", args: []string{"stdio"}, call: &call{"echo", map[string]any{"message": "hi"}, "Echo: hi"}},
	"files":      {peer: "@modelcontextprotocol/server-filesystem", bin: "mcp-server-filesystem", args: []string{"DIR"}, call: &call{"list_allowed_directories", map[string]any{}, "Allowed directories"}},
	"memory":     {peer: "@modelcontextprotocol/server-memory", bin: "mcp-server-memory", env: map[string]string{"MEMORY_FILE_PATH": "DIR/memory.jsonl"}, call: &call{"read_graph", map[string]any{}, "entities"}},
	"thinking": {peer: "@modelcontextprotocol/server-sequential-thinking", bin: "mcp-server-sequential-thinking",
		call: &call{"sequentialthinking", map[string]any{"thought": "x", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}, "thoughtNumber"}},
	"context7":   {peer: "@upstash/context7-mcp", bin: "context7-mcp", reason: needsNetwork},
	"notion":     {peer: "@notionhq/notion-mcp-server", bin: "notion-mcp-server", env: map[string]string{"NOTION_TOKEN": "ntn_dummy"}, reason: needsNetwork},
	"playwright": {peer: "@playwright/mcp", bin: "playwright-mcp", reason: needsBrowser},
	"brave":      {peer: "@brave/brave-search-mcp-server", bin: "brave-search-mcp-server", env: map[string]string{"BRAVE_API_KEY": "dummy"}, args: []string{"--transport", "stdio"}, reason: needsNetwork},
	"tavily":     {peer: "tavily-mcp", bin: "tavily-mcp", env: map[string]string{"TAVILY_API_KEY": "tvly-dummy"}, reason: needsNetwork},
	"devtools":   {peer: "chrome-devtools-mcp", bin: "chrome-devtools-mcp", args: []string{"--no-usage-statistics"}, reason: needsBrowser},
	"time":       {pip: "mcp-server-time", bin: "mcp_server_time", args: []string{"--local-timezone", "UTC"}, call: &call{"get_current_time", map[string]any{"timezone": "UTC"}, "UTC"}},
	"git":        {pip: "mcp-server-time", bin: "mcp_server_git", reason: "its tools need a repository"},
	"fetch":      {pip: "mcp-server-time", bin: "mcp_server_fetch", reason: needsNetwork},
	"sqlite":     {pip: "mcp-server-sqlite", bin: "mcp_server_sqlite", args: []string{"--db-path", "DIR/x.db"}, call: &call{"list_tables", map[string]any{}, "[]"}},
}

// entry returns the server as an entry of toolpost.json, and why there is none.
func (s *realServer) entry(t *testing.T, dir string) (entry map[string]any, missing string) {
	in := func(text string) string { return strings.ReplaceAll(text, "DIR", dir) }
	args := []string{}
	env := map[string]string{"npm_config_update_notifier": "false", "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"}
	for name, value := range s.env {
		env[name] = in(value)
	}
	command := node(t)
	if s.peer == "" {
		command = filepath.Join(os.Getenv("TOOLPOST_LIVE"), "pypi-"+s.pip+"-"+installedVersion(s.pip, ""), "bin", "python")
		args = append(args, "-c", "import "+s.bin+"; "+s.bin+".main()")
	} else {
		args = append(args, filepath.Join(os.Getenv("TOOLPOST_LIVE"), filepath.Base(s.peer)+"-"+installedVersion(s.peer, ""), "node_modules", ".bin", s.bin))
	}
	for _, file := range []string{command, args[0]} {
		if _, err := os.Stat(file); err != nil && file != "-c" {
			return nil, "it is not installed: " + err.Error()
		}
	}
	for _, arg := range s.args {
		args = append(args, in(arg))
	}
	return map[string]any{"command": command, "args": args, "env": env}, ""
}

// TestRealServers joins servers from npm and PyPI in one gateway: their
// definitions, names aside, are byte for byte those that a server lists itself.
func TestRealServers(t *testing.T) {
	node(t) // skips without peers
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	entries, outcome := map[string]any{}, map[string]string{}
	for name, s := range realServers {
		if e, missing := s.entry(t, dir); missing == "" {
			entries[name] = e
		} else {
			outcome[name] = missing
		}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": entries, "dialect": "none", "output": false})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "toolpost.json")
	write(t, file, string(config))
	_, url := gateway(t, file)
	client := dial(t, url)
	var mu sync.Mutex
	t.Run("servers", func(t *testing.T) {
		for name := range entries {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				defer func() {
					mu.Lock()
					defer mu.Unlock()
					if outcome[name] == "" {
						outcome[name] = "NOT EQUAL, see the messages of this server above"
					}
				}()
				direct := listDirectly(t, entries[name].(map[string]any))
				tools := 0
				until(t, "lists are equal", func() error {
					want, err := direct()
					tools = len(want)
					return cmpLists(listThrough(t, url, name+"__"), want, err)
				})
				said := fmt.Sprintf("%3d tools, equal", tools)
				if s := realServers[name]; s.call != nil {
					c := *s.call
					c.Name = name + "__" + c.Name
					if err := try(t, client, c); err != nil {
						t.Error(err)
					}
					said += ", " + s.call.Name + " called"
				} else {
					said += "; nothing is called: " + s.reason
				}
				mu.Lock()
				defer mu.Unlock()
				if !t.Failed() {
					outcome[name] = said
				}
			})
		}
	})
	equal := 0
	for _, name := range slices.Sorted(maps.Keys(realServers)) {
		if strings.Contains(outcome[name], "tools, equal") {
			equal++
		}
		t.Logf("%-12s %s", name, outcome[name])
	}
	if equal < minServers {
		t.Errorf("only %d servers are equal, want %d", equal, minServers)
	}
}

// cmpLists reports how the definitions of a server differ through the gateway.
func cmpLists(got, want map[string]string, err error) error {
	switch {
	case err != nil:
		return err
	case len(want) == 0:
		return fmt.Errorf("it lists no tools")
	}
	for name, definition := range want {
		if got[name] != definition {
			return fmt.Errorf("%s is\n%s\nwant\n%s", name, got[name], definition)
		}
	}
	for name := range got {
		if want[name] == "" {
			return fmt.Errorf("%s is added", name)
		}
	}
	return nil
}

// listDirectly starts a server and returns a function that lists its tools. The
// server sees a client that can do what the gateway declares: some list other
// tools to others.
func listDirectly(t *testing.T, entry map[string]any) func() (map[string]string, error) {
	t.Helper()
	var env []string
	for name, value := range entry["env"].(map[string]string) {
		env = append(env, name+"="+value)
	}
	cmd := command(t.Context(), t, env, entry["command"].(string), entry["args"].([]string)...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServer(cmd, in) })
	lines := bufio.NewReader(out)
	ask := func(method, params string) (json.RawMessage, error) {
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params); err != nil {
			return nil, err
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			if line = bytes.TrimSpace(line); wire.IsObject(line) && wire.Get(line, "method") == nil {
				return wire.Get(line, "result"), nil
			}
		}
	}
	if _, err := ask("initialize", helloParams); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return func() (map[string]string, error) {
		all := map[string]string{}
		return all, eachPage(ask, func(name string, tool json.RawMessage) { all[name] = string(tool) })
	}
}

const helloParams = `{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"live","version":"1"}}`

func endServer(cmd *exec.Cmd, in io.Closer) {
	in.Close()
	_ = cmd.Cancel()
	_ = cmd.Wait()
}

// eachPage calls add for every tool of all pages.
func eachPage(ask func(method, params string) (json.RawMessage, error), add func(name string, tool json.RawMessage)) error {
	params := "{}"
	for {
		result, err := ask("tools/list", params)
		if err != nil {
			return err
		}
		for tool := range wire.Elements(wire.Get(result, "tools")) {
			add(wire.Unquote(wire.Get(tool, "name")), tool)
		}
		cursor := wire.Get(result, "nextCursor")
		if wire.Unquote(cursor) == "" {
			return nil
		}
		params = `{"cursor":` + string(cursor) + `}`
	}
}

// listThrough returns the tools with a prefix that the gateway lists, under their
// names without it.
func listThrough(t *testing.T, url, prefix string) map[string]string {
	t.Helper()
	session := ""
	ask := func(method, params string) (json.RawMessage, error) {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Session-Id", session)
		if session == "" {
			r.Header.Del("Mcp-Session-Id")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if session == "" {
			session = answer.Header.Get("Mcp-Session-Id")
		}
		if _, data, ok := bytes.Cut(text, []byte("data: ")); ok && bytes.HasPrefix(text, []byte("event:")) {
			text = data
		}
		return wire.Get(bytes.TrimSpace(text), "result"), err
	}
	all := map[string]string{}
	if _, err := ask("initialize", helloParams); err != nil {
		t.Fatal(err)
	}
	err := eachPage(ask, func(name string, tool json.RawMessage) {
		if own, ok := strings.CutPrefix(name, prefix); ok {
			all[own] = string(wire.Set(tool, "name", wire.Quote(own)))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
