package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
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

// lines are for people: a summary, and the tools that were withheld.
func (a *adaptation) lines() []string {
	id := a.Dialect.ID
	first := fmt.Sprintf("%s: %s", id, terminal.Count(len(a.Tools), "tool"))
	if n := len(a.Withheld); n > 0 {
		first += fmt.Sprintf(", %d withheld", n)
	}
	var losses []string
	for _, k := range kinds {
		if n := a.losses[k]; n > 0 && k != lower.Noop { // a rewording loses nothing
			losses = append(losses, fmt.Sprintf("%d %s", n, k))
		}
	}
	if losses != nil {
		first += "; parts of schemas that this dialect does not have: " + strings.Join(losses, ", ")
	} else {
		first += ", nothing lost"
	}
	lines := []string{first}
	for _, w := range a.Withheld {
		lines = append(lines, fmt.Sprintf("%s: tool %q is withheld: %s (%s)", id, w.Name, w.Why, w.Rule))
	}
	for _, f := range a.Findings {
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", id, f.Message, f.Rule))
	}
	return lines
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
