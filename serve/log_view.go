package serve

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

// A logView is a [View] that writes log lines for what is not logged where it happens.
type logView struct {
	log      *slog.Logger
	servers  map[string]upstream.Status // as they were reported last
	findings map[toolpost.Finding]bool
}

// NewLogView returns a View that writes log lines for what is not logged where it happens.
func NewLogView(log *slog.Logger) View { return newLogView(log) }

func newLogView(log *slog.Logger) *logView { return &logView{log: log} }

// Serving implements [View].
func (v *logView) Serving(a *Access) { a.Log(v.log) }

// Updated implements [View].
func (v *logView) Updated(s *gateway.Snapshot) {
	for _, st := range v.findChanges(s.Status) {
		switch {
		case st.State == upstream.Failed && st.Retry.IsZero():
			v.log.Error("server cannot be started", "server", st.Name, "err", st.Err)
		case st.State == upstream.Disabled:
			v.log.Info("server disabled", "server", st.Name)
		case st.State == upstream.Closed:
			v.log.Info("server removed", "server", st.Name)
		}
	}
	for _, f := range v.news(s.Findings) {
		if f.Tool == "" {
			v.log.Warn(f.Message)
			continue
		}
		v.log.Warn(f.Message, "tool", f.Tool)
	}
}

// Settled implements [View].
func (v *logView) Settled() {}

// Adapted implements [View].
func (v *logView) Adapted(a *dialect.Adapted) {
	attrs := []slog.Attr{slog.String("dialect", a.Dialect.ID), slog.Int("tools", len(a.Tools)), slog.Int("withheld", len(a.Withheld))}
	losses := countLosses(a)
	worst := func(a, b dialect.LossKind) int { return b.Rank() - a.Rank() }
	for _, k := range slices.SortedFunc(maps.Keys(losses), worst) {
		attrs = append(attrs, slog.Int(string(k), losses[k]))
	}
	v.log.LogAttrs(context.Background(), slog.LevelInfo, "tools adapted", attrs...)
	for _, w := range a.Withheld {
		v.log.Warn("tool withheld", "dialect", a.Dialect.ID, "tool", w.Name, "rule", w.Rule, "why", w.Why)
	}
	for _, f := range a.Findings {
		v.log.Warn(f.Message, "dialect", a.Dialect.ID, "rule", f.Rule)
	}
}

// findChanges returns the servers whose state or tools have changed since the last
// report. Attempts to connect are not reported, only how they end. Servers that
// have been removed are reported as closed.
func (v *logView) findChanges(now []upstream.Status) (changed []upstream.Status) {
	before := v.servers
	v.servers = map[string]upstream.Status{}
	for _, st := range now {
		old := before[st.Name]
		delete(before, st.Name)
		if st.State == upstream.Connecting || st.State == upstream.Installing {
			v.servers[st.Name] = old
			continue
		}
		v.servers[st.Name] = st
		if old.State != st.State || old.Tools != st.Tools || old.Reason() != st.Reason() {
			changed = append(changed, st)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		changed = append(changed, upstream.Status{Name: name, State: upstream.Closed})
	}
	return changed
}

// news returns the findings that were not reported before.
func (v *logView) news(now []toolpost.Finding) (news []toolpost.Finding) {
	before := v.findings
	v.findings = map[toolpost.Finding]bool{}
	for _, f := range now {
		if !before[f] && !v.findings[f] {
			news = append(news, f)
		}
		v.findings[f] = true
	}
	return news
}
