// Package screen is a terminal for tests: it takes what a program writes, and shows the
// rows that a person then sees.
package screen

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A Screen is a terminal. It knows the control sequences that this module's programs write:
// moving the cursor, clearing, and colours, which it leaves out.
type Screen struct {
	mu            sync.Mutex
	width, height int
	rows          []string // all, those above the screen too
	top           int      // the first row of the screen
	row, column   int      // of the cursor
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
	control, isControl := strings.CutPrefix(sequence, "\x1b[")
	switch {
	case sequence == "\n":
		s.down()
	case sequence == "\r":
		s.column = 0
	case sequence == "\a":
	case isControl:
		s.control(control[len(control)-1], control[:len(control)-1])
	default:
		s.put(sequence)
	}
}

// control takes a control sequence by its last character and its parameter.
func (s *Screen) control(last byte, parameter string) {
	n, err := strconv.Atoi(parameter)
	if err != nil {
		n = 1
	}
	switch last {
	case 'A':
		s.row = max(s.top, s.row-n)
	case 'B':
		s.row = min(len(s.rows)-1, s.row+n)
	case 'C':
		s.column = min(s.width-1, s.column+n)
	case 'D':
		s.column = max(0, s.column-n)
	case 'J':
		s.rows = s.rows[:s.row+1]
		s.cut()
	case 'K':
		s.cut()
	}
}

// put writes a character at the cursor.
func (s *Screen) put(character string) {
	width := ansi.StringWidth(character)
	if s.column+width > s.width {
		s.down()
	}
	row := s.rows[s.row]
	row += strings.Repeat(" ", max(0, s.column-ansi.StringWidth(row)))
	s.rows[s.row] = ansi.Truncate(row, s.column, "") + character + ansi.TruncateLeft(row, s.column+width, "")
	s.column += width
}

// cut clears the row from the cursor on.
func (s *Screen) cut() { s.rows[s.row] = ansi.Truncate(s.rows[s.row], s.column, "") }

// down moves to the beginning of the next row, and scrolls at the bottom.
func (s *Screen) down() {
	if s.row++; s.row == len(s.rows) {
		s.rows = append(s.rows, "")
	}
	s.column = 0
	s.top = max(s.top, s.row-s.height+1)
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
	s.column = ansi.StringWidth(s.rows[s.row])
}
