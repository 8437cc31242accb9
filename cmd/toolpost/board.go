package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A board shows the servers on a terminal: a table that is drawn again with
// every change until all have answered, and after that one line per change.
type board struct {
	out   io.Writer
	size  func() (width, height int)
	color bool

	mu      sync.Mutex
	guide   *guide
	shown   *gateway.Snapshot // nil before the first update
	last    memory
	drawn   int // lines of the screen that the next drawing replaces
	settled bool
}

func (b *board) begin(g *guide) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guide = g
}

func (b *board) update(s *gateway.Snapshot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown = s
	changed, news := b.last.changed(s.Status), b.last.news(s.Findings)
	if !b.settled {
		b.draw(false)
		return
	}
	for _, st := range changed {
		fmt.Fprintln(b.out, summary(st))
	}
	for _, f := range news {
		fmt.Fprintln(b.out, cleartext.Printable(connect.FindingText(f)))
	}
}

// settle draws the table for the last time, with the findings.
func (b *board) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.settled {
		return
	}
	b.settled = true
	b.draw(true)
}

func (b *board) adapt(a *adaptation) {
	for _, line := range a.lines() {
		_, _ = b.Write([]byte(cleartext.Printable(line) + "\n")) // there is no other place to report the error
	}
}

// Write puts log lines above the table.
func (b *board) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	_, err := io.WriteString(b.out, cleartext.Sanitize(string(p)))
	if !b.settled && b.shown != nil {
		b.draw(false)
	}
	return len(p), err
}

// draw replaces what was drawn before. As long as it is not the last time, it
// draws only what fits on the screen.
func (b *board) draw(last bool) {
	width, height := b.size()
	var lines []string
	if b.shown != nil {
		lines = append(table(b.shown.Status, width, b.color), "")
	}
	if last && b.shown != nil {
		for _, f := range b.shown.Findings {
			lines = append(lines, terminal.Wrap(cleartext.Printable(connect.FindingText(f)), max(20, width))...)
		}
		if len(b.shown.Findings) > 0 {
			lines = append(lines, "")
		}
	}
	lines = append(lines, b.guide.lines()...)
	rows := 0
	for _, l := range lines {
		rows += max(1, (terminal.Width(l)+width-1)/width)
	}
	if !last && rows >= height {
		return
	}
	var buf bytes.Buffer
	buf.WriteString(b.up())
	buf.WriteString(strings.Join(lines, "\n") + "\n")
	_, _ = b.out.Write(buf.Bytes())
	if b.drawn = rows; last {
		b.drawn = 0
	}
}

// clear removes what was drawn.
func (b *board) clear() {
	_, _ = io.WriteString(b.out, b.up())
	b.drawn = 0
}

// up moves to the first drawn line and clears from there on.
func (b *board) up() string {
	if b.drawn == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", b.drawn)
}
