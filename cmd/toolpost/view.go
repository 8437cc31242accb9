package main

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/upstream"
)

// A view shows the state of serve to people.
type view interface {
	begin(g *guide)                    // before the first update
	update(snapshot *gateway.Snapshot) // after every change
	settle()                           // once every server has answered or failed
	adapt(a *adaptation)               // once for each dialect that clients get, and after its changes
}

// A logView writes log lines for what is not logged where it happens.
type logView struct {
	log  *slog.Logger
	last memory
}

func (v *logView) begin(g *guide) {
	if g.access != nil {
		g.access.Log(v.log)
	}
	switch {
	case g.none:
		v.log.Warn(noServers)
	case g.chosen:
		v.log.Info(g.empty())
	case g.folder != "":
		v.log.Info(g.empty(), "next", addServers)
	}
}

func (v *logView) update(s *gateway.Snapshot) {
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

func (v *logView) settle() {}

func (v *logView) adapt(a *adaptation) { a.log(v.log) }

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

// summary describes a status in one line.
func summary(st upstream.Status) string {
	switch {
	case st.State == upstream.Ready:
		return fmt.Sprintf("%s: ready, %s, %s", cleartext.Printable(st.Name), terminal.Count(st.Tools, "tool"), seconds(st.Took))
	case st.State == upstream.Closed:
		return cleartext.Printable(st.Name) + ": removed"
	case st.Err != nil:
		return cleartext.Printable(fmt.Sprintf("%s: %s: %s", st.Name, st.State, connect.ErrorText(st)))
	}
	return fmt.Sprintf("%s: %s", cleartext.Printable(st.Name), st.State)
}
