package dialect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// tool fits the description of a tool. The losses are at the pointer "".
func (x *textLimits) tool(name, description string) (string, []Loss) {
	f := x.fitNamed(name, description, x.Max)
	if x.Required && blank(f.text) {
		f = x.fit(sentence(name), x.Max)
	}
	if f.text == description {
		return description, nil
	}
	return f.text, []Loss{f.loss("", "the tool's description")}
}

// A fitted is a text as the reader takes it.
type fittedText struct {
	text string
	cut  int  // characters that are left out
	code bool // an example or a pattern has changed
}

func (f fittedText) loss(pointer, what string) Loss {
	l := Loss{Pointer: pointer, Keyword: "description", Kind: noop, Detail: what + " is worded differently"}
	switch {
	case f.cut > 0:
		l.Kind, l.Detail = dropped, fmt.Sprintf("%s is shortened by %d characters", what, f.cut)
	case f.code:
		l.Kind, l.Detail = dropped, "an example or pattern in "+what+" is worded differently"
	}
	return l
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// fitNamed fits the text about something that has a name. If nothing of the text
// is left, it returns the name.
func (x *textLimits) fitNamed(name, s string, most int) fittedText {
	f := x.fit(s, most)
	if blank(f.text) && !blank(s) {
		f = x.fit(sentence(name), most)
		f.cut = length(s)
	}
	return f
}

// sentence makes a description of a name: "Get user." of getUser or get_user.
func sentence(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case i > 0 && unicode.IsLower(runes[i-1]) && unicode.IsUpper(r):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	if words == "" {
		return "Tool."
	}
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:] + "."
}

// fit returns s as the reader takes it, at most so many characters. Text that
// the reader takes stays as it is.
func (x *textLimits) fit(s string, most int) fittedText {
	if x.fits(s, most) {
		return fittedText{text: s}
	}
	if x.Lines > 0 {
		s = joinLines(s, x.Lines)
	}
	reworded, code := reword(s, x.Forbid)
	f := fittedText{text: strings.TrimSpace(reworded), code: code}
	if most > 0 {
		f.text, f.cut = cutText(f.text, most, x.Forbid)
	}
	return f
}

func (x *textLimits) fits(s string, most int) bool {
	return (most <= 0 || length(s) <= most) &&
		(x.Lines <= 0 || strings.Count(s, "\n") < x.Lines) &&
		!strings.ContainsAny(s, x.Forbid)
}

// length counts characters as clients in JavaScript do: those beyond the basic
// plane, such as emoji, are two.
func length(s string) int {
	n := 0
	for _, r := range s {
		n += units(r)
	}
	return n
}

func units(r rune) int { return max(utf16.RuneLen(r), 1) }

// mark stands where text was cut inside a sentence.
const mark = "…"

// cutText keeps at most so many characters of s: whole sentences, or whole words
// and a mark if sentences would keep less than half. Where there are no
// spaces, as in Japanese, any character ends a word.
func cutText(s string, most int, forbid string) (kept string, cut int) {
	n := length(s)
	if n <= most {
		return s, 0
	}
	end, tail := lastEnd(s, most, sentenceEnds), ""
	if end == 0 {
		if !strings.Contains(forbid, mark) {
			tail = mark
		}
		most -= length(tail)
		if end = lastEnd(s, most, wordEnds); end == 0 {
			end = lastWhole(s, most)
		}
	}
	kept = strings.TrimRightFunc(s[:end], unicode.IsSpace)
	if tail != "" {
		kept = strings.TrimRight(kept, " ,;:-")
	}
	return kept + tail, n - length(kept)
}

// lastEnd returns the last index behind most/2 to most characters where ends says
// that something ends, 0 if there is none.
func lastEnd(s string, most int, ends func(s string, i int) bool) int {
	last, n := 0, 0
	for i, r := range s {
		if n > most {
			break
		}
		if n >= max(most/2, 1) && whole(s, i) && ends(s, i) {
			last = i
		}
		n += units(r)
	}
	return last
}

// lastWhole returns the last index of at most so many characters that is not
// inside of what a person sees as one character.
func lastWhole(s string, most int) int {
	last, n := 0, 0
	for i, r := range s {
		if n > most {
			break
		}
		if whole(s, i) || last == 0 {
			last = i
		}
		n += units(r)
	}
	return last
}

// wordEnds reports whether a word ends at s[:i].
func wordEnds(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

// sentenceEnds reports whether a sentence ends at s[:i], or a line.
func sentenceEnds(s string, i int) bool {
	next, _ := utf8.DecodeRuneInString(s[i:])
	if next == '\n' {
		return true
	}
	before := strings.TrimRight(s[:i], `"'”’)]*_`+"`」』）】")
	last, size := utf8.DecodeLastRuneInString(before)
	switch last {
	case '。', '！', '？', '｡', '．':
		return !strings.ContainsRune("」』）】", next)
	case '!', '?':
		return unicode.IsSpace(next)
	case '.':
		after, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s[i:], unicode.IsSpace))
		return unicode.IsSpace(next) && !unicode.IsLower(after) && !isAbbreviation(before[:len(before)-size])
	}
	return false
}

// isAbbreviation reports whether the dot behind s belongs to its last word: e.g,
// A.
func isAbbreviation(s string) bool {
	word := s[strings.LastIndexFunc(s, unicode.IsSpace)+1:]
	return utf8.RuneCountInString(strings.TrimLeft(word, "(")) < 2 && !strings.ContainsAny(word, "0123456789") ||
		strings.Contains(word, ".") && len(word) < 6
}

const (
	zeroWidthJoiner = '\u200d'
	firstSkinTone   = '\U0001F3FB'
	lastSkinTone    = '\U0001F3FF'
	firstFlag       = '\U0001F1E6'
	lastFlag        = '\U0001F1FF'
)

// whole reports whether what a person sees as one character is not cut at i: no
// accent, joined emoji, skin tone or flag.
func whole(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	switch {
	case unicode.IsMark(r), r == zeroWidthJoiner, before == zeroWidthJoiner, r >= firstSkinTone && r <= lastSkinTone:
		return false
	case r < firstFlag || r > lastFlag:
		return true
	}
	flags := 0
	for rest := s[:i]; ; flags++ {
		last, size := utf8.DecodeLastRuneInString(rest)
		if last < firstFlag || last > lastFlag {
			return flags%2 == 0
		}
		rest = rest[:len(rest)-size]
	}
}
