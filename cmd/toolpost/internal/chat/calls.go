package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A callList holds the calls of a conversation that a person may look at.
type callList struct {
	all  []*shownCall // the first has the number 1
	open []*shownCall // those that run
}

// A shownCall is a call in the list.
type shownCall struct {
	number int
	call   *agent.Request
	result *toolpost.ToolMessage
	since  time.Time
	took   time.Duration
	ran    bool
}

func newCallList() *callList { return &callList{} }

func (l *callList) start(call *agent.Request) {
	l.open = append(l.open, &shownCall{call: call, since: time.Now(), ran: true})
}

// end adds a call with its result. A call that was refused has not started.
func (l *callList) end(call *agent.Request, result *toolpost.ToolMessage) *shownCall {
	c := &shownCall{call: call}
	if i := slices.IndexFunc(l.open, func(o *shownCall) bool { return o.call.ID == call.ID && o.call.Name == call.Name }); i >= 0 {
		c = l.open[i]
		c.took = time.Since(c.since)
		l.open = slices.Delete(l.open, i, i+1)
	}
	c.result = result
	l.all = append(l.all, c)
	c.number = len(l.all)
	return c
}

// stop forgets the calls that run: their run was ended.
func (l *callList) stop() { l.open = nil }

// describeRunning describes the calls that run.
func (l *callList) describeRunning() string {
	switch len(l.open) {
	case 0:
		return waiting
	case 1:
		return describeCall(l.open[0].call)
	}
	var names []string
	for _, c := range l.open {
		names = append(names, c.call.Name)
	}
	return fmt.Sprintf("%d calls run: %s", len(l.open), strings.Join(names, ", "))
}

// running returns the ids of the calls that run, the newest first.
func (l *callList) running() (ids []string) {
	for _, c := range slices.Backward(l.open) {
		ids = append(ids, c.call.ID)
	}
	return ids
}

// find returns the call with a number, nil if there is none.
func (l *callList) find(number int) *shownCall {
	if number < 1 || number > len(l.all) {
		return nil
	}
	return l.all[number-1]
}

// line is the line about a call: what it did, how long it took and how much it
// returned.
func (c *shownCall) line(s *stream) string {
	text := messageText(c.result)
	end := " · " + size(messageSize(c.result))
	if n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1; n > 1 {
		end = fmt.Sprintf(" · %d lines, %s", n, size(messageSize(c.result)))
	}
	if c.ran {
		end = " · " + round(c.took) + end
	}
	mark, style := "✓", green
	if c.result.IsError {
		mark, style = "✗", red
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		end += ": " + cleartext.Printable(first)
	}
	head := fmt.Sprintf("%d %s", c.number, describeCall(c.call))
	width := s.width
	if width == 0 {
		width = plainWidth
	}
	end = terminal.Cut(end, width/2)
	head = terminal.Cut(head, max(width-3-terminal.Width(end), 10))
	return s.paint(style, mark) + " " + head + s.paint(dim, end)
}

// plainWidth is the longest line about a call if nothing else is known.
const plainWidth = 160

// maxPreview is how many lines of a result are shown below its call.
const maxPreview = 40

// preview returns the lines that are shown below the line: the changes of an
// edit and the list of todos. "/show" shows the rest.
func (c *shownCall) preview(s *stream) []string {
	text := messageText(c.result)
	var lines []string
	switch {
	case s.width == 0 || c.result.IsError:
		return nil
	case c.call.Name == "edit" || c.call.Name == "multi_edit":
		_, hunks, found := strings.Cut(text, "\n@@ ")
		if !found {
			return nil
		}
		lines = diffLines(s, strings.Split("@@ "+hunks, "\n"))
	case c.call.Name == "write_todos":
		lines = todoLines(s, text)
	}
	if len(lines) > maxPreview {
		lines = append(lines[:maxPreview], paint(dim, fmt.Sprintf("  … /show %d shows the rest", c.number)))
	}
	return lines
}

// todoLines returns the list of todos in the result of write_todos.
func todoLines(s *stream, text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		_, line, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " [")
		status, todo, found := strings.Cut(line, "] ")
		if !found {
			continue
		}
		line = terminal.Cut(cleartext.Printable(todo), s.width-4)
		switch status {
		case "completed":
			line = s.paint(green, "✓ ") + s.paint(dim, line)
		case "in_progress":
			line = s.paint(yellow, "→ ") + line
		case "cancelled":
			line = s.paint(dim, "- "+line)
		default:
			line = "· " + line
		}
		all = append(all, "  "+line)
	}
	return all
}

// diffLines colours the lines of a unified diff, up to the first line that is not
// part of it.
func diffLines(s *stream, lines []string) []string {
	styles := map[byte]string{'+': green, '-': red, '@': cyan, ' ': ""}
	var all []string
	for _, l := range lines {
		if l == "" {
			break
		}
		style, known := styles[l[0]]
		if !known {
			break
		}
		all = append(all, "  "+s.paint(style, cleartext.Sanitize(l)))
	}
	return all
}

// details returns everything about a call.
func (c *shownCall) details(s *stream) string {
	var indented bytes.Buffer
	if json.Indent(&indented, c.call.Arguments, "", "  ") != nil {
		indented.Reset()
		indented.Write(c.call.Arguments)
	}
	return c.line(s) + "\n" + s.paint(dim, cleartext.Sanitize(indented.String())) + "\n" + cleartext.Sanitize(strings.TrimSuffix(messageText(c.result), "\n"))
}

// describeCall is a call in one line, without control characters.
func describeCall(call *agent.Request) string {
	return strings.TrimSpace(cleartext.Printable(call.Name) + " " + cleartext.Printable(describeArguments(call.Arguments)))
}

// maxValue is how much of an argument a line shows.
const maxValue = 80

// describeArguments lists arguments as KEY=VALUE.
func describeArguments(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return string(raw)
	}
	var all []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return string(raw)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return string(raw)
		}
		all = append(all, fmt.Sprintf("%v=%s", key, describeValue(value)))
	}
	return strings.Join(all, " ")
}

func describeValue(raw json.RawMessage) string {
	text := string(raw)
	var s string
	if json.Unmarshal(raw, &s) == nil && s != "" && !strings.ContainsAny(s, " \t\"") {
		text = s
	}
	n := utf8.RuneCountInString(text)
	switch {
	case n > maxValue && (raw[0] == '[' || raw[0] == '{'):
		return fmt.Sprintf("%c… %d characters%c", raw[0], n, raw[len(raw)-1])
	case n > maxValue:
		return fmt.Sprintf("%s (%d characters)", terminal.Cut(text, maxValue/2), n)
	}
	return text
}

// messageText is the text of a result.
func messageText(m *toolpost.ToolMessage) string {
	if m.Parts == nil {
		return m.Text
	}
	var all []string
	for _, p := range m.Parts {
		switch {
		case len(p.Data) > 0:
			all = append(all, fmt.Sprintf("[%s, %s, %s]", p.Type, p.MIMEType, size(len(p.Data))))
		case p.Text != "":
			all = append(all, p.Text)
		default:
			all = append(all, string(p.Raw))
		}
	}
	return strings.Join(all, "\n")
}

func messageSize(m *toolpost.ToolMessage) int {
	n := len(m.Text)
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Data)
	}
	return n
}
