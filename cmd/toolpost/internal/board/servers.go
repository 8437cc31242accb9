package board

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/upstream"
)

// servers are the servers as the board shows them.
type servers struct {
	now      []upstream.Status
	since    map[string]time.Time // when the start that is under way began
	settled  map[string]upstream.Status
	findings map[string]bool
}

// update takes what a gateway reports, and returns what became of servers and the findings
// that are new. Attempts to connect are not told, only what they lead to, and a server that
// fails again with another text has not changed.
func (s *servers) update(snapshot *gateway.Snapshot, now time.Time) (changed []upstream.Status, news []string) {
	before, since := s.settled, s.since
	s.now, s.settled, s.since = snapshot.Status, map[string]upstream.Status{}, map[string]time.Time{}
	for _, st := range s.now {
		old := before[st.Name]
		delete(before, st.Name)
		if starts(st) {
			s.settled[st.Name] = old
			s.since[st.Name] = cmp.Or(since[st.Name], now)
			continue
		}
		s.settled[st.Name] = st
		if old.State != st.State || old.Tools != st.Tools {
			changed = append(changed, st)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		changed = append(changed, upstream.Status{Name: name, State: upstream.Closed})
	}
	known := s.findings
	s.findings = map[string]bool{}
	for _, f := range snapshot.Findings {
		text := connect.FindingText(f)
		if !known[text] && !s.findings[text] {
			news = append(news, text)
		}
		s.findings[text] = true
	}
	return changed, news
}

func starts(st upstream.Status) bool {
	return st.State == upstream.Connecting || st.State == upstream.Installing
}

// ranks order the states by how much a person wants to see them.
var ranks = map[upstream.State]int{upstream.Failed: 1, upstream.NeedsLogin: 2, upstream.Installing: 3, upstream.Connecting: 4, upstream.Ready: 5}

func rank(st upstream.Status) int { return cmp.Or(ranks[st.State], len(ranks)+1) }

const (
	minName    = 12
	maxName    = 28
	stateWidth = len("login needed")
	more       = " (toolpost doctor says more)"
	maxReason  = 2 // lines about what is wrong with a server
)

// table draws the servers as at most room lines: a head, a row for each, below it why a
// server failed or what it writes instead of MCP, and a sum. If not all fit, those that work are counted instead.
func (s *servers) table(room, width int, now time.Time, paint func(code, text string) string) []string {
	if len(s.now) == 0 || room < 1 {
		return nil
	}
	sum := countReady(s.now)
	if room < minRoom {
		return []string{terminal.Cut(sum, width)}
	}
	name := minName
	for _, st := range s.now {
		name = max(name, terminal.Width(cleartext.Printable(st.Name)))
	}
	name = min(name, maxName, max(minName, width-len("  login needed  TOOLS  999 s  a note")))
	rows, rest := s.fit(room-2, func(st upstream.Status) []string { return s.entry(st, name, width, now, paint) })
	head := terminal.Cut(strings.Join([]string{terminal.Pad("SERVER", name), terminal.Pad("STATE", stateWidth), "TOOLS", "  TIME"}, "  "), width)
	lines := append([]string{paint("2", head)}, rows...)
	if len(rest) > 0 {
		lines = append(lines, terminal.Cut(fmt.Sprintf("… and %d more: %s", len(rest), counts(rest)), width))
	}
	return append(lines, terminal.Cut(sum, width))
}

// fit returns the lines of the servers that fit into room in their order, and the servers
// that do not.
func (s *servers) fit(room int, draw func(upstream.Status) []string) (rows []string, rest []upstream.Status) {
	entries, sum := make([][]string, len(s.now)), 0
	order := make([]int, len(s.now))
	for i, st := range s.now {
		entries[i], order[i] = draw(st), i
		sum += len(entries[i])
	}
	if sum > room {
		room-- // for the line that counts the others
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(s.now[i]), rank(s.now[j])) })
	for n, i := range order {
		if len(entries[i]) > room {
			entries[i] = entries[i][:1] // without the reason
		}
		if len(entries[i]) > room {
			for _, i := range order[n:] {
				rest, entries[i] = append(rest, s.now[i]), nil
			}
			break
		}
		room -= len(entries[i])
	}
	return slices.Concat(entries...), rest
}

// entry draws one server.
func (s *servers) entry(st upstream.Status, name, width int, now time.Time, paint func(code, text string) string) []string {
	tools, took, note := "-", "-", ""
	switch {
	case st.State == upstream.Ready:
		tools, took = strconv.Itoa(st.Tools), fmt.Sprintf("%.1f s", st.Took.Seconds())
		note = strings.TrimSpace(string(st.Transport) + " " + st.Version)
	case starts(st):
		took = formatDuration(now.Sub(cmp.Or(s.since[st.Name], now)))
		if note = st.Package; note == "" && st.State == upstream.Installing {
			note = "its command installs packages"
		}
	case !st.Retry.IsZero():
		note = "tried again"
		if wait := st.Retry.Sub(now); wait > 0 {
			note = "tried again in " + formatDuration(wait)
		}
	}
	cells := []string{terminal.Pad(cleartext.Printable(st.Name), name), terminal.Pad(string(st.State), stateWidth), fmt.Sprintf("%5s", tools), fmt.Sprintf("%6s", took), cleartext.Printable(note)}
	line := terminal.Cut(strings.TrimRight(strings.Join(cells, "  "), " "), width)
	if code, ok := colors[st.State]; ok {
		line = strings.Replace(line, "  "+string(st.State), "  "+paint(code, string(st.State)), 1)
	}
	lines := []string{line}
	if starts(st) {
		st.Err = nil // that of the attempt before
	}
	if st.Reason() == "" {
		return lines
	}
	reason := terminal.Wrap(cleartext.Printable(st.Reason()), max(20, width-2))
	if len(reason) > maxReason {
		reason = reason[:maxReason]
		reason[maxReason-1] = terminal.Cut(reason[maxReason-1], max(1, width-2-len(more))) + more
	}
	for _, l := range reason {
		lines = append(lines, terminal.Cut("  "+l, width))
	}
	return lines
}

var colors = map[upstream.State]string{
	upstream.Ready: "32", upstream.Connecting: "33", upstream.Installing: "33", upstream.Failed: "31", upstream.NeedsLogin: "31", upstream.Disabled: "2",
}

// formatDuration writes a duration in whole seconds or minutes.
func formatDuration(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
}

// counts returns how many servers are in each state.
func counts(servers []upstream.Status) string {
	n := map[upstream.State]int{}
	for _, st := range servers {
		n[st.State]++
	}
	var parts []string
	for _, st := range servers {
		if n[st.State] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[st.State], st.State))
			delete(n, st.State)
		}
	}
	return strings.Join(parts, ", ")
}

// countReady counts what is ready, of the servers that are not disabled.
func countReady(servers []upstream.Status) string {
	ready, enabled, tools := 0, 0, 0
	for _, st := range servers {
		if st.State != upstream.Disabled {
			enabled++
		}
		if st.State == upstream.Ready {
			ready++
			tools += st.Tools
		}
	}
	return fmt.Sprintf("%d of %s ready, %s", ready, terminal.Count(enabled, "server"), terminal.Count(tools, "tool"))
}
