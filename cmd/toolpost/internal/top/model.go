// Package top is the live terminal view of a running gateway.
//
//	Fetch ──▶ status.Status ──▶ Model ── keys ──▶ screen
//
// All texts of servers, clients and logs are foreign and are made harmless before
// they are drawn.
package top

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/toolpost/toolpost/internal/access/status"
)

// A Fetch returns the status of the gateway, with the calls and log lines after
// the one with that number.
type Fetch func(ctx context.Context, after uint64) (*status.Status, error)

// Run shows the view on a terminal until the user quits or ctx is done.
func Run(ctx context.Context, in io.Reader, out io.Writer, address string, every time.Duration, fetch Fetch) error {
	m := New(address, os.Getenv("NO_COLOR") == "")
	m.ask = func(after uint64) tea.Cmd { return request(ctx, fetch, after) }
	m.every = every
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// answerTime is how long the gateway may take to answer.
const answerTime = 5 * time.Second

func request(ctx context.Context, fetch Fetch, after uint64) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		defer cancel()
		s, err := fetch(ctx, after)
		return Answer{s, err}
	}
}

// An Answer is what the gateway answered.
type Answer struct {
	Status *status.Status
	Err    error
}

// Next is the message that it is time to ask the gateway again.
type Next struct{}

// A tab is one of the lists.
type tab int

const (
	servers tab = iota
	clients
	calls
	failures
	logs
	tabs // the number of tabs
)

// String returns the title of the tab.
func (t tab) String() string { return [...]string{"Servers", "Clients", "Calls", "Errors", "Log"}[t] }

// kept is how many calls and log lines are kept.
const kept = 2000

// A Model is the state of the view.
type Model struct {
	address string
	every   time.Duration
	ask     func(after uint64) tea.Cmd

	status    *status.Status // the last one, with all calls and log lines that are kept; nil at first
	restarted bool           // the last answer is of a gateway that has started again, and lacks its first calls
	err       error          // of the last request, if it failed
	screen
	selection
}

// screen is how the view is drawn.
type screen struct {
	width, height int
	color         bool
}

// selection is what the user looks at.
type selection struct {
	tab    tab
	row    [tabs]int // the selected row
	filter string
	typing bool // the filter
	paused bool
	detail []string // the open details; nil if none are
	scroll int      // of the details
}

// New returns the view of the gateway at address. It shows nothing until it gets
// an [Answer].
func New(address string, color bool) *Model {
	return &Model{address: address, every: time.Second, screen: screen{80, 24, color}, ask: func(uint64) tea.Cmd { return nil }}
}

// Init asks the gateway for the first time.
func (m *Model) Init() tea.Cmd { return m.ask(0) }

// Update changes the view.
func (m *Model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(message.Width, 20), max(message.Height, 5)
	case Answer:
		m.take(message)
		return m, tea.Tick(m.every, func(time.Time) tea.Msg { return Next{} })
	case Next:
		return m, m.ask(m.seq())
	case tea.KeyPressMsg:
		return m, m.press(message)
	}
	return m, nil
}

// seq returns the number of the last call or log line that is known.
func (m *Model) seq() uint64 {
	if m.status == nil || m.restarted || m.err != nil { // the gateway may have started again
		return 0
	}
	return m.status.Seq
}

// take takes over an answer. While the view is paused, nothing changes but the error.
func (m *Model) take(a Answer) {
	known := m.seq()
	if m.err = a.Err; a.Err != nil || m.paused {
		return
	}
	s := a.Status
	same := m.status != nil && s.Started.Equal(m.status.Started) && s.Seq >= m.status.Seq
	m.restarted = known > 0 && !same
	if m.status != nil && !same {
		m.row[calls], m.row[failures], m.row[logs] = 0, 0, 0
	}
	if known > 0 && same {
		s.Calls = newest(append(m.status.Calls, s.Calls...))
		s.Logs = newest(append(m.status.Logs, s.Logs...))
	}
	m.follow(s)
}

func newest[T any](all []T) []T { return all[max(0, len(all)-kept):] }

