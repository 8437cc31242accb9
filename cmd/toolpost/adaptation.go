package main

import (
	"context"
	"log/slog"

	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/schema/lower"
)

// An adaptation describes how the tools that are served in one dialect changed.
type adaptation struct {
	*dialect.Adapted
	losses map[lower.Kind]int
}

// kinds are the kinds of losses, from fatal to harmless.
var kinds = [...]lower.Kind{
	lower.Rejected, lower.Dropped, lower.Narrowed, lower.Widened, lower.Described, lower.Checked, lower.Encoded, lower.Noop,
}

func newAdaptation(a *dialect.Adapted) *adaptation {
	n := &adaptation{a, map[lower.Kind]int{}}
	for _, t := range a.Tools {
		for _, l := range t.Losses {
			n.losses[l.Kind]++
		}
	}
	return n
}

// log writes the summary and the withheld tools to a log.
func (a *adaptation) log(log *slog.Logger) {
	attrs := []slog.Attr{slog.String("dialect", a.Dialect.ID), slog.Int("tools", len(a.Tools)), slog.Int("withheld", len(a.Withheld))}
	for _, k := range kinds {
		if n := a.losses[k]; n > 0 {
			attrs = append(attrs, slog.Int(string(k), n))
		}
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, "tools adapted", attrs...)
	for _, w := range a.Withheld {
		log.Warn("tool withheld", "dialect", a.Dialect.ID, "tool", w.Name, "rule", w.Rule, "why", w.Why)
	}
	for _, f := range a.Findings {
		log.Warn(f.Message, "dialect", a.Dialect.ID, "rule", f.Rule)
	}
}
