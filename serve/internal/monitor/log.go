package monitor

import (
	"context"
	"log/slog"
	"strings"

	"github.com/toolpost/toolpost/internal/access/status"
)

// A logHandler records log lines, and passes them on.
type logHandler struct {
	slog.Handler
	monitor *Monitor
	prefix  string // the attributes of WithAttrs
	server  string // one of them
}

// Log returns a handler that records lines from level info on before next gets
// them. Lines about single calls are not recorded: calls are recorded by Observe.
func (m *Monitor) Log(next slog.Handler) slog.Handler { return &logHandler{Handler: next, monitor: m} }

// Enabled implements [slog.Handler].
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || h.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo && r.Message != "call" {
		text, server := r.Message+h.prefix, h.server
		r.Attrs(func(a slog.Attr) bool {
			text += attribute(a)
			server = serverOf(a, server)
			return true
		})
		h.monitor.log(&r, text, server)
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	prefix, server := h.prefix, h.server
	for _, a := range attrs {
		prefix += attribute(a)
		server = serverOf(a, server)
	}
	return &logHandler{h.Handler.WithAttrs(attrs), h.monitor, prefix, server}
}

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.Handler.WithGroup(name), h.monitor, h.prefix, h.server}
}

// serverOf returns the server that an attribute names, otherwise the one that is known.
func serverOf(a slog.Attr, known string) string {
	if v := a.Value.Resolve(); a.Key == "server" && v.Kind() == slog.KindString {
		return v.String()
	}
	return known
}

// attribute returns an attribute as text. A value decides what a log shows of it.
func attribute(a slog.Attr) (text string) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, member := range v.Group() {
			if a.Key != "" {
				member.Key = a.Key + "." + member.Key
			}
			text += attribute(member)
		}
		return text
	}
	if a.Key == "" || v.String() == "" {
		return ""
	}
	return " " + a.Key + "=" + v.String()
}

// log records one line.
func (m *Monitor) log(r *slog.Record, text, server string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seq++
	line := status.Log{Seq: m.seq, Time: r.Time, Level: strings.ToLower(r.Level.String()), Text: shorten(text), Server: shorten(server)}
	m.logs.add(line, maxLogs)
}
