package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The styles of a terminal.
const (
	bold      = "1"
	dim       = "2"
	italic    = "3"
	underline = "4"
	struck    = "9"
	red       = "31"
	green     = "32"
	yellow    = "33"
	cyan      = "36"
)

// maxSpan is how long a span such as **bold** may be. The text waits for its
// end, so it must not be long.
const maxSpan = 2000

// inline writes the text of a line with its spans. Unless the line is complete,
// it returns the end that further text may change.
func inline(w *wrapper, text, style string, complete bool) (rest string) {
	for text != "" {
		n := strings.IndexAny(text, "*_`[~\\")
		if n < 0 {
			w.text(text, style)
			return ""
		}
		if n > 0 {
			w.text(text[:n], style)
			text = text[n:]
		}
		s := parseSpan(text, w.last, complete || len(text) > maxSpan)
		if s == nil {
			return text
		}
		s.write(w, style)
		text = text[s.size:]
	}
	return ""
}

// A span is a piece of a line with a style.
type span struct {
	size  int    // of its Markdown
	text  string // without the marks
	style string
	plain bool   // text has no spans of its own
	link  string // its address
}

func (s *span) write(w *wrapper, style string) {
	if s.plain {
		w.text(s.text, join(style, s.style))
	} else {
		inline(w, s.text, join(style, s.style), true)
	}
	if s.link != "" && s.link != s.text {
		w.text(" ("+s.link+")", join(style, dim))
	}
}

// literal is a span of n bytes that stand for themselves.
func literal(text string, n int) *span { return &span{size: n, text: text[:n], plain: true} }

// parseSpan returns the span at the beginning of text, nil if further text
// decides what it is.
func parseSpan(text string, before rune, complete bool) *span {
	switch text[0] {
	case '\\':
		return parseEscape(text, complete)
	case '`':
		return parseCode(text, complete)
	case '[':
		return parseLink(text, complete)
	}
	return parseEmphasis(text, before, complete)
}

func parseEscape(text string, complete bool) *span {
	switch {
	case len(text) > 1 && text[1] < utf8.RuneSelf && unicode.In(rune(text[1]), unicode.P, unicode.S):
		return &span{size: 2, text: text[1:2], plain: true}
	case len(text) > 1 || complete:
		return literal(text, 1)
	}
	return nil
}

func parseCode(text string, complete bool) *span {
	n := runLength(text)
	mark := text[:n]
	for at := n; ; {
		i := strings.Index(text[at:], mark)
		if i < 0 {
			break
		}
		at += i
		length := runLength(text[at:])
		if at+length == len(text) && !complete {
			return nil // more of them may follow
		}
		if length == n {
			return &span{size: at + n, text: strings.TrimSpace(text[n:at]), style: cyan, plain: true}
		}
		at += length
	}
	if complete {
		return literal(text, n)
	}
	return nil
}

func parseLink(text string, complete bool) *span {
	closed := strings.IndexByte(text, ']')
	switch {
	case closed < 0 && !complete, closed == len(text)-1 && !complete:
		return nil
	case closed < 0 || !strings.HasPrefix(text[closed:], "]("):
		return literal(text, 1)
	}
	end := strings.IndexByte(text[closed:], ')')
	switch {
	case end > 0:
		address, _, _ := strings.Cut(text[closed+2:closed+end], " ") // without a title
		return &span{size: closed + end + 1, text: text[1:closed], style: underline, link: address}
	case complete:
		return literal(text, 1)
	}
	return nil
}

func parseEmphasis(text string, before rune, complete bool) *span {
	n := runLength(text)
	if n == len(text) && !complete {
		return nil
	}
	style := map[string]string{"*": italic, "_": italic, "**": bold, "__": bold, "***": bold + ";" + italic, "~~": struck}[text[:n]]
	first, _ := utf8.DecodeRuneInString(text[n:])
	if style == "" || n == len(text) || unicode.IsSpace(first) || text[0] == '_' && isWord(before) {
		return literal(text, n)
	}
	end, undecided := closingMark(text, n)
	switch {
	case end > 0:
		return &span{size: end + n, text: text[n:end], style: style}
	case complete && undecided > 0 && closes(text, undecided, n):
		return &span{size: undecided + n, text: text[n:undecided], style: style}
	case complete:
		return literal(text, n)
	}
	return nil
}

// closingMark returns where the n bytes at the beginning of text are repeated and
// close a span, 0 if nowhere. Undecided is a place at the end, which further text
// may change.
func closingMark(text string, n int) (at, undecided int) {
	for at := n; at < len(text); {
		i := strings.IndexByte(text[at:], text[0])
		if i < 0 {
			break
		}
		at += i
		length := runLength(text[at:])
		if at+length == len(text) {
			return 0, at
		}
		if closes(text, at, n) {
			return at, 0
		}
		at += length
	}
	return 0, 0
}

// closes reports whether the marks at a place close a span that n of them began.
func closes(text string, at, n int) bool {
	length := runLength(text[at:])
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	next, _ := utf8.DecodeRuneInString(text[at+length:])
	return length == n && !unicode.IsSpace(last) && !(text[0] == '_' && isWord(next))
}

// runLength returns how often the first byte of text is repeated.
func runLength(text string) int { return len(text) - len(strings.TrimLeft(text, text[:1])) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
