package top

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A row is one line of a list, and what is shown of it when it is opened.
type row struct {
	text   string
	bad    bool
	detail any    // shown as JSON
	key    string // the same as long as the row is in its list
	server string // whose log lines and calls belong to the details; "" for none
}

// tableHead returns the head of a list.
func (m *Model) tableHead(t tab) string {
	switch t {
	case servers:
		return fmt.Sprintf("%s STATE      TOOLS CALLS ERRORS     P50     P95 RUN TOKENS", pad("SERVER", m.nameWidth()))
	case clients:
		return fmt.Sprintf("%s SESSIONS REQUESTS ERRORS TOKENS LAST", pad("CLIENT", m.nameWidth()+8))
	case logs:
		return "TIME     LEVEL MESSAGE"
	}
	return fmt.Sprintf("TIME     %s %s       MS  BYTES TOKENS OUTCOME", pad("CLIENT", m.clientWidth()), pad("TOOL", m.toolWidth()))
}

// nameWidth is the width of the first column of servers and clients.
func (m *Model) nameWidth() int { return min(40, max(12, m.width-62)) }

// clientWidth and toolWidth are the widths of columns of calls.
func (m *Model) clientWidth() int { return min(24, max(10, m.width/6)) }
func (m *Model) toolWidth() int   { return max(10, m.width-m.clientWidth()-52) }

// rows returns the list of a tab, newest first where it has an order in time, without
// what the filter excludes.
func (m *Model) rows(s *status.Status, t tab) (all []row) {
	switch t {
	case servers:
		for i := range s.Servers {
			all = append(all, m.server(&s.Servers[i]))
		}
	case clients:
		for i := range s.Clients {
			all = append(all, m.client(&s.Clients[i], s.Time))
		}
	case calls, failures:
		for i := range slices.Backward(s.Calls) {
			if c := &s.Calls[i]; t == calls || c.Failed() {
				all = append(all, m.call(c))
			}
		}
	case logs:
		for i := range slices.Backward(s.Logs) {
			l := &s.Logs[i]
			text := fmt.Sprintf("%s %-5s %s", clock(l.Time), l.Level, l.Text)
			all = append(all, row{text: text, bad: l.Level == "error", detail: l, key: fmt.Sprint(l.Seq)})
		}
	}
	if m.filter == "" {
		return all
	}
	want := strings.ToLower(m.filter)
	return slices.DeleteFunc(all, func(r row) bool { return !strings.Contains(strings.ToLower(r.text), want) })
}

func (m *Model) server(s *status.Server) row {
	text := fmt.Sprintf("%s %s %5d %5s %6s %7s %7s %3d %6s", pad(s.Name, m.nameWidth()), pad(s.State, 10), s.Tools,
		formatNumber(s.Calls), formatNumber(s.Errors), milliseconds(s.P50), milliseconds(s.P95), s.Running, formatNumber(s.Tokens))
	if s.Error != "" {
		text += "  " + s.Error
	}
	return row{text: text, bad: s.Error != "", detail: s, key: s.Name, server: s.Name}
}

func (m *Model) client(c *status.Client, now time.Time) row {
	text := fmt.Sprintf("%s %8d %8s %6s %6s %s ago", pad(c.Name, m.nameWidth()+8), c.Sessions, formatNumber(c.Calls), formatNumber(c.Errors), formatNumber(c.Tokens), age(now.Sub(c.Last)))
	return row{text: text, detail: c, key: c.Name}
}

func (m *Model) call(c *status.Call) row {
	name := c.Name
	if name == "" {
		name = c.Method
	}
	text := fmt.Sprintf("%s %s %s %8s %6s %6s %s", clock(c.Time), pad(c.Client, m.clientWidth()), pad(name, m.toolWidth()),
		milliseconds(c.MS), formatNumber(c.BytesOut), formatNumber(c.Tokens), c.Outcome)
	return row{text: text, bad: c.Failed(), detail: c, key: fmt.Sprint(c.Seq), server: c.Server}
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }

// fewDetails is how many calls and log lines of a server its details show.
const fewDetails = 50

// open shows the details of the selected row.
func (m *Model) open() {
	if m.status == nil {
		return
	}
	all := m.rows(m.status, m.tab)
	if len(all) == 0 {
		return
	}
	r := all[min(m.row[m.tab], len(all)-1)]
	m.detail, m.scroll = m.describe(&r), 0
}

// describe returns the lines of the details of a row.
func (m *Model) describe(r *row) []string {
	raw, err := json.MarshalIndent(r.detail, "", "  ")
	if err != nil {
		return []string{m.cut(err.Error())}
	}
	lines := []string{}
	for line := range strings.Lines(strings.Trim(string(raw), "{}\n")) {
		name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ","), ": ")
		label := pad(strings.Trim(name, `"`), 16)
		for i, part := range terminal.Wrap(cleartext.Printable(unquote(value)), max(20, m.width-len(label)-2)) {
			if i > 0 {
				label = strings.Repeat(" ", len(label))
			}
			lines = append(lines, m.cut("  "+label+part))
		}
	}
	if m.tab == servers {
		lines = append(lines, m.recentLines(r.server)...)
	}
	return lines
}

// unquote returns the text of a JSON string, and other values as they are.
func unquote(value string) string {
	text := value
	if json.Unmarshal([]byte(value), &text) != nil {
		return value
	}
	return text
}

// isAbout reports whether a log line has an attribute with the name of a server.
func isAbout(text, server string) bool {
	return server != "" && strings.Contains(" "+text+" ", " server="+server+" ")
}

// recentLines returns the last calls and log lines of a server.
func (m *Model) recentLines(server string) (lines []string) {
	for i := range slices.Backward(m.status.Calls) {
		if c := &m.status.Calls[i]; c.Server == server && len(lines) < fewDetails {
			r := m.call(c)
			lines = append(lines, m.cut("  "+r.text))
		}
	}
	if len(lines) > 0 {
		lines = append([]string{"", m.cut("  " + m.tableHead(calls))}, lines...)
	}
	found := 0
	for i := range slices.Backward(m.status.Logs) {
		if l := &m.status.Logs[i]; isAbout(l.Text, server) && found < fewDetails {
			if found++; found == 1 {
				lines = append(lines, "", "  "+m.tableHead(logs))
			}
			lines = append(lines, m.cut(fmt.Sprintf("  %s %-5s %s", clock(l.Time), l.Level, l.Text)))
		}
	}
	return lines
}
