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

// Add serves a toolset of this program beside the servers, as if it were one
// with that name: its tools are called NAME__tool, or otherwise if a server has
// that name in tool names, which a finding then says. It stays until Close, also
// when the configuration is reloaded. If ts is a [toolpost.Live], clients are
// notified when it changes.
func (g *Gateway) Add(name string, ts toolpost.Toolset) error {
	g.work.Lock()
	defer g.work.Unlock()
	if name == "" {
		return errors.New("add toolset: it needs a name, which its tools are called by")
	}
	s := config.Server{Pinning: config.Pinning{Off: true}}
	s.Name, s.Transport = name, InProcess
	c := &inProcess{Toolset: ts, name: name, stop: func() {}}
	m := newMember(s, serverKeys([]config.Server{s}, keysOf(g.members)...)[0], &link{up: c, watched: map[string]bool{}})
	m.tasks = g.extended
	if err := g.check(g.cfg, append(g.added[:len(g.added):len(g.added)], m)); err != nil {
		return fmt.Errorf("add toolset %q: %w", name, err)
	}
	if live, ok := ts.(*toolpost.Live); ok {
		c.stop = live.Watch(func(*toolpost.Set) { g.wake.ring() })
	}
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
	toolpost.Toolset
	name string
	stop func()
}

// Features returns the prompts and resources that the toolset has, if it has any.
func (c *inProcess) Features() *toolpost.Features {
	if with, ok := c.Toolset.(interface{ Features() *toolpost.Features }); ok {
		return with.Features()
	}
	return &toolpost.Features{}
}

// Status lists the toolset to count its tools.
func (c *inProcess) Status() upstream.Status {
	tools, err := c.Tools(context.Background())
	s := upstream.Status{Name: c.name, Transport: InProcess, State: upstream.Ready, Tools: len(tools), Err: err}
	if err != nil {
		s.State = upstream.Failed
	}
	return s
}

// Ready returns at once.
func (c *inProcess) Ready(context.Context) error { return nil }

// Close stops the notifications of changes.
func (c *inProcess) Close() error {
	c.stop()
	return nil
}
