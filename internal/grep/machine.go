package grep

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A state is where the program can be after a part of a line.
type state struct {
	set   []uint32 // instructions to go on with, sorted
	rest  string   // bytes read ahead: of a rune that is not whole, or a '\r' that may belong to the line's end
	begin bool     // nothing of the line was used
	word  bool     // the last rune is of a word
}

// A machine steps a program through lines, byte by byte. It only reports whether
// there is a match, so the order of alternatives does not count.
type machine struct {
	prog     *syntax.Prog
	anchored bool // matches begin where the line begins
	words    bool // word boundaries are asked for
	bounds   []rune
	alike    map[shape]string

	reached sparse // by the closure
	stack   []uint32
	buf     []byte
}

func newMachine(prog *syntax.Prog) machine {
	m := machine{prog: prog, alike: map[shape]string{}, reached: newSparse(len(prog.Inst))}
	m.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	for _, i := range prog.Inst {
		if i.Op == syntax.InstEmptyWidth {
			m.words = m.words || syntax.EmptyOp(i.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
		m.bounds = append(m.bounds, bounds(&i)...)
	}
	slices.Sort(m.bounds)
	m.bounds = slices.Compact(m.bounds)
	return m
}

// The results of a step, as rows of the table.
const (
	unknown = iota << 8
	hit     // the line matches and goes on
	hitEnd  // the line matches and is over
	dead    // the line cannot match any more
	start   // a line begins; all above are rows of states
)

// step moves s on by b; what it returns is hit, hitEnd, dead, start or, where
// s is the next state, unknown.
func (m *machine) step(s *state, b byte) uint32 {
	m.buf = append(append(m.buf[:0], s.rest...), b)
	buf := m.buf
	for len(buf) > 0 {
		r, n := decode(buf)
		if n == 0 {
			break
		}
		match := m.close(s, r)
		switch {
		case match && b == '\n':
			return hitEnd
		case match:
			return hit
		case r == lineOver:
			return start
		}
		m.move(s, r)
		buf = buf[n:]
	}
	s.rest = m.canonical(buf)
	if m.anchored && !s.begin && len(s.set) == 0 {
		return dead
	}
	return unknown
}

const lineOver = -1 // the rune at the end of a line

// decode returns the first rune of buf and its size; 0 if it needs more
// bytes.
func decode(buf []byte) (rune, int) {
	switch {
	case string(buf) == "\n" || string(buf) == "\r\n":
		return lineOver, len(buf)
	case string(buf) == "\r" || !utf8.FullRune(buf):
		return 0, 0
	}
	return utf8.DecodeRune(buf)
}

// between returns the assertions that hold between the state and the rune r that follows.
func (m *machine) between(s *state, r rune) syntax.EmptyOp {
	flags := syntax.EmptyNoWordBoundary
	if s.word != (m.words && syntax.IsWordChar(r)) {
		flags = syntax.EmptyWordBoundary
	}
	if s.begin {
		flags |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	if r == lineOver {
		flags |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	return flags
}

// close follows what needs no rune, with r in front, and reports whether it
// comes to a match.
func (m *machine) close(s *state, r rune) bool {
	flags := m.between(s, r)
	m.reached.list = m.reached.list[:0]
	m.stack = append(m.stack[:0], s.set...)
	if s.begin || !m.anchored {
		m.stack = append(m.stack, uint32(m.prog.Start))
	}
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if !m.reached.add(pc) {
			continue
		}
		switch i := &m.prog.Inst[pc]; i.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			m.stack = append(m.stack, i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^flags == 0 {
				m.stack = append(m.stack, i.Out)
			}
		}
	}
	return false
}

// move goes over r from the instructions that close reached.
func (m *machine) move(s *state, r rune) {
	s.set = s.set[:0]
	for _, pc := range m.reached.list {
		if i := &m.prog.Inst[pc]; i.Op >= syntax.InstRune && i.MatchRune(r) {
			s.set = append(s.set, i.Out)
		}
	}
	slices.Sort(s.set)
	s.set = slices.Compact(s.set)
	s.begin, s.word = false, m.words && syntax.IsWordChar(r)
}

// A shape is what the bytes of a rune that is not whole come to, if the
// program does not distinguish the runes that begin so.
type shape struct{ class, have, need int }

// canonical returns the same bytes for all beginnings of runes that lead to the
// same: without it, text that is not ASCII would need very many states.
func (m *machine) canonical(b []byte) string {
	if len(b) == 0 || b[0] == '\r' {
		return string(b)
	}
	need, first := lead(b[0])
	if len(b) == 1 && (b[0] == 0xe0 || b[0] == 0xed || b[0] == 0xf0 || b[0] == 0xf4) {
		return string(b) // not every second byte may follow
	}
	for _, c := range b[1:] {
		first = first<<6 | rune(c&0x3f)
	}
	bits := 6 * (need - len(b))
	first <<= bits
	class := m.class(first)
	if class != m.class(first+1<<bits-1) {
		return string(b)
	}
	key := shape{class, len(b), need}
	if _, ok := m.alike[key]; !ok {
		m.alike[key] = string(b)
	}
	return m.alike[key]
}

// lead returns of the first byte of a rune how many bytes that has, and its bits.
func lead(b byte) (int, rune) {
	switch {
	case b >= 0xf0:
		return 4, rune(b & 0x07)
	case b >= 0xe0:
		return 3, rune(b & 0x0f)
	}
	return 2, rune(b & 0x1f)
}

func (m *machine) class(r rune) int {
	i, _ := slices.BinarySearch(m.bounds, r+1)
	return i
}

// bounds returns where, of all runes, those begin and end that i matches.
func bounds(i *syntax.Inst) []rune {
	var all []rune
	switch {
	case i.Op == syntax.InstRuneAnyNotNL: // no line has '\n'
	case i.Op < syntax.InstRune:
	case len(i.Rune) == 1:
		all = append(all, i.Rune[0], i.Rune[0]+1)
		for r := unicode.SimpleFold(i.Rune[0]); r != i.Rune[0]; r = unicode.SimpleFold(r) {
			all = append(all, r, r+1)
		}
	default:
		for j := 0; j+1 < len(i.Rune); j += 2 {
			all = append(all, i.Rune[j], i.Rune[j+1]+1)
		}
	}
	return all
}

// A sparse set takes and forgets its members in constant time.
type sparse struct{ list, where []uint32 }

func newSparse(n int) sparse { return sparse{make([]uint32, 0, n), make([]uint32, n)} }

func (s *sparse) add(v uint32) bool {
	if i := s.where[v]; int(i) < len(s.list) && s.list[i] == v {
		return false
	}
	s.where[v] = uint32(len(s.list))
	s.list = append(s.list, v)
	return true
}
