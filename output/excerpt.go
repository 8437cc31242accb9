package output

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// An excerpt collects the beginning and the end of a text, and counts the rest.
type excerpt struct {
	room int // characters that are kept of the beginning; about half as many of the end
	ends
	scale
	chars  int64
	breaks int64 // of lines
	open   bool  // the last line has no end
}

// ends are the beginning and the end of a text.
type ends struct{ head, tail []byte }

// An endsPool has memory for the ends of texts that are long.
type endsPool struct{ pool sync.Pool }

func (p *endsPool) get() ends {
	if used, ok := p.pool.Get().(*ends); ok {
		return *used
	}
	return ends{}
}

// put takes back memory that is not used any more.
func (p *endsPool) put(used ends) {
	if used = (ends{used.head[:0], used.tail[:0]}); cap(used.head)+cap(used.tail) <= maxEnds {
		p.pool.Put(&used)
	}
}

// maxEnds bounds the memory in an [endsPool]; the default limit needs less.
const maxEnds = 512 << 10

// add takes more of the text, which is valid UTF-8 of a scale.
func (s *excerpt) add(p []byte, of scale) {
	if len(p) == 0 {
		return
	}
	s.wide = s.wide || of.wide
	chars := of.runes(p)
	keep := s.room/2 + 1 // a view has no more of each end
	first := int64(s.room)
	if s.chars+int64(chars) > first {
		first = int64(keep)
	}
	if s.chars < first {
		s.head = append(s.head, p[:of.prefix(p, int(first-s.chars))]...)
	}
	s.chars += int64(chars)
	s.breaks += int64(bytes.Count(p, newline))
	s.open = p[len(p)-1] != '\n'
	if chars >= keep {
		s.tail = s.tail[:0]
	} else if len(s.tail)+len(p) > 2*utf8.UTFMax*keep {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-s.suffix(s.tail, keep):]...)
	}
	s.tail = append(s.tail, p[len(p)-of.suffix(p, keep):]...)
}

// A scale counts the characters of a text: one for each byte, unless it is wide.
type scale struct{ wide bool }

// scaleOf returns the scale of any bytes.
func scaleOf(p []byte) scale {
	for ; len(p) >= block; p = p[block:] {
		if (word(p, 0)|word(p, 8)|word(p, 16)|word(p, 24))&high != 0 {
			return scale{wide: true}
		}
	}
	return scale{slices.ContainsFunc(p, func(c byte) bool { return c >= utf8.RuneSelf })}
}

func (s scale) runes(p []byte) int {
	if s.wide {
		return runes(p)
	}
	return len(p)
}

// prefix returns the length of the first n characters of p.
func (s scale) prefix(p []byte, n int) int {
	if s.wide {
		return prefix(p, n)
	}
	return min(n, len(p))
}

// suffix returns the length of the last n characters of p.
func (s scale) suffix(p []byte, n int) int {
	if s.wide {
		return suffix(p, n)
	}
	return min(n, len(p))
}

// runes counts the characters of valid UTF-8.
func runes(p []byte) int {
	n, at := 0, 0
	for ; at+block <= len(p); at += block {
		if (word(p, at)|word(p, at+8)|word(p, at+16)|word(p, at+24))&high == 0 {
			n += block // twice as fast as the call
		} else {
			n += starts(p, at)
		}
	}
	for ; at < len(p); at++ {
		if utf8.RuneStart(p[at]) {
			n++
		}
	}
	return n
}

const (
	block = 32                 // bytes that are looked at together
	high  = 0x8080808080808080 // the bits of bytes that are not ASCII
)

// starts returns how many characters begin in a block of p. Most text is ASCII.
func starts(p []byte, at int) int {
	a, b, c, d := word(p, at), word(p, at+8), word(p, at+16), word(p, at+24)
	if (a|b|c|d)&high == 0 {
		return block
	}
	return block - countContinuations(a) - countContinuations(b) - countContinuations(c) - countContinuations(d)
}

