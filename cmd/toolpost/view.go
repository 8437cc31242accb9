package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// A view shows people what serve does.
type view interface {
	begin(g *guide)                    // before the first update
	update(snapshot *gateway.Snapshot) // after every change
	settle()                           // once every server has answered or failed
}

// A logView writes one line for every change.
type logView struct {
	log  *slog.Logger
	last memory
}

func (v *logView) begin(g *guide) {
	if g.url != "" {
		v.log.Info("serving", "url", g.url)
	}
	if g.folder != "" {
		v.log.Info(g.empty(), "next", addServers)
	}
}

func (v *logView) update(s *gateway.Snapshot) {
	for _, st := range v.last.changed(s.Status) {
		attrs := []any{"server", st.Name, "state", string(st.State)}
		switch st.State {
		case upstream.Ready:
			v.log.Info("server", append(attrs, "transport", string(st.Transport), "version", st.Version,
				"tools", st.Tools, "ms", st.Took.Milliseconds())...)
		case upstream.Failed:
			v.log.Warn("server", append(attrs, "err", st.Err, "retry", retryIn(st))...)
		default:
			v.log.Info("server", attrs...)
		}
	}
	for _, f := range v.last.news(s.Findings) {
		v.log.Warn("finding", "tool", f.Tool, "message", f.Message)
	}
}

func (v *logView) settle() {}

// A memory is what was shown last.
type memory struct {
	status   map[string]upstream.Status
	findings map[toolpost.Finding]bool
}

// changed returns the servers whose state or tools are not those told last.
// Servers that are gone are told as closed.
func (m *memory) changed(now []upstream.Status) (changed []upstream.Status) {
	before := m.status
	m.status = map[string]upstream.Status{}
	for _, st := range now {
		m.status[st.Name] = st
		old, known := before[st.Name]
		delete(before, st.Name)
		if !known || old.State != st.State || old.Tools != st.Tools || errText(old) != errText(st) {
			changed = append(changed, st)
		}
	}
	for _, st := range before {
		changed = append(changed, upstream.Status{Name: st.Name, State: upstream.Closed})
	}
	return changed
}

// news returns the findings that were not told before.
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

func errText(st upstream.Status) string {
	if st.Err == nil {
		return ""
	}
	return st.Err.Error()
}

// retryIn tells how long it is until the server is tried again.
func retryIn(st upstream.Status) string {
	if st.Retry.IsZero() {
		return "never"
	}
	return fmt.Sprint(max(0, time.Until(st.Retry).Round(time.Second)))
}

// summary tells a status in one line.
func summary(st upstream.Status) string {
	switch {
	case st.State == upstream.Ready:
		return fmt.Sprintf("%s: ready, %d tools, %d ms", st.Name, st.Tools, st.Took.Milliseconds())
	case st.Err != nil:
		return fmt.Sprintf("%s: %s: %s", st.Name, st.State, printable(errText(st)))
	}
	return fmt.Sprintf("%s: %s", st.Name, cmp.Or(string(st.State), "unknown"))
}
