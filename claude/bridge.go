package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// tools are the servers of one session.
type tools struct {
	ctx    context.Context // of all calls
	log    *slog.Logger
	opts   *Options
	send   func(server string, message json.RawMessage) // to the CLI; it does not wait
	own    *Server
	ports  []*port
	missed map[string]bool // dropped tools that were reported

	unavailable map[string]bool // MCP servers that a warning was logged about

	mu    sync.Mutex
	heard bool     // the CLI knows the servers
	early []func() // what the servers had to say before
}

// openTools opens a session on each server of the options. Ctx is that of all
// calls; the toolset is listed while opening lasts.
func openTools(ctx, opening context.Context, o *Options) (*tools, error) {
	t := &tools{ctx: ctx, log: o.logger(), opts: o, missed: map[string]bool{}, unavailable: map[string]bool{}}
	servers := o.Servers
	if o.Toolset != nil {
		own, err := NewServer(opening, "", o.Toolset, &ServerOptions{Logger: t.log})
		if err != nil {
			return nil, err
		}
		t.own, servers = own, append([]*Server{own}, servers...)
	}
	if err := t.add(servers); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// add makes a port of each server.
func (t *tools) add(servers []*Server) error {
	taken := map[string]string{}
	for _, s := range servers {
		if t.port(s.name) != nil || t.opts.MCPServers[s.name] != nil {
			return fmt.Errorf("serve tools to the claude CLI: two servers are named %q; give one another name", s.name)
		}
		p := &port{tools: t, server: s}
		p.link = p.open()
		t.ports = append(t.ports, p)
		names, err := p.prepare()
		if err != nil {
			return err
		}
		for _, tool := range names {
			name := t.opts.toolName(s.name, tool)
			if other, twice := taken[name]; twice {
				return fmt.Errorf("serve tools to the claude CLI: servers %q and %q both have a tool that it calls %s; rename one", other, s.name, name)
			}
			taken[name] = s.name
		}
	}
	return nil
}

// connect gives the servers the way to the CLI. It has an answer to what they
// ask come as a message of its own.
func (t *tools) connect(c *conn) {
	t.send = func(server string, message json.RawMessage) {
		_, err := c.post("mcp_message", map[string]any{"server_name": server, "message": message})
		if err != nil && t.ctx.Err() == nil {
			t.log.Warn("cannot send a server's message to the claude CLI", "server", server, "error", err)
		}
	}
}

// say passes a server's own message to the CLI, once the CLI knows the server.
func (t *tools) say(server string, message json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.heard {
		t.early = append(t.early, func() { t.send(server, message) })
		return
	}
	t.send(server, message)
}

// hear records that the CLI knows the servers.
func (t *tools) hear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = true
	for _, send := range t.early {
		send()
	}
	t.early = nil
}

func (t *tools) port(name string) *port {
	for _, p := range t.ports {
		if p.server.name == name {
			return p
		}
	}
	return nil
}

// names are those of the servers.
func (t *tools) names() []string {
	names := make([]string, len(t.ports))
	for i, p := range t.ports {
		names[i] = p.server.name
	}
	return names
}

// manifests are what the servers would answer to initialize and tools/list, by
// server, for the first control request.
func (t *tools) manifests() map[string]any {
	all := map[string]any{}
	for _, p := range t.ports {
		all[p.server.name] = p.manifest
	}
	return all
}

// allowRules returns the rules by which tools may run without being asked for:
// one for a server, so that it holds for tools that come later.
func (t *tools) allowRules() []string {
	var rules []string
	for _, p := range t.ports {
		if !p.server.ask {
			rules = append(rules, "mcp__"+p.server.name)
		}
	}
	return rules
}

// A bridged answer is how the CLI takes an answer to mcp_message.
type bridgedAnswer struct {
	Response json.RawMessage `json:"mcp_response"`
}

// acknowledge answers what has no answer in MCP.
func acknowledge() (any, error) {
	return bridgedAnswer{json.RawMessage(`{"jsonrpc":"2.0","result":{},"id":0}`)}, nil
}

// receive is the responder for mcp_message.
func (t *tools) receive(ctx context.Context, request json.RawMessage) func() (any, error) {
	finish, err := t.route(ctx, request)
	if err != nil {
		return func() (any, error) { return nil, err }
	}
	return finish
}

func (t *tools) route(ctx context.Context, request json.RawMessage) (func() (any, error), error) {
	var r struct {
		Server  string          `json:"server_name"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, fmt.Errorf("read mcp_message: %w", err)
	}
	t.hear()
	p := t.port(r.Server)
	if p == nil {
		return nil, fmt.Errorf("this process has no server %q; it has %s", r.Server, strings.Join(t.names(), ", "))
	}
	found, batch, fault := wire.Parse(r.Message)
	switch {
	case batch || r.Message == nil:
		return nil, fmt.Errorf("mcp_message for server %q needs one message", r.Server)
	case fault != nil:
		return func() (any, error) { return bridgedAnswer{wire.AppendError(nil, found[0].ID, fault)}, nil }, nil
	}
	return p.receive(ctx, &found[0], r.Message)
}

// leaveTime is how long handlers may take to see that their session has ended.
const leaveTime = time.Second

// close ends all calls. A handler that does not heed it is left behind.
func (t *tools) close() {
	for _, p := range t.ports {
		p.link.close()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, p := range t.ports {
			<-p.link.done
		}
		if t.own != nil {
			_ = t.own.Close() // it has no sessions left, or has told of them
		}
	}()
	select {
	case <-done:
	case <-time.After(leaveTime):
		t.log.Warn("a tool is still running although its session has ended; it must stop when its context ends")
	}
}