// word returns eight bytes of p.
func word(p []byte, at int) uint64 {
	b := p[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// countContinuations returns how many bytes of w go on with a character: they have the
// bits 10 first.
func countContinuations(w uint64) int {
	return bits.OnesCount64(w &^ (w << 1) & high)
}

// lines counts also a last one without an end.
func (s *excerpt) lines() int64 {
	if s.open {
		return s.breaks + 1
	}
	return s.breaks
}

// newExcerpt returns the excerpt of a whole text, which is valid UTF-8.
func newExcerpt(text string, room int) *excerpt {
	return newExcerptOf(text, runes(bytesOf(text)), room)
}

// newExcerptOf returns the excerpt of a text whose characters are counted.
func newExcerptOf(text string, chars, room int) *excerpt {
	s := &excerpt{room: room, scale: scale{chars < len(text)}, chars: int64(chars), breaks: int64(strings.Count(text, "\n"))}
	s.open = text != "" && text[len(text)-1] != '\n'
	if s.chars > int64(room) {
		room = room/2 + 1 // a view has no more of each end
	}
	s.head = []byte(text[:s.prefix(bytesOf(text), room)])
	s.tail = []byte(text[len(text)-s.suffix(bytesOf(text), room):])
	return s
}

// bytesOf returns the bytes of a text without a copy. They are only read.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

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
func (s *excerpt) view(l limit, mark func(gap) string) string {
	if l.holds(s.chars, s.lines()) {
		return string(s.head)
	}
	most := gap{lines: s.lines(), chars: s.chars, ofLines: s.lines(), ofChars: s.chars, line: s.lines(), char: s.chars}
	room := max(0, l.chars-runes(bytesOf(mark(most)))-2)
	rows := max(0, l.lines-1)
	head := s.beginning(room/2, rows/2)
	tail, inside := s.ending(room/2, rows/2)
	g := gap{ofLines: s.lines(), ofChars: s.chars, line: int64(bytes.Count(head, newline))}
	g.chars = s.chars - int64(s.runes(head)+s.runes(tail))
	whole := int64(bytes.Count(tail, newline))
	if len(tail) > 0 && s.open {
		whole++
	}
	if inside {
		whole--
	}
	g.lines = g.ofLines - g.line - whole
	g.char = int64(s.runes(head[bytes.LastIndexByte(head, '\n')+1:]))
	if g.char > 0 {
		head = append(head[:len(head):len(head)], '\n')
	}
	return string(head) + mark(g) + "\n" + string(tail)
}

// beginning returns at most so many characters and lines of the head. It ends with a
// line, unless that would leave more than half of the room unused.
func (s *excerpt) beginning(chars, lines int) []byte {
	p := s.head[:s.prefix(s.head, chars)]
	if at := nth(p, lines); at >= 0 {
		return p[:at]
	}
	if whole := p[:bytes.LastIndexByte(p, '\n')+1]; s.runes(whole) >= chars/2 {
		return whole
	}
	return p
}

// ending does so from the end of the tail; inside reports whether it begins within a line.
func (s *excerpt) ending(chars, lines int) (p []byte, inside bool) {
	from := len(s.tail) - s.suffix(s.tail, chars)
	p = s.tail[from:]
	if at := nthLast(p, lines); at >= 0 {
		return p[at:], false
	}
	if whole := p[bytes.IndexByte(p, '\n')+1:]; len(whole) < len(p) && s.runes(whole) >= chars/2 {
		return whole, false
	}
	return p, from == 0 || s.tail[from-1] != '\n'
}

// prefix returns the length of the first n characters of p, which is valid UTF-8.
func prefix(p []byte, n int) int {
	if len(p) <= n {
		return len(p)
	}
	at := 0
	for ; n >= block && at+block <= len(p); at += block {
		n -= starts(p, at)
	}
	for ; at < len(p); at++ {
		if utf8.RuneStart(p[at]) {
			if n == 0 {
				break
			}
			n--
		}
	}
	return at
}

// suffix returns the length of the last n characters of p, which is valid UTF-8,
// but may begin within a character.
func suffix(p []byte, n int) int {
	at := len(p)
	for ; n >= block && at >= block; at -= block {
		n -= starts(p, at-block)
	}
	for ; n > 0 && at > 0; at-- {
		if utf8.RuneStart(p[at-1]) {
			n--
		}
	}
	for at < len(p) && !utf8.RuneStart(p[at]) { // its beginning is missing
		at++
	}
	return len(p) - at
}

// nth returns where the first n lines of p end, -1 if it has no more.
func nth(p []byte, n int) int {
	if bytes.Count(p, newline) < n {
		return -1
	}
	at := 0
	for ; n > 0; n-- {
		at += bytes.IndexByte(p[at:], '\n') + 1
	}
	if at == len(p) {
		return -1
	}
	return at
}

// nthLast returns where the last n lines of p begin, -1 if it has no more.
func nthLast(p []byte, n int) int {
	if n == 0 {
		return len(p)
	}
	whole := bytes.TrimSuffix(p, newline)
	ends := bytes.Count(whole, newline)
	if ends < n {
		return -1
	}
	return nth(p, ends-n+1)
}
