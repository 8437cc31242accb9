//lint:file-ignore SA1019 older versions of the protocol have logging, roots and sampling

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost/internal/wire"
)

// bridges are command lines with the asking server behind a bridge, or behind
// two. The client speaks over stdio to the last one.
func bridges(t *testing.T) map[string][]string {
	const toolpost = "toolpost"
	all := map[string][]string{"command": {toolpost, "serve", "--stdio", "--", "asking"}}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newAskingServer() }, nil))
	t.Cleanup(h.Close)
	all["http"] = []string{toolpost, "serve", h.URL, "--stdio"}
	sse := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return newAskingServer() }, nil))
	t.Cleanup(sse.Close)
	all["sse"] = []string{toolpost, "serve", sse.URL, "--stdio", "--transport", "sse"}
	all["command per session, over http"] = []string{toolpost, "serve", startBridge(t, "--share", "per-session", "--", "asking") + "/mcp", "--stdio"}
	return all
}

// ownFolders is the environment of a program that shares no files with programs of other
// tests, which run at the same time.
func ownFolders(t *testing.T) []string {
	dir := t.TempDir()
	return append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_STATE_HOME="+dir)
}

var servedURL = regexp.MustCompile(`url=(http://\S+)/mcp`)

// startBridge starts serve at a free port and returns its address.
func startBridge(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("toolpost", append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Env = ownFolders(t)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := servedURL.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return m[1]
		}
	}
	t.Fatal("the bridge reported no address")
	return ""
}

// A rawClient speaks MCP 2025-11-25 with a process, in the bytes that come.
type rawClient struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func newRawClient(t *testing.T, command []string) *rawClient {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = ownFolders(t)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	c := &rawClient{t: t, in: in, out: bufio.NewScanner(out)}
	c.out.Buffer(nil, 1<<20)
	return c
}

// ask sends a request and returns the result of its answer.
func (c *rawClient) ask(method, params string) json.RawMessage {
	c.t.Helper()
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0","id":"q","method":"`+method+`","params":`+params+"}\n"); err != nil {
		c.t.Fatal(err)
	}
	for c.out.Scan() {
		if line := c.out.Bytes(); wire.Get(line, "id") != nil && wire.Get(line, "method") == nil {
			if wire.Get(line, "result") == nil {
				c.t.Fatalf("%s: %s", method, line)
			}
			return append(json.RawMessage(nil), wire.Get(line, "result")...)
		}
	}
	c.t.Fatalf("no answer to %s", method)
	return nil
}

// described returns what a server says about itself and what it lists, as it is
// sent.
func described(t *testing.T, command []string) map[string]string {
	c := newRawClient(t, command)
	hello := c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	_, _ = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	all := map[string]string{}
	for _, name := range []string{"serverInfo", "instructions"} {
		all[name] = string(wire.Get(hello, name))
	}
	var capabilities map[string]json.RawMessage
	if err := json.Unmarshal(wire.Get(hello, "capabilities"), &capabilities); err != nil {
		t.Fatal(err)
	}
	for name := range capabilities {
		all["capability "+name] = "declared"
	}
	for _, list := range []string{"tools", "prompts", "resources", "resources/templates"} {
		for item := range wire.Elements(firstArray(c.ask(list+"/list", "{}"))) {
			all[list] += string(item) + "\n"
		}
	}
	return all
}

func firstArray(object json.RawMessage) json.RawMessage {
	for _, value := range wire.Members(object) {
		if value[0] == '[' {
			return value
		}
	}
	return nil
}

// A bridge looks like the server behind it: its name, its capabilities, and the bytes
// of its lists.
func TestBridgeLooksLikeServer(t *testing.T) {
	t.Parallel()
	direct := described(t, []string{"asking"})
	if len(direct) < 10 {
		t.Fatalf("the server says only %v", direct)
	}
	for name, command := range bridges(t) {
		t.Run(name, func(t *testing.T) {
			got := described(t, command)
			for what, want := range direct {
				if got[what] != want {
					t.Errorf("%s is\n%s\nwant\n%s", what, got[what], want)
				}
				delete(got, what)
			}
			for what, more := range got {
				t.Errorf("%s is added: %s", what, more)
			}
		})
	}
}

