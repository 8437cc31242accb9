package output

import (
	"bytes"
	"iter"
	"math/bits"
	"strings"
	"sync"
	"unicode/utf8"
)

// An excerpt collects the beginning and the end of a text, and counts the rest.
type excerpt struct {
	room int // characters that are kept of the beginning; about half as many of the end
	ends
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

// add takes more of the text, which is valid UTF-8.
func (s *excerpt) add(p []byte) {
	if len(p) == 0 {
		return
	}
	chars := runes(p)
	first, last := prefix[[]byte], suffix[[]byte]
	if chars == len(p) { // ASCII
		first = func(p []byte, n int) int { return min(n, len(p)) }
		last = first
	}
	if s.chars < int64(s.room) {
		s.head = append(s.head, p[:first(p, s.room-int(s.chars))]...)
	}
	s.chars += int64(chars)
	s.breaks += int64(bytes.Count(p, newline))
	s.open = p[len(p)-1] != '\n'
	keep := s.room/2 + 1 // a view has no more of the end
	if chars >= keep {
		s.tail = s.tail[:0]
	} else if len(s.tail)+len(p) > 2*utf8.UTFMax*keep {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-suffix(s.tail, keep):]...)
	}
	s.tail = append(s.tail, p[len(p)-last(p, keep):]...)
}

// runes counts the characters of valid UTF-8.
func runes[T string | []byte](p T) int {
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
func starts[T string | []byte](p T, at int) int {
	a, b, c, d := word(p, at), word(p, at+8), word(p, at+16), word(p, at+24)
	if (a|b|c|d)&high == 0 {
		return block
	}
	return block - countContinuations(a) - countContinuations(b) - countContinuations(c) - countContinuations(d)
}

// word returns eight bytes of p.
func word[T string | []byte](p T, at int) uint64 {
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
func newExcerpt(text string, room int) *excerpt { return newExcerptOf(text, runes(text), room) }

// newExcerptOf returns the excerpt of a text whose characters are counted.
func newExcerptOf(text string, chars, room int) *excerpt {
	s := &excerpt{room: room, chars: int64(chars), breaks: int64(strings.Count(text, "\n"))}
	s.open = text != "" && text[len(text)-1] != '\n'
	if s.chars > int64(room) {
		room = room/2 + 1 // a view has no more of each end
	}
	s.head = []byte(text[:prefix(text, room)])
	s.tail = []byte(text[len(text)-suffix(text, room):])
	return s
}

// pieces yields the text in parts of whole characters, each in place of the one
// before: a copy of all of it would be large.
func pieces(text string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var b []byte
		for text != "" {
			n := min(len(text), 32<<10)
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
func (s *excerpt) view(l limit, mark func(gap) string) string {
	if l.holds(s.chars, s.lines()) {
		return string(s.head)
	}
	most := gap{lines: s.lines(), chars: s.chars, ofLines: s.lines(), ofChars: s.chars, line: s.lines(), char: s.chars}
	room := max(0, l.chars-runes(mark(most))-2)
	rows := max(0, l.lines-1)
	head := beginning(s.head, room/2, rows/2)
	tail, inside := ending(s.tail, room/2, rows/2)
	g := gap{ofLines: s.lines(), ofChars: s.chars, line: int64(bytes.Count(head, newline))}
	g.chars = s.chars - int64(runes(head)+runes(tail))
	whole := int64(bytes.Count(tail, newline))
	if len(tail) > 0 && s.open {
		whole++
	}
	if inside {
		whole--
	}
	g.lines = g.ofLines - g.line - whole
	g.char = int64(runes(head[bytes.LastIndexByte(head, '\n')+1:]))
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
	if whole := p[:bytes.LastIndexByte(p, '\n')+1]; runes(whole) >= chars/2 {
		return whole
	}
	return p
}

// ending does so from the end of b; inside reports whether it begins within a line.
func ending(b []byte, chars, lines int) (p []byte, inside bool) {
	from := len(b) - suffix(b, chars)
	p = b[from:]
	if at := nthLast(p, lines); at >= 0 {
		return p[at:], false
	}
	if whole := p[bytes.IndexByte(p, '\n')+1:]; len(whole) < len(p) && runes(whole) >= chars/2 {
		return whole, false
	}
	return p, from == 0 || b[from-1] != '\n'
}

// prefix returns the length of the first n characters of p, which is valid UTF-8.
func prefix[T string | []byte](p T, n int) int {
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
func suffix[T string | []byte](p T, n int) int {
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
