package gateway

import (
	"context"
	"log/slog"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
)

// output reads false, or {"lines": …, "chars": …, "errors": …}.
func (f *file) output(v hujson.Value, path string) {
	o := &f.cfg.Output
	if k := v.Value.Kind(); k == 't' || k == 'f' {
		o.Off = k == 'f'
		return
	}
	limits := map[string]*int{"lines": &o.Lines, "chars": &o.Chars, "errors": &o.Errors}
	least := map[string]int{"lines": output.MinLines, "chars": output.MinChars, "errors": output.MinChars}
	f.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		if limits[name] == nil {
			f.fail(m.Name.StartOffset, "unknown key %q in %s; %s", name, path, suggest(name, []string{"chars", "errors", "lines"}))
			return
		}
		*limits[name] = limit(f.source, m.Value, path+"."+name, least[name])
	})
}

// limited sets how outputs are kept within limits from now on. The caller holds
// work.
func (v *view) limited(o Output, log *slog.Logger) {
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
