package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// InProcess is the transport of a toolset of this program.
const InProcess upstream.Transport = "in-process"

// Add serves a toolset of this program beside the servers, as if it were a server
// with that name: its tools are called NAME__tool. If a server has that prefix,
// the toolset gets another one, which a finding reports. It stays until Close,
// also when the configuration is reloaded. If ts is a [toolpost.Source], its
// prompts and resources are served too, and clients are notified when it changes.
func (g *Gateway) Add(name string, ts toolpost.Toolset) error {
	g.work.Lock()
	defer g.work.Unlock()
	if name == "" {
		return errors.New("add toolset: it needs a name, which its tools are called by")
	}
	s := config.Server{Pinning: config.Pinning{Off: true}}
	s.Name, s.Transport = name, InProcess
	l := newLink(nil)
	m := newMember(s, serverKeys([]config.Server{s}, keysOf(g.members)...)[0], l)
	m.shared = g.shared
	if err := g.checkServers(g.cfg.Servers, append(g.added[:len(g.added):len(g.added)], m)); err != nil {
		return fmt.Errorf("add toolset %q: %w", name, err)
	}
	g.attach(l, inProcess{toolpost.SourceOf(ts), name})
	g.mu.Lock()
	g.added = append(g.added, m)
	g.members = append(g.members[:len(g.members):len(g.members)], m)
	g.mu.Unlock()
	g.refresh()
	return nil
}

func keysOf(members []*member) (keys []string) {
	for _, m := range members {
		keys = append(keys, m.key)
	}
	return keys
}

// An inProcess is a toolset of this program as a member.
type inProcess struct {
	toolpost.Source
	name string
}

// Tools lists the toolset. One that panics must not end the other servers.
func (c inProcess) Tools(ctx context.Context) (tools []*toolpost.Tool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return c.Source.Tools(ctx)
}

// Status lists the toolset to count its tools.
func (c inProcess) Status() upstream.Status {
	tools, err := c.Tools(context.Background())
	s := upstream.Status{Name: c.name, Transport: InProcess, State: upstream.Ready, Tools: len(tools), Err: err}
	if err != nil {
		s.State = upstream.Failed
	}
	return s
}
