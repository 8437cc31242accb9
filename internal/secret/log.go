package secret

import (
	"context"
	"log/slog"
)

// A logHandler hides secrets in log lines.
type logHandler struct {
	slog.Handler
	values *Values
}

// NewHandler returns a handler that passes log lines on to next without the secrets
// that are known when the line is written.
func NewHandler(next slog.Handler, values *Values) slog.Handler { return &logHandler{next, values} }

// Handle logs r without secrets.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.values.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// clean returns an attribute without secrets.
func (h *logHandler) clean(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(h.values.Replace(a.Value.String()))
	case slog.KindGroup:
		a.Value = slog.GroupValue(h.cleanAll(a.Value.Group())...)
	case slog.KindAny:
		text := a.Value.String()
		if err, isError := a.Value.Any().(error); isError {
			text = err.Error()
		}
		if clean := h.values.Replace(text); clean != text { // others keep their form
			a.Value = slog.StringValue(clean)
		}
	}
	return a
}

func (h *logHandler) cleanAll(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.clean(a)
	}
	return clean
}

// WithAttrs hides secrets in the attributes too.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{h.Handler.WithAttrs(h.cleanAll(attrs)), h.values}
}

// WithGroup goes on hiding secrets.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.Handler.WithGroup(name), h.values}
}
