package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
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

// open opens a session on the server. What that has to say by itself waits until
// the CLI knows of it.
func (p *port) open() *link {
	return openLink(p.tools.ctx, p.server, p.tools.log, func(ctx context.Context, message json.RawMessage) {
		select {
		case <-p.tools.heard:
			p.tools.send(p.server.name, message)
		case <-ctx.Done():
		}
	})
}

// prepare reads the manifest. It returns the names of the tools.
func (p *port) prepare() (names []string, err error) {
	if p.manifest, err = readManifest(p.tools.ctx, p.link); err == nil {
		names, err = toolNames(p.manifest.List.Tools)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of server %q: %w", p.server.name, err)
	}
	p.listed, p.settled = names, names
	return names, nil
}

// receive takes a message of the CLI. It goes on with the session in which the
// manifest was read, with calls at once, or begins anew with ids from 0: at the
// start if it takes no manifests, and when a server is switched off and on.
func (p *port) receive(ctx context.Context, e *envelope, message json.RawMessage) (func() (any, error), error) {
	if e.Method == "initialize" {
		p.link.close()
		p.link = p.open()
	}
	l := p.link
	if e.Method == "" || e.ID == nil {
		l.tell(message)
		if e.Method == cancelled {
			l.drop(cancelledID(e.Params))
		}
		return acknowledge, nil
	}
	wait, err := l.ask(key(e.ID), message)
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		answer, err := wait(ctx)
		if err != nil {
			return nil, err
		}
		if e.Method == listTools {
			p.note(e.Params, answer)
		}
		return bridged{answer}, nil
	}, nil
}

func cancelledID(params json.RawMessage) json.RawMessage {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	return p.ID
}

// note remembers the tools that the CLI is told of.
func (p *port) note(params, answer json.RawMessage) {
	var from struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &from) // the server has judged it
	result, err := resultOf(answer)
	if err != nil {
		return
	}
	page, err := readPage(result)
	if err != nil {
		return
	}
	names, err := toolNames(page.Tools)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if from.Cursor == "" {
		p.page = nil
	}
	if p.page = append(p.page, names...); page.Next == "" {
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
