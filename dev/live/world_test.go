//go:build unix

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A world is the three reference servers, over all three transports, behind
// one gateway.
type world struct {
	config  string             // toolpost.json
	pidFile string             // holds the process id of the server over stdio
	remote  map[string]*remote // "http" and "sse"
	gateway *process
	url     string // of the gateway, without a path
}

// A remote is a server in a process of its own; the gateway did not start it.
type remote struct {
	*process
	mode, port string
}

// A call is made by every client, over every transport.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	want      string         // in the text of the result
}

func calls(w *world) []call {
	return []call{
		{"everything__echo", map[string]any{"message": "over stdio"}, "Echo: over stdio"},
		{"everything-http__get-sum", map[string]any{"a": 1, "b": 2}, "The sum of 1 and 2 is 3"},
		{"everything-sse__echo", map[string]any{"message": "over SSE"}, "Echo: over SSE"},
		{"files__read_text_file", map[string]any{"path": filepath.Join(w.folder(), "hello.txt")}, "hello from a file"},
		{"memory__read_graph", map[string]any{}, "likes engines"},
	}
}

func (w *world) folder() string { return filepath.Dir(w.config) }

// newWorld writes the configuration as a user would, and starts everything.
func newWorld(t *testing.T) *world {
	node, everything := node(t), server(t, "everything")
	dir, err := filepath.EvalSymlinks(t.TempDir()) // the filesystem server compares real paths
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		config:  filepath.Join(dir, "toolpost.json"),
		pidFile: filepath.Join(dir, "pid"),
		remote: map[string]*remote{
			"http": {mode: "streamableHttp", port: freePort(t)},
			"sse":  {mode: "sse", port: freePort(t)},
		},
	}
	for _, r := range w.remote {
		r.start(t)
	}
	memory := filepath.Join(dir, "memory.jsonl")
	write(t, memory, `{"type":"entity","name":"Ada","entityType":"person","observations":["likes engines"]}`)
	write(t, filepath.Join(dir, "hello.txt"), "hello from a file")
	config, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]any{
		"everything": map[string]any{
			"command": "sh", "args": []string{"-c", `echo $$ >"$PID"; exec "$0" "$@"`, node, everything, "stdio"},
			"env": map[string]string{"PID": w.pidFile},
		},
		"everything-http": map[string]any{"type": "http", "url": "http://127.0.0.1:" + w.remote["http"].port + "/mcp"},
		"everything-sse":  map[string]any{"url": "http://127.0.0.1:" + w.remote["sse"].port + "/sse"},
		"files":           map[string]any{"command": node, "args": []string{server(t, "filesystem"), dir}},
		"memory": map[string]any{
			"command": node, "args": []string{server(t, "memory")},
			"env": map[string]string{"MEMORY_FILE_PATH": "${MEMORY:-" + memory + "}"},
		},
	}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.config, string(config))
	for _, r := range w.remote {
		r.listening(t, r.port)
	}
	w.gateway, w.url = gateway(t, w.config)
	return w
}

func (r *remote) start(t *testing.T) {
	loopback, err := filepath.Abs("testdata/loopback.cjs")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PORT=" + r.port, "NODE_OPTIONS=--require " + loopback}
	r.process = start(t, env, node(t), server(t, "everything"), r.mode)
}

// restart kills the server and starts it again at the same address.
func (r *remote) restart(t *testing.T, meanwhile func()) {
	r.stop(syscall.SIGKILL)
	meanwhile()
	r.start(t)
	r.listening(t, r.port)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var address = regexp.MustCompile(`http://(127\.0\.0\.1:[1-9]\d*)/mcp`)

// gateway starts "toolpost serve" and returns its URL.
func gateway(t *testing.T, config string) (*process, string) {
	t.Helper()
	p := start(t, nil, build(t, "cmd/toolpost"), "serve", "--addr", "127.0.0.1:0", "--config", config)
	url := ""
	until(t, "tell the gateway's address", func() error {
		m := address.FindStringSubmatch(p.output.String())
		if m == nil {
			return fmt.Errorf("it wrote:\n%s", p.output.tail(20))
		}
		url = "http://" + m[1]
		return nil
	})
	return p, url
}

// dial connects a client and closes it at the end of the test.
func dial(t *testing.T, url string) *mcp.ClientSession {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "live", Version: "1"}, nil)
	s, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// try makes one call and tells what is wrong with its result.
func try(t *testing.T, s *mcp.ClientSession, c call) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	data, err := json.Marshal(r.Content)
	if err != nil {
		return err
	}
	if r.IsError || !strings.Contains(string(data), c.want) {
		return fmt.Errorf("%s: got %s, want %q", c.Name, data, c.want)
	}
	return nil
}

// settled waits until all servers answer through the gateway.
func (w *world) settled(t *testing.T, s *mcp.ClientSession) {
	t.Helper()
	for _, c := range calls(w) {
		until(t, "a first answer", func() error { return try(t, s, c) })
	}
}

func (w *world) pid(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(w.pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
