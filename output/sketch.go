package output

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf8"
)

// A sketch keeps of a text its beginning and its end, and counts the rest.
type sketch struct {
	room  int // characters that are kept of the beginning, and of the end
	head  []byte
	tail  []byte
	taken int // characters in head
	chars int64
	ends  int64 // of lines
	open  bool  // the last line has no end
}

// add takes more of the text, which is valid UTF-8.
func (s *sketch) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if s.taken < s.room {
		first := p[:prefix(p, s.room-s.taken)]
		s.head = append(s.head, first...)
		s.taken += utf8.RuneCount(first)
	}
	s.chars += int64(runes(p))
	s.ends += int64(bytes.Count(p, newline))
	s.open = p[len(p)-1] != '\n'
	keep := utf8.UTFMax * s.room
	if len(p) > keep {
		s.tail, p = s.tail[:0], p[len(p)-keep:]
	} else if len(s.tail)+len(p) > 2*keep {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-keep:]...)
	}
	s.tail = append(s.tail, p...)
}

// runes counts the characters of valid UTF-8, eight bytes at a time: those that
// go on with a character have the bits 10 first.
func runes(p []byte) int {
	const high = 0x8080808080808080
	n := len(p)
	for ; len(p) >= 8; p = p[8:] {
		w := binary.NativeEndian.Uint64(p)
		n -= bits.OnesCount64(w &^ (w << 1) & high)
	}
	for _, b := range p {
		if !utf8.RuneStart(b) {
			n--
		}
	}
	return n
}

// lines counts also a last one without an end.
func (s *sketch) lines() int64 {
	if s.open {
		return s.ends + 1
	}
	return s.ends
}

// sketched returns the sketch of a whole text, which is valid UTF-8.
func sketched(text string, room int) *sketch {
	s := &sketch{room: room}
	for p := range pieces(text) {
		s.add(p)
	}
	return s
}

// pieces yields the text in parts of whole characters, each in place of the one
// before: a copy of all of it would be large.
func pieces(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var b []byte
		for text != "" {
			n := min(len(text), 256<<10)
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n--
			}
			if b = append(b[:0], text[:n]...); !yield(b) {
				return
			}
			text = text[n:]
		}
	}
}

var (
	newline     = []byte("\n")
	replacement = []byte("\uFFFD")
)

// A gap is what a view leaves out of a text.
type gap struct {
	lines, chars     int64 // left out, lines also in part
	ofLines, ofChars int64
	line             int64 // the first one, from 0
	char             int64 // characters of it that are shown
}

// view returns the text within the limit, with what mark says of a gap where
// the rest is left out.
func (s *sketch) view(l limit, mark func(gap) string) string {
	if l.holds(s.chars, s.lines()) {
		return string(s.head)
	}
	most := gap{lines: s.lines(), chars: s.chars, ofLines: s.lines(), ofChars: s.chars, line: s.lines(), char: s.chars}
	room := max(0, l.chars-utf8.RuneCountInString(mark(most))-2)
	rows := max(0, l.lines-1)
	head := beginning(s.head, room/2, rows/2)
	tail, inside := ending(s.tail, room/2, rows/2)
	g := gap{ofLines: s.lines(), ofChars: s.chars, line: int64(bytes.Count(head, newline))}
	g.chars = s.chars - int64(utf8.RuneCount(head)+utf8.RuneCount(tail))
	whole := int64(bytes.Count(tail, newline))
	if len(tail) > 0 && s.open {
		whole++
	}
	if inside {
		whole--
	}
	g.lines = g.ofLines - g.line - whole
	g.char = int64(utf8.RuneCount(head[bytes.LastIndexByte(head, '\n')+1:]))
	if g.char > 0 {
		head = append(head[:len(head):len(head)], '\n')
	}
	return string(head) + mark(g) + "\n" + string(tail)
}

// beginning returns at most so many characters and lines of b. It ends with a
// line, unless that would leave more than half of the room unused.
func beginning(b []byte, chars, lines int) []byte {
	p := b[:prefix(b, chars)]
	if at := nth(p, lines); at >= 0 {
		return p[:at]
	}
	if whole := p[:bytes.LastIndexByte(p, '\n')+1]; utf8.RuneCount(whole) >= chars/2 {
		return whole
	}
	return p
}

// ending does so from the end of b; inside says that it begins within a line.
func ending(b []byte, chars, lines int) (p []byte, inside bool) {
	from := len(b) - suffix(b, chars)
	p = b[from:]
	if at := nthLast(p, lines); at >= 0 {
		return p[at:], false
	}
	if whole := p[bytes.IndexByte(p, '\n')+1:]; len(whole) < len(p) && utf8.RuneCount(whole) >= chars/2 {
		return whole, false
	}
	return p, from == 0 || b[from-1] != '\n'
}

// prefix returns the length of the first n characters of p.
func prefix(p []byte, n int) int {
	if len(p) <= n {
		return len(p)
	}
	at := 0
	for ; n > 0 && at < len(p); n-- {
		_, size := utf8.DecodeRune(p[at:])
		at += size
	}
	return at
}

// suffix returns the length of the last n characters of p, which may begin
// within one.
func suffix(p []byte, n int) int {
	at := len(p)
	for ; n > 0 && at > 0; n-- {
		r, size := utf8.DecodeLastRune(p[:at])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at -= size
	}
	return len(p) - at
}

// nth returns where the first n lines of p end, -1 if it has no more.
func nth(p []byte, n int) int {
	at := 0
	for ; n > 0; n-- {
		i := bytes.IndexByte(p[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	if at == len(p) {
		return -1
	}
	return at
}

// nthLast returns where the last n lines of p begin, -1 if it has no more.
func nthLast(p []byte, n int) int {
	at := len(bytes.TrimSuffix(p, newline))
	if n == 0 {
		return len(p)
	}
	for ; n > 0; n-- {
		if at = bytes.LastIndexByte(p[:at], '\n'); at < 0 {
			return -1
		}
	}
	return at + 1
}