// A client that connects to a bridge before there is its server gets what that server
// says and lists, not an empty server.
func TestBridgeBeforeServer(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newAskingServer() }, nil)
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= 3 {
			http.Error(w, "the server starts", http.StatusBadGateway)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(late.Close)
	got := described(t, []string{"toolpost", "serve", late.URL, "--stdio", "--fresh"})
	if !strings.Contains(got["serverInfo"], "asking") || !strings.Contains(got["tools"], "grow") {
		t.Errorf("got %v", got)
	}
}

// Requests, progress, log messages and cancellation cross a bridge in both
// directions, for clients of both eras.
func TestBridgeBothWays(t *testing.T) {
	t.Parallel()
	for name, command := range bridges(t) {
		for _, era := range []string{wire.LastSession, wire.Stateless} {
			t.Run(name+" "+era, func(t *testing.T) { crossBridge(t, command, era, !strings.Contains(name, "per session")) })
		}
	}
}

// crossBridge uses a bridge. Grows reports whether the process that the client
// uses is the one whose tools are listed.
func crossBridge(t *testing.T, command []string, era string, grows bool) {
	ctx, end := context.WithTimeout(t.Context(), patience)
	defer end()
	progress, logged, changed := make(chan string, 9), make(chan string, 9), make(chan bool, 9)
	client := mcp.NewClient(&mcp.Implementation{Name: "bridged", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "said"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Message },
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			text, _ := r.Params.Data.(string)
			logged <- text
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- true },
	})
	client.AddRoots(&mcp.Root{URI: "file:///root", Name: "root"})
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = ownFolders(t)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult(); got.ProtocolVersion != era || got.ServerInfo.Name != "asking" || got.ServerInfo.Title != "Asks über alles" || got.Instructions != "Ask first." {
		t.Fatalf("the server is %+v", got)
	}
	if era == wire.LastSession {
		if err := session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
	}
	params := &mcp.CallToolParams{Name: "ask"}
	params.SetProgressToken("p")
	if era == wire.Stateless {
		params.Meta["io.modelcontextprotocol/logLevel"] = "info"
	}
	result, err := session.CallTool(ctx, params)
	if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "file:///root said acceptAda" {
		t.Fatalf("got %+v, %v", result, err)
	}
	for want, from := range map[string]chan string{"half": progress, "careful": logged} {
		select {
		case got := <-from:
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		case <-ctx.Done():
			t.Errorf("%q does not arrive", want)
		}
	}
	if got, err := session.Complete(ctx, &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "A"}}); err != nil || got.Completion.Values[0] != "A!" {
		t.Errorf("completed %+v, %v", got, err)
	}
	if got, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "note://all/7"}); err != nil || got.Contents[0].Text != "of note://all/7" {
		t.Errorf("read %+v, %v", got, err)
	}
	cancelThrough(t, ctx, session)
	if era == wire.LastSession && grows {
		if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "grow"}); err != nil {
			t.Fatal(err)
		}
		for tools := 0; tools != 4; {
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("the client does not hear that there is another tool")
			}
			list, err := session.ListTools(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			tools = len(list.Tools)
		}
	}
}

// cancelThrough cancels a call that the server is carrying out.
func cancelThrough(t *testing.T, ctx context.Context, session *mcp.ClientSession) {
	t.Helper()
	dir := t.TempDir()
	calling, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(calling, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"folder": dir}})
		done <- err
	}()
	appears(t, ctx, filepath.Join(dir, "started"))
	cancel()
	if err := <-done; err == nil {
		t.Error("a canceled call returned a result")
	}
	appears(t, ctx, filepath.Join(dir, "canceled"))
}

// appears waits for a file of another process.
func appears(t *testing.T, ctx context.Context, file string) {
	t.Helper()
	for tick := time.Tick(5 * time.Millisecond); ; {
		if _, err := os.Stat(file); err == nil {
			return
		}
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatalf("%s is not there", strings.TrimPrefix(file, os.TempDir()))
		}
	}
}
