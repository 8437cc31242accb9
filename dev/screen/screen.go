// Package screen is a terminal for tests: it takes what a program writes, and shows the
// rows that a person then sees.
package screen

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A Screen is a terminal. It knows the control sequences that this module's programs write
// line by line: moving up, clearing, and colours, which it leaves out.
type Screen struct {
	mu            sync.Mutex
	width, height int
	rows          []string // all, those above the screen too
	top           int      // the first row of the screen
	row           int      // of the cursor
	rest          string   // the beginning of a sequence
}

// New returns an empty screen.
func New(width, height int) *Screen {
	return &Screen{width: width, height: height, rows: []string{""}}
}

// Size returns the columns and rows.
func (s *Screen) Size() (width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.width, s.height
}

// Write takes output of a program.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.rest + string(p)
	s.rest = ""
	for text != "" {
		sequence, _, n, _ := ansi.DecodeSequence(text, ansi.NormalState, nil)
		if n == len(text) && !whole(sequence) {
			s.rest = text
			break
		}
		s.take(sequence)
		text = text[n:]
	}
	return len(p), nil
}

// whole reports whether a character or a control sequence has its last byte.
func whole(sequence string) bool {
	if !strings.HasPrefix(sequence, "\x1b") {
		return utf8.ValidString(sequence)
	}
	last := sequence[len(sequence)-1]
	return len(sequence) > 2 && last >= '@' && last <= '~'
}

func (s *Screen) take(sequence string) {
	switch {
	case sequence == "\n":
		s.down()
	case sequence == "\r":
	case strings.HasPrefix(sequence, "\x1b[") && strings.HasSuffix(sequence, "A"):
		s.up(sequence[2 : len(sequence)-1])
	case sequence == "\x1b[J":
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = ""
	case strings.HasPrefix(sequence, "\x1b"):
	default:
		if ansi.StringWidth(s.rows[s.row]+sequence) > s.width {
			s.down()
		}
		s.rows[s.row] += sequence
	}
}

// down moves to the next row, which is empty, and scrolls at the bottom.
func (s *Screen) down() {
	if s.row++; s.row == len(s.rows) {
		s.rows = append(s.rows, "")
	}
	s.top = max(s.top, s.row-s.height+1)
}

// up moves up, not above the screen.
func (s *Screen) up(count string) {
	n := 0
	for _, digit := range count {
		n = 10*n + int(digit-'0')
	}
	s.row = max(s.top, s.row-max(n, 1))
}

// String returns the rows on the screen, without spaces at their ends.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return join(s.rows[s.top:])
}

// All returns the rows above the screen too.
func (s *Screen) All() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return join(s.rows)
}

func join(rows []string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Resize changes the size, and wraps the rows anew as terminals do.
func (s *Screen) Resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := s.rows
	s.width, s.height, s.rows, s.row, s.top = width, height, []string{""}, 0, 0
	for i, row := range rows {
		if i > 0 {
			s.down()
		}
		for row != "" {
			part := ansi.Truncate(row, width, "")
			s.rows[s.row] = part
			if row = row[len(part):]; row != "" {
				s.down()
			}
		}
	}
}
