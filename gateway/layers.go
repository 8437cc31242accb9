package gateway

import (
	"context"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/output"
)

// chain composes what the tools, prompts and resources of all servers pass on
// their way to a client. The caller holds work.
//
//	servers      join: the filters, pins and names of the configuration; hidden characters
//	Wrap         the program's middleware
//	output       shortens what a tool returns
//	Live         what all clients share
//	dialect      for each kind of client, see [Views]
func (g *Gateway) chain(o config.Output) toolpost.Source {
	ts := toolpost.SourceOf(servers{&g.state})
	if g.options.Middleware != nil {
		ts = toolpost.Wrap(ts, g.options.Middleware)
	}
	if g.options.Store != nil && !o.Off {
		ts = output.New(g.options.Store, &output.Options{Lines: o.Lines, Chars: o.Chars, Errors: o.Errors, Logger: g.logger}).Layer(ts)
	}
	return ts
}

// servers is the toolset below the layers: what join made of all servers.
type servers struct{ *state }

func (s servers) Tools(context.Context) ([]*toolpost.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined.tools, nil
}

func (s servers) Features() *toolpost.Features {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined.features
}

// served is the toolset above the layers: the source of the gateway's Live.
type served struct{ *Gateway }

func (s served) top() toolpost.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.layers
}

func (s served) Tools(ctx context.Context) ([]*toolpost.Tool, error) { return s.top().Tools(ctx) }

func (s served) Features() *toolpost.Features { return s.top().Features() }

func (s served) Watch(f func(toolpost.Event)) (stop func()) { return s.events.Watch(f) }
