package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/internal/wire"
)

// A port is where a session is connected to one server.
type port struct {
	tools    *tools
	server   *Server
	manifest *manifest
	link     *link // changed by the session's reader only

	mu      sync.Mutex
	page    []string // tools of the pages that the CLI has read so far
	listed  []string // tools that the CLI was told of last
	settled []string // those that it had been told of when it told its own list
}

// open opens a session on the server.
func (p *port) open() *link {
	return openLink(p.tools.ctx, p.server, p.tools.log, func(message json.RawMessage) { p.tools.say(p.server.name, message) })
}

// prepare reads the manifest. It returns the names of the tools.
func (p *port) prepare() (names []string, err error) {
	if p.manifest, err = readManifest(p.tools.ctx, p.link); err != nil {
		return nil, fmt.Errorf("read the manifest of server %q: %w", p.server.name, err)
	}
	names = p.manifest.List.names
	p.listed, p.settled = names, names
	return names, nil
}

const codeCancelled = -32800 // of a request that the CLI does not wait for any more

// receive takes a message of the CLI. It goes on with the session in which the
// manifest was read, with calls at once, or begins anew with ids from 0: at the
// start if it takes no manifests, and when a server is switched off and on.
func (p *port) receive(ctx context.Context, m *wire.Message, raw json.RawMessage) (func() (any, error), error) {
	if m.Method == "initialize" {
		p.link.close()
		p.link = p.open()
	}
	l := p.link
	switch {
	case m.IsCall():
		return p.serve(ctx, l, m)
	case m.Method == cancelled:
		l.served.Cancel(wire.Get(m.Params, "requestId"), wire.Errorf(codeCancelled, "the request was cancelled"))
	default:
		l.tell(raw)
	}
	return acknowledge, nil
}

// serve answers a request of the CLI with what the server answers.
func (p *port) serve(ctx context.Context, l *link, m *wire.Message) (finish func() (any, error), err error) {
	ctx, end, err := l.served.Begin(ctx, m.ID)
	if err != nil {
		return nil, err
	}
	wait, err := l.ask(ctx, m.Method, m.Params)
	if err != nil {
		end(nil)
		return nil, err
	}
	return func() (any, error) {
		defer end(nil)
		result, err := wait()
		if fault := (*wire.Error)(nil); errors.As(err, &fault) {
			return bridgedAnswer{wire.AppendError(nil, m.ID, fault)}, nil
		}
		if err != nil {
			return nil, err
		}
		if m.Method == listTools {
			p.note(m.Params, result)
		}
		return bridgedAnswer{wire.AppendResult(nil, m.ID, result)}, nil
	}, nil
}

// note remembers the tools that the CLI is told of.
func (p *port) note(params, result json.RawMessage) {
	page := readPage(result)
	p.mu.Lock()
	defer p.mu.Unlock()
	if wire.Unquote(wire.Get(params, "cursor")) == "" {
		p.page = nil
	}
	if p.page = append(p.page, page.names...); page.next == "" {
		p.listed = slices.Clone(p.page)
	}
}

// due returns the tools that the CLI must have by now: it was told of them
// before it told its list the last time, and since then.
func (p *port) due() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	settled := make(map[string]bool, len(p.settled))
	for _, tool := range p.settled {
		settled[tool] = true
	}
	var both []string
	for _, tool := range p.listed {
		if settled[tool] {
			both = append(both, tool)
		}
	}
	p.settled = p.listed
	return both
}
