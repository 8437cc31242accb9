package gateway

import (
	"context"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/output"
)

// outputOf returns the limit of a tool's outputs: 0 for that of the file, -1
// for none.
func (m *member) outputOf(tool string) int {
	for i, l := range m.server.Outputs {
		if match(m.outputs[i], tool) {
			return l.Chars
		}
	}
	return 0
}

// setLayers sets what the tools, prompts and resources of all servers pass on
// their way to clients. The caller holds work. Above these layers are the views,
// one for each dialect; below them, join has filtered, renamed and cleaned all.
func (v *view) setLayers(o config.Output, log *slog.Logger) {
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

// servers are what join made of all servers, below the layers.
type servers struct{ *view }

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

// served is what clients get: the source of the gateway's Live.
type served struct{ *Gateway }

func (s served) top() toolpost.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.layers
}

func (s served) Tools(ctx context.Context) ([]*toolpost.Tool, error) { return s.top().Tools(ctx) }

func (s served) Features() *toolpost.Features { return s.top().Features() }

func (s served) Watch(f func(toolpost.Event)) (stop func()) { return s.events.Watch(f) }
