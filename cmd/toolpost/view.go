package main

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/board"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/upstream"
)

// A view shows the state of serve to people.
type view interface {
	serve.View
	Describe(board.About) // before Serving
	Close()
}

// A logView writes log lines for what is not logged where it happens.
type logView struct {
	log   *slog.Logger
	about board.About
	last  memory
}

func (v *logView) Describe(a board.About) { v.about = a }

func (v *logView) Serving(a *serve.Access) {
	a.Log(v.log)
	switch {
	case v.about.Empty:
		v.log.Warn(board.NoServers)
	case v.about.Chosen:
		v.log.Info(v.about.Folder)
	case v.about.Folder != "":
		v.log.Info("no configuration: "+v.about.Folder, "next", board.NoConfiguration)
	}
}

func (v *logView) Updated(s *gateway.Snapshot) {
	for _, st := range v.last.changed(s.Status) {
		switch {
		case st.State == upstream.Failed && st.Retry.IsZero():
			v.log.Error("server cannot be started", "server", st.Name, "err", st.Err)
		case st.State == gateway.Disabled:
			v.log.Info("server disabled", "server", st.Name)
		case st.State == upstream.Closed:
			v.log.Info("server removed", "server", st.Name)
		}
	}
	for _, f := range v.last.news(s.Findings) {
		v.log.Warn(f.Message, "tool", f.Tool)
	}
}

func (v *logView) Settled() {}

func (v *logView) Adapted(a *dialect.Adapted) { newAdaptation(a).log(v.log) }

func (v *logView) Close() {}

// A memory holds the state that was shown last.
type memory struct {
	status   map[string]upstream.Status
	findings map[toolpost.Finding]bool
}

// changed returns the servers whose state or tools have changed since the last
// report. Attempts to connect are not reported, only how they end. Servers that
// have been removed are reported as closed.
func (m *memory) changed(now []upstream.Status) (changed []upstream.Status) {
	before := m.status
	m.status = map[string]upstream.Status{}
	for _, st := range now {
		old := before[st.Name]
		delete(before, st.Name)
		if st.State == upstream.Connecting || st.State == upstream.Installing {
			m.status[st.Name] = old
			continue
		}
		m.status[st.Name] = st
		if old.State != st.State || old.Tools != st.Tools || connect.ErrorText(old) != connect.ErrorText(st) {
			changed = append(changed, st)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		changed = append(changed, upstream.Status{Name: name, State: upstream.Closed})
	}
	return changed
}

// news returns the findings that were not reported before.
func (m *memory) news(now []toolpost.Finding) (news []toolpost.Finding) {
	before := m.findings
	m.findings = map[toolpost.Finding]bool{}
	for _, f := range now {
		if !before[f] && !m.findings[f] {
			news = append(news, f)
		}
		m.findings[f] = true
	}
	return news
}
