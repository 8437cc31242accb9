package top

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// lines draws the whole screen: the tabs, the head of a list, its rows or the open
// details, and the keys.
func (m *Model) lines() []string {
	lines := []string{m.paint("1", m.head()), m.tabLine()}
	switch {
	case m.detail != nil:
		end := min(len(m.detail), m.scroll+m.page())
		lines = append(lines, m.detail[m.scroll:end]...)
	case m.status == nil:
		lines = append(lines, m.waitingText())
	default:
		lines = append(lines, m.list()...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.height-1], m.foot())
	return lines
}

// head sums up the gateway in one line, and leaves out what a narrow screen has no room for.
func (m *Model) head() string {
	if m.status == nil {
		return m.cut("toolpost top  " + m.address)
	}
	s, sum := m.status, status.Counts{}
	for _, c := range s.Clients {
		sum.Calls, sum.Errors, sum.Tokens = sum.Calls+c.Calls, sum.Errors+c.Errors, sum.Tokens+c.Tokens
	}
	ready := 0
	for _, server := range s.Servers {
		if server.State == "ready" {
			ready++
		}
	}
	parts := []string{
		"toolpost " + s.Version, "up " + age(s.Time.Sub(s.Started)), fmt.Sprintf("%d/%d servers", ready, len(s.Servers)), fmt.Sprintf("%d tools", s.Tools),
		formatNumber(sum.Calls) + " requests", formatNumber(sum.Errors) + " errors", formatNumber(sum.Tokens) + " tokens", fmt.Sprintf("%d running", s.Running),
	}
	for _, i := range []int{6, 3, 4} { // tokens first, then tools and requests
		if m.width > 0 && terminal.Width(cleartext.Printable(joinParts(parts))) > m.width {
			parts[i] = ""
		}
	}
	return m.cut(joinParts(parts))
}

// joinParts joins the parts that are not empty.
func joinParts(parts []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == "" }), "  ")
}

// tabLine shows the tabs, and the filter.
func (m *Model) tabLine() string {
	var parts []string
	for t := range tabs {
		name := fmt.Sprintf(" %d %s ", t+1, t)
		if t == m.tab {
			name = fmt.Sprintf("[%d %s]", t+1, t)
		}
		parts = append(parts, name)
	}
	line := strings.Join(parts, "")
	switch {
	case m.typing:
		line += "  /" + m.filter + "_"
	case m.filter != "":
		line += "  /" + m.filter
	}
	if m.paused {
		line += "  paused"
	}
	return m.cut(line)
}

// list draws the list of the tab, so that the selected row is visible.
func (m *Model) list() []string {
	head, rows := m.tableHead(m.tab), m.rows(m.status, m.tab)
	lines := []string{m.paint("2", m.cut("  "+head))}
	if len(rows) == 0 {
		empty := "  nothing yet"
		if m.filter != "" {
			empty = "  nothing matches the filter; esc clears it"
		}
		return append(lines, empty)
	}
	first := max(0, m.row[m.tab]-m.page()+1)
	for i := first; i < min(len(rows), first+m.page()); i++ {
		line := m.cut("  " + rows[i].text)
		switch {
		case i == m.row[m.tab]:
			line = m.paint("7", m.cut("> "+rows[i].text))
		case rows[i].bad:
			line = m.paint("31", line)
		}
		lines = append(lines, line)
	}
	return lines
}

// foot returns the last line: why the status is old, or the keys.
func (m *Model) foot() string {
	if m.err != nil {
		return m.paint("31", m.cut("no answer: "+m.err.Error()))
	}
	keys := "tab next  / filter  enter details  p pause  q quit"
	if m.detail != nil {
		keys = "up/down scroll  esc back  q quit"
	} else if m.typing {
		keys = "enter keep the filter  esc clear it"
	}
	return m.paint("2", m.cut(keys))
}

func (m *Model) waitingText() string {
	if m.err != nil {
		return m.cut("is toolpost serve running? Another address: toolpost top ADDRESS")
	}
	return "waiting for the first answer"
}

// cut makes a text harmless and fits it into one line of the screen.
func (m *Model) cut(s string) string { return terminal.Cut(cleartext.Printable(s), m.width) }

func (m *Model) paint(code, line string) string {
	if !m.color {
		return line
	}
	return "\x1b[" + code + "m" + line + "\x1b[0m"
}

// age writes a duration in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(0, d).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// formatNumber writes a number in at most five characters.
func formatNumber(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// milliseconds writes a duration in at most seven characters.
func milliseconds(ms float64) string {
	switch {
	case ms == 0:
		return "-"
	case ms < 10:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.0f s", ms/1000)
}

// pad fits s into width columns.
func pad(s string, width int) string {
	return terminal.Pad(cleartext.Printable(s), width)
}
