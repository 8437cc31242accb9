package top_test

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/top"
	"github.com/toolpost/toolpost/internal/access/status"
)

func selected(m *top.Model) string {
	for line := range strings.Lines(m.Text()) {
		if strings.HasPrefix(line, "> ") {
			return line
		}
	}
	return ""
}

// The selected row stays selected when rows appear before it, and when old ones go.
func TestSelectionStays(t *testing.T) {
	m := started(80, 24)
	press(m, "tab", "down")
	next := testStatus()
	next.Clients = append([]status.Client{{Name: "a new one", Last: noon}}, next.Clients...)
	m.Update(top.Answer{Status: next})
	if got := selected(m); !strings.Contains(got, "cursor") {
		t.Errorf("the selected client is %q", got)
	}
	many := func(from, n int) *status.Status {
		s := testStatus()
		s.Calls, s.Logs, s.Seq = nil, nil, uint64(from+n-1)
		for i := range n {
			s.Calls = append(s.Calls, status.Call{Seq: uint64(from + i), Time: noon, Name: fmt.Sprint("call-", from+i, "-"), Outcome: "ok"})
		}
		return s
	}
	m = top.New("x", false)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(top.Answer{Status: many(1, 2000)})
	press(m, "3", "down")
	m.Update(top.Answer{Status: many(2001, 5)}) // the oldest five go
	if got := selected(m); !strings.Contains(got, "call-1999-") {
		t.Errorf("the selected call is %q", got)
	}
}

// A gateway that has started again between two answers is asked for all its calls.
func TestRestartBetweenAnswers(t *testing.T) {
	m := started(80, 24)
	press(m, "3")
	part := &status.Status{Started: noon, Time: noon, Seq: 8, Calls: []status.Call{{Seq: 7, Time: noon, Name: "seventh", Outcome: "ok"}}}
	m.Update(top.Answer{Status: part}) // asked for what follows the sixth
	whole := *part
	whole.Calls = append([]status.Call{{Seq: 1, Time: noon, Name: "first", Outcome: "ok"}}, part.Calls...)
	m.Update(top.Answer{Status: &whole})
	text := m.Text()
	if strings.Count(text, "first") != 1 || strings.Count(text, "seventh") != 1 || strings.Contains(text, "files__read_file") {
		t.Errorf("after the restart:\n%s", text)
	}
}

// The details of a server have its own log lines only.
func TestLinesOfServer(t *testing.T) {
	m := top.New("x", false)
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 40})
	m.Update(top.Answer{Status: &status.Status{Started: noon, Time: noon, Seq: 2, Servers: []status.Server{{Name: "a"}}, Logs: []status.Log{
		{Seq: 1, Time: noon, Level: "info", Text: "of another server=ab"}, {Seq: 2, Time: noon, Level: "info", Text: "its own server=a x=1"}}}})
	press(m, "enter")
	if text := m.Text(); !strings.Contains(text, "its own") || strings.Contains(text, "of another") {
		t.Errorf("the details are\n%s", text)
	}
}
