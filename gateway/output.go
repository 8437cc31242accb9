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

// setLayers sets what the tools of all servers pass on their way to clients. The
// caller holds work. Above these layers are the views, one for each dialect;
// below them, join has filtered, renamed and cleaned the tools.
func (v *view) setLayers(o config.Output, log *slog.Logger) {
	if v.cfg != nil && v.cfg.Output == o {
		return
	}
	var ts toolpost.Toolset = toolpost.ToolsetFunc(v.joined)
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

// joined returns the tools of all servers.
func (v *view) joined(context.Context) ([]*toolpost.Tool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tools, nil
}

// list is the toolset behind Live.
func (v *view) list(ctx context.Context) ([]*toolpost.Tool, error) {
	v.mu.Lock()
	layers := v.layers
	v.mu.Unlock()
	return layers.Tools(ctx)
}
