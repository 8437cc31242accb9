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

// Handle logs r without secrets. Nearly all lines have none and are passed on as they
// are.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if !h.has(&r) {
		return h.Handler.Handle(ctx, r)
	}
	clean := slog.NewRecord(r.Time, r.Level, h.values.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		one, _ := h.clean(a)
		clean.AddAttrs(one)
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

// has reports whether a line may have secrets.
func (h *logHandler) has(r *slog.Record) (found bool) {
	if h.values.Replace(r.Message) != r.Message {
		return true
	}
	r.Attrs(func(a slog.Attr) bool {
		_, found = h.clean(a)
		return !found
	})
	return found
}

// clean returns an attribute without secrets, and whether it had some or may have.
func (h *logHandler) clean(a slog.Attr) (clean slog.Attr, had bool) {
	kind := a.Value.Kind()
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		text := h.values.Replace(a.Value.String())
		if had = text != a.Value.String(); had {
			a.Value = slog.StringValue(text)
		}
	case slog.KindGroup:
		a.Value, had = slog.GroupValue(h.cleanAll(a.Value.Group())...), true
	case slog.KindAny:
		text := a.Value.String()
		if err, isError := a.Value.Any().(error); isError {
			text = err.Error()
		}
		if clean := h.values.Replace(text); clean != text { // others keep their form
			a.Value, had = slog.StringValue(clean), true
		}
	}
	return a, had || kind == slog.KindLogValuer
}

func (h *logHandler) cleanAll(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i], _ = h.clean(a)
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
