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

// limited sets how outputs are kept within limits from now on. The caller holds
// work.
func (v *view) limited(o config.Output, log *slog.Logger) {
	if v.keep == nil || v.cfg != nil && v.cfg.Output == o {
		return
	}
	var layer toolpost.Toolset
	if !o.Off {
		c := output.New(v.keep, &output.Options{Lines: o.Lines, Chars: o.Chars, Errors: o.Errors, Logger: log})
		layer = c.Layer(toolpost.ToolsetFunc(v.joined))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.layer = layer
}

// joined are the tools of all servers.
func (v *view) joined(context.Context) ([]*toolpost.Tool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tools, nil
}

// list is the toolset behind Live.
func (v *view) list(ctx context.Context) ([]*toolpost.Tool, error) {
	v.mu.Lock()
	layer := v.layer
	v.mu.Unlock()
	if layer == nil {
		return v.joined(ctx)
	}
	return layer.Tools(ctx)
}
