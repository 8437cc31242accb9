package dialect

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var listItem = regexp.MustCompile(`^(?:[-*•+]|\d{1,3}[.)])\s+`)

// joinLines makes at most so many lines of s: without the empty ones, then a
// line of each paragraph, then with the last paragraphs joined.
func joinLines(s string, most int) string {
	var lines, paragraphs []string
	open := false
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		switch {
		case line == "":
			open = false
			continue
		case open:
			last := &paragraphs[len(paragraphs)-1]
			*last = glue(*last, line)
		default:
			paragraphs = append(paragraphs, line)
		}
		open = true
		lines = append(lines, line)
	}
	if len(lines) > most {
		lines = paragraphs
	}
	for len(lines) > most {
		n := len(lines)
		lines = append(lines[:n-2], glue(lines[n-2], lines[n-1]))
	}
	return strings.Join(lines, "\n")
}

// glue puts two lines into one: as one sentence if the second goes on with
// the first, as a list if it is an item or indented, else as two sentences.
func glue(a, b string) string {
	text := strings.TrimSpace(b)
	marker := listItem.FindString(text)
	item := marker != "" || b[0] == ' ' || b[0] == '\t'
	text = text[len(marker):]
	if text == "" {
		return a
	}
	last, _ := utf8.DecodeLastRuneInString(a)
	switch {
	case strings.ContainsRune("。！？、：；", last):
		return a + text
	case strings.ContainsRune(".!?:;,…", last), !item && unicode.IsLower(first(text)):
		return a + " " + text
	case item:
		return a + "; " + text
	}
	return a + ". " + text
}

// reword writes s without the characters of forbid. What stands in brackets
// is set off by commas, and underscores between words are spaces.
func reword(s, forbid string) string {
	if !strings.ContainsAny(s, forbid) {
		return s
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	w := rewording{forbid: forbid}
	for i, r := range s {
		rest := s[i+utf8.RuneLen(r):]
		switch {
		case !strings.ContainsRune(forbid, r):
			w.out = append(w.out, r)
		case strings.ContainsRune("([{（", r):
			w.begin(rest)
		case strings.ContainsRune(")]}）", r):
			w.end(first(rest))
		case r != '_', wordy(w.last()) && wordy(first(strings.TrimLeft(rest, "_"))):
			w.put(" ")
		}
	}
	return string(w.out)
}

// A rewording is a text that is being rewritten.
type rewording struct {
	out    []rune
	forbid string
	open   []string // what goes in place of the closing brackets
}

func (w *rewording) last() rune {
	if len(w.out) == 0 {
		return '\n'
	}
	return w.out[len(w.out)-1]
}

// put writes text, but nothing forbidden and no space behind a space.
func (w *rewording) put(text string) {
	for _, r := range text {
		if !strings.ContainsRune(w.forbid, r) && (r != ' ' || !unicode.IsSpace(w.last())) {
			w.out = append(w.out, r)
		}
	}
}

func (w *rewording) trim() {
	for len(w.out) > 0 && w.last() == ' ' {
		w.out = w.out[:len(w.out)-1]
	}
}

// begin stands for an opening bracket; inside is the text behind it.
func (w *rewording) begin(inside string) {
	closing := ""
	spaced := w.last() == ' '
	switch before := w.last(); {
	case before == '\n':
		closing = " -"
	case before >= 0x2E80 && unicode.IsLetter(before): // Japanese, Chinese
		closing = "、"
		w.put(closing)
	case !spaced && (strings.HasPrefix(inside, ")") || plural(inside)):
	case !spaced:
		w.put(" ")
	default:
		closing = ","
		w.trim()
		if wordy(w.last()) || strings.ContainsRune("'\"`", w.last()) {
			w.put(",")
		}
		w.put(" ")
	}
	w.open = append(w.open, closing)
}

// plural says that the bracket holds an ending, as in "user(s)".
func plural(inside string) bool {
	return strings.HasPrefix(inside, "s)") || strings.HasPrefix(inside, "es)")
}

// end stands for a closing bracket, before next.
func (w *rewording) end(next rune) {
	closing := ":" // of a bracket that was never opened, as in "a) first"
	if n := len(w.open); n > 0 {
		closing = w.open[n-1]
		w.open = w.open[:n-1]
	} else if !wordy(w.last()) {
		closing = ""
	}
	w.trim()
	if wordy(next) && closing != "、" {
		closing += " "
	} else if !wordy(next) && !unicode.IsSpace(next) || next == '\n' {
		return
	}
	if !strings.ContainsRune(".,;:!?、。", w.last()) {
		w.put(closing)
	} else if wordy(next) {
		w.put(" ")
	}
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func wordy(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
