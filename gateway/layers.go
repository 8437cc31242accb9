package gateway

import (
	"context"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/output"
)

// outputLimit returns the limit of a tool's outputs in characters: 0 for the
// limit of the file, -1 for no limit.
func (m *member) outputLimit(tool string) int {
	for i, l := range m.server.Outputs {
		if match(m.outputs[i], tool) {
			return l.Chars
		}
	}
	return 0
}

// setLayers composes the layers that the tools, prompts and resources of all
// servers pass on their way to clients. The caller holds work. Above these layers
// are the views, one for each dialect. Below them, join has filtered, renamed and
// cleaned the tools.
func (v *state) setLayers(o config.Output, log *slog.Logger) {
	if v.cfg != nil && v.cfg.Output == o {
		return
	}
	ts := toolpost.SourceOf(servers{v})
	if v.options.Middleware != nil {
		ts = toolpost.Wrap(ts, v.options.Middleware)
	}
	if v.options.Store != nil && !o.Off {
		c := output.New(v.options.Store, &output.Options{Lines: o.Lines, Chars: o.Chars, Errors: o.Errors, Logger: log})
		ts = c.Layer(ts)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.layers = ts
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
