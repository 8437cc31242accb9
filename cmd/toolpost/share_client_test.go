package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// A guest is a client over HTTP that is written by hand: it answers what it is asked,
// and keeps what it hears outside of calls.
type guest struct {
	t       *testing.T
	url, id string
	version string
	name    string
	can     string // its capabilities
	answers map[string]string
	level   string // of log messages, in every request of 2026-07-28

	mu     sync.Mutex
	number int
	heard  []string      // notifications, and the methods that it was asked by
	more   chan struct{} // holds one value when something was heard
}

// serveFile starts serve over HTTP with a configuration of these servers.
func serveFile(t *testing.T, servers string) (url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "toolpost.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":{`+servers+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return startBridge(t, "--config", file)
}

const everyCapability = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}`

// visit opens a session.
func visit(t *testing.T, url, name, can string) *guest {
	t.Helper()
	g := newGuest(t, url, name, can)
	g.must("initialize", `{"protocolVersion":"2025-11-25","capabilities":`+can+`,"clientInfo":{"name":"`+name+`","version":"1"}}`)
	g.version = wire.LastSession
	g.post(g.t.Context(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return g
}

func newGuest(t *testing.T, url, name, can string) *guest {
	return &guest{t: t, url: url + "/mcp", name: name, can: can, more: make(chan struct{}, 1), answers: map[string]string{
		"roots/list":             `{"roots":[{"uri":"file:///one"}]}`,
		"elicitation/create":     `{"action":"accept","content":{"to":"` + name + `"}}`,
		"sampling/createMessage": `{"role":"assistant","model":"m","content":{"type":"text","text":"` + name + `"}}`,
	}}
}

func (g *guest) request(ctx context.Context, method, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, g.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if g.id != "" {
		r.Header.Set("Mcp-Session-Id", g.id)
	}
	if g.version != "" {
		r.Header.Set("Mcp-Protocol-Version", g.version)
	}
	if g.version == wire.Stateless {
		r.Header.Set("Mcp-Method", wire.Unquote(wire.Get([]byte(body), "method")))
		if name := wire.Get(wire.Get([]byte(body), "params"), "name"); name != nil {
			r.Header.Set("Mcp-Name", wire.Unquote(name))
		}
	}
	return http.DefaultClient.Do(r)
}

// post sends a message and returns the answer. It answers what it is asked meanwhile.
func (g *guest) post(ctx context.Context, body string) (json.RawMessage, error) {
	resp, err := g.request(ctx, http.MethodPost, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" && g.id == "" {
		g.id = id
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(resp.Body)
	}
	return g.read(ctx, resp.Body)
}

// read reads a stream until an answer comes.
func (g *guest) read(ctx context.Context, stream io.Reader) (json.RawMessage, error) {
	in := bufio.NewScanner(stream)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		data, found := strings.CutPrefix(in.Text(), "data:")
		m := json.RawMessage(strings.TrimSpace(data))
		if !found || len(m) == 0 {
			continue
		}
		method := wire.Unquote(wire.Get(m, "method"))
		if method == "" {
			return m, nil
		}
		g.mu.Lock()
		g.heard = append(g.heard, method+" "+string(wire.Get(m, "params")))
		g.mu.Unlock()
		select {
		case g.more <- struct{}{}:
		default:
		}
		if id := wire.Get(m, "id"); id != nil {
			go func() {
				_, _ = g.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, g.answerTo(method)))
			}()
		}
	}
	return nil, in.Err()
}

// answer sets what the guest answers to a question.
func (g *guest) answer(method, result string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers[method] = result
}

func (g *guest) answerTo(method string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.answers[method]
}

// ask sends a request and returns its answer.
func (g *guest) ask(ctx context.Context, method, params string) (json.RawMessage, error) {
	g.mu.Lock()
	g.number++
	n := g.number
	g.mu.Unlock()
	if g.version == wire.Stateless {
		meta := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + g.can + `,"io.modelcontextprotocol/clientInfo":{"name":"` + g.name + `","version":"1"}`
		if g.level != "" {
			meta += `,"io.modelcontextprotocol/logLevel":"` + g.level + `"`
		}
		params = string(wire.Set([]byte(params), "_meta", []byte("{"+meta+"}")))
	}
	return g.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params))
}

func (g *guest) must(method, params string) json.RawMessage {
	g.t.Helper()
	answer, err := g.ask(g.t.Context(), method, params)
	if err != nil || wire.Get(answer, "result") == nil {
		g.t.Fatalf("%s %s: %s (%v)", method, params, answer, err)
	}
	return wire.Get(answer, "result")
}

// call calls a tool and returns its text, or the answer if it has none. A question
// that comes as a result is answered by another call.
func (g *guest) call(tool, arguments string) string {
	g.t.Helper()
	more := ""
	for {
		answer, err := g.ask(g.t.Context(), "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s%s}`, tool, arguments, more))
		if err != nil {
			g.t.Fatal(err)
		}
		result := wire.Get(answer, "result")
		inputs := wire.Get(result, "inputRequests")
		if inputs == nil {
			for part := range wire.Elements(wire.Get(result, "content")) {
				return wire.Unquote(wire.Get(part, "text"))
			}
			return string(answer)
		}
		var responses []string
		for key, input := range wire.Members(inputs) {
			responses = append(responses, string(wire.Quote(key))+":"+g.answerTo(wire.Unquote(wire.Get(input, "method"))))
		}
		more = `,"inputResponses":{` + strings.Join(responses, ",") + `},"requestState":` + string(wire.Get(result, "requestState"))
	}
}

// question is the argument of a tool that asks for a form.
const question = `{"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"to":{"type":"string"}}}}}`

// listen opens the stream of the session.
func (g *guest) listen() {
	resp, err := g.request(g.t.Context(), http.MethodGet, "")
	if err != nil || resp.StatusCode != http.StatusOK {
		g.t.Fatal(resp, err)
	}
	g.t.Cleanup(func() { resp.Body.Close() })
	go func() { _, _ = g.read(context.WithoutCancel(g.t.Context()), resp.Body) }()
}

// hears waits until the client has heard something that contains text.
func (g *guest) hears(text string) {
	g.t.Helper()
	late := time.After(patience)
	for !strings.Contains(g.all(), text) {
		select {
		case <-g.more:
		case <-late:
			g.t.Fatalf("never heard %q, only %s", text, g.all())
		}
	}
}

// all returns what the client has heard.
func (g *guest) all() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.heard, "\n")
}

// names lists the tools, without the prefix of the server.
func (g *guest) names() (names []string) {
	g.t.Helper()
	for tool := range wire.Elements(wire.Get(g.must("tools/list", "{}"), "tools")) {
		names = append(names, strings.TrimPrefix(wire.Unquote(wire.Get(tool, "name")), "a__"))
	}
	return names
}

// leave ends the session.
func (g *guest) leave() {
	g.t.Helper()
	resp, err := g.request(g.t.Context(), http.MethodDelete, "")
	if err != nil || resp.StatusCode >= 300 {
		g.t.Fatal(resp, err)
	}
	resp.Body.Close()
}