// follow replaces the status. The selection stays on its row, wherever that is now.
// In lists with the newest first, the first row always is the newest.
func (m *Model) follow(s *status.Status) {
	for t := range tabs {
		if m.status == nil || m.row[t] == 0 && t >= calls {
			continue
		}
		before := m.rows(m.status, t)
		if m.row[t] >= len(before) {
			continue
		}
		key := before[m.row[t]].key
		if i := slices.IndexFunc(m.rows(s, t), func(r row) bool { return r.key == key }); i >= 0 {
			m.row[t] = i
		}
	}
	m.status = s
	m.clamp()
}

// clamp keeps the selection inside of the list.
func (m *Model) clamp() {
	n := 0
	if m.status != nil {
		n = len(m.rows(m.status, m.tab))
	}
	m.row[m.tab] = min(max(m.row[m.tab], 0), max(n-1, 0))
}

// press handles a key.
func (m *Model) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.typing:
		m.edit(name, key.Text)
	case m.detail != nil:
		return m.leaf(name)
	case name == "q":
		return tea.Quit
	default:
		m.navigate(name)
	}
	m.clamp()
	return nil
}

// edit changes the filter.
func (m *Model) edit(name, text string) {
	switch name {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if runes := []rune(m.filter); len(runes) > 0 {
			m.filter = string(runes[:len(runes)-1])
		}
	default:
		if len(m.filter)+len(text) <= 100 {
			m.filter += text
		}
	}
}

// leaf scrolls through the details, and closes them.
func (m *Model) leaf(name string) tea.Cmd {
	switch name {
	case "q":
		return tea.Quit
	case "down", "j":
		m.scroll++
	case "up", "k":
		m.scroll--
	case "pgdown", "space":
		m.scroll += m.page()
	case "pgup":
		m.scroll -= m.page()
	case "enter", "esc", "backspace":
		m.detail, m.scroll = nil, 0
	}
	m.scroll = min(max(m.scroll, 0), max(0, len(m.detail)-m.page()))
	return nil
}

// navigate moves between tabs and rows.
func (m *Model) navigate(name string) {
	switch name {
	case "tab", "right", "l":
		m.tab = (m.tab + 1) % tabs
	case "shift+tab", "left", "h":
		m.tab = (m.tab + tabs - 1) % tabs
	case "1", "2", "3", "4", "5":
		m.tab = tab(name[0] - '1')
	case "/":
		m.typing = true
	case "esc":
		m.filter = ""
	case "p":
		m.paused = !m.paused
	case "enter":
		m.open()
	default:
		m.move(name)
	}
}

// move moves the selection.
func (m *Model) move(name string) {
	step := map[string]int{"down": 1, "j": 1, "up": -1, "k": -1, "pgdown": m.page(), "space": m.page(), "pgup": -m.page(), "home": -1 << 30, "g": -1 << 30, "end": 1 << 30, "G": 1 << 30}
	m.row[m.tab] += step[name]
}

// page returns how many rows of a list fit on the screen.
func (m *Model) page() int { return max(1, m.height-4) }

// View draws the view.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "toolpost top"
	return v
}

// Text returns the screen as plain text.
func (m *Model) Text() string {
	color := m.color
	m.color = false
	defer func() { m.color = color }()
	var b strings.Builder
	for _, line := range m.lines() {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Once returns the lists of servers, clients and calls, one below the other, as plain text.
// Height limits the calls.
func Once(address string, width, height int, s *status.Status) string {
	m := New(address, false)
	m.width, m.height = max(width, 20), max(height, 5)
	m.follow(s)
	text := m.head() + "\n"
	for _, t := range []tab{servers, clients, calls} {
		rows := m.rows(s, t)
		if t == calls {
			rows = rows[:min(len(rows), m.page())]
		}
		text += "\n" + m.cut(m.tableHead(t)) + "\n"
		for _, r := range rows {
			text += strings.TrimRight(m.cut(r.text), " ") + "\n"
		}
	}
	return text
}
