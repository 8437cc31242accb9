// Package board shows serve to a person at a terminal: how to go on, the servers as a
// table that follows them, and a line for each thing that happens.
package board

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/upstream"
)

// A Board draws on a terminal. The first lines say how to go on and are written once; the
// table of servers stays at the bottom and changes in place; what happens is written above
// it. It implements [serve.View].
type Board struct {
	out     io.Writer
	size    func() (width, height int)
	color   bool
	subject Intro
	tick    *time.Ticker
	end     chan struct{} // closed by Close

	mu      sync.Mutex
	access  *serve.Access
	intro   int // lines at the beginning
	servers servers
	settled bool
	table   terminal.Live
}

// New returns a board that writes to out, which must not sanitize what it gets: the board
// does that, and writes control sequences of its own.
func New(out io.Writer, size func() (width, height int), color bool) *Board {
	b := &Board{out: out, size: size, color: color, tick: time.NewTicker(time.Second), end: make(chan struct{})}
	go b.follow()
	return b
}

// Describe sets what is served. It is called before [Board.Serving].
func (b *Board) Describe(a Intro) { b.subject = a }

// follow draws the seconds of servers that start, and the table in the size that the
// terminal has now.
func (b *Board) follow() {
	for {
		select {
		case <-b.tick.C:
			b.mu.Lock()
			b.draw()
			b.mu.Unlock()
		case <-b.end:
			return
		}
	}
}

// Close ends the drawing; the last table remains.
func (b *Board) Close() {
	b.tick.Stop()
	close(b.end)
}

// Serving implements [serve.View].
func (b *Board) Serving(a *serve.Access) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.access = a
	width, _ := b.size()
	lines := b.subject.lines(a, width, b.color)
	b.intro = len(lines)
	b.write(strings.Join(lines, "\n") + "\n")
}

// Updated implements [serve.View].
func (b *Board) Updated(s *gateway.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed, news := b.servers.update(s, time.Now())
	if b.settled {
		for _, st := range changed {
			b.writeText(time.Now().Format(time.TimeOnly) + "  " + change(st))
		}
	}
	b.findings(news)
	b.draw()
}

// maxFindings is how many new findings are shown at once.
const maxFindings = 3

func (b *Board) findings(news []string) {
	for i, text := range news {
		if i == maxFindings && len(news) > maxFindings+1 {
			b.writeText(fmt.Sprintf("%d more findings; toolpost doctor --all lists them", len(news)-i))
			return
		}
		b.writeText(text)
	}
}

// Settled implements [serve.View].
func (b *Board) Settled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settled = true
}

// Adapted implements [serve.View].
func (b *Board) Adapted(a *dialect.Adapted) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range adaptation(a) {
		b.writeText(line)
	}
	b.draw()
}

// Write writes log lines above the table.
func (b *Board) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.insert(cleartext.Sanitize(string(p)))
	b.draw()
	return len(p), nil
}

// Note writes a dim line about what happens.
func (b *Board) Note(when time.Time, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(when, text)
	b.draw()
}

func (b *Board) note(when time.Time, text string) {
	width, _ := b.size()
	line := terminal.Cut(cleartext.Printable(when.Format(time.TimeOnly)+"  "+text), width)
	b.insert(b.paint("2", line) + "\n")
}

// writeText writes a text above the table, wrapped.
func (b *Board) writeText(text string) {
	width, _ := b.size()
	lines := terminal.Wrap(cleartext.Printable(text), max(20, width))
	b.insert(strings.Join(lines, "\n") + "\n")
}

// insert writes lines in the place of the table. The caller draws the table again below
// them.
func (b *Board) insert(lines string) { b.write(b.table.Erase(b.size()) + lines) }

// write writes to the terminal. Errors are ignored: the terminal is where they are shown.
func (b *Board) write(text string) { _, _ = io.WriteString(b.out, text) }

// draw puts the table in the place of the one before, unless it is the same.
func (b *Board) draw() {
	width, height := b.size()
	lines := b.servers.table(b.room(height), width, time.Now(), b.paint)
	if len(lines) > 0 && b.access != nil && b.access.URL != "" {
		last := len(lines) - 1
		lines[last] = terminal.Cut(b.access.URL+"  "+lines[last], width)
	}
	if text := b.table.Draw(lines, width, height); text != "" {
		b.write(text)
	}
}

// room is how many lines the table may have: those below the first lines, so that both are
// seen together where the terminal is high enough.
func (b *Board) room(height int) int {
	return min(max(height-b.intro-1, minRoom), height-1)
}

// minRoom is what the table gets of a terminal that is too low: a head, two servers, what
// is not shown, and the sum.
const minRoom = 5

func (b *Board) paint(code, text string) string {
	if !b.color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// change describes in one line what became of a server.
func change(st upstream.Status) string {
	switch {
	case st.State == upstream.Ready:
		return fmt.Sprintf("%s: ready, %s", st.Name, terminal.Count(st.Tools, "tool"))
	case st.State == upstream.Closed:
		return st.Name + ": removed"
	case st.Err != nil:
		return fmt.Sprintf("%s: %s: %s", st.Name, st.State, st.Reason())
	}
	return fmt.Sprintf("%s: %s", st.Name, st.State)
}
