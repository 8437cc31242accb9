package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/terminal"
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

// logLosses logs each loss at debug level.
func (a *adaptation) logLosses(log *slog.Logger) {
	for _, t := range a.Tools {
		for _, l := range t.Losses {
			log.Debug("loss", "dialect", a.Dialect.ID, "tool", t.Name, "pointer", l.Pointer, "keyword", l.Keyword, "kind", string(l.Kind), "detail", l.Detail)
		}
	}
}

// adapted returns a function that reports each dialect once, and again when its
// report has changed.
func (s *service) adapted() func(*dialect.Adapted) {
	var mu sync.Mutex
	reported := map[string]string{}
	return func(a *dialect.Adapted) {
		n := newAdaptation(a)
		text := strings.Join(n.lines(), "\n")
		mu.Lock()
		defer mu.Unlock()
		if reported[a.Dialect.ID] == text {
			return
		}
		reported[a.Dialect.ID] = text
		s.view.adapt(n)
		n.logLosses(s.log)
	}
}
