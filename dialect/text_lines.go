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
	var open strings.Builder
	end := func() {
		if open.Len() > 0 {
			paragraphs = append(paragraphs, open.String())
			open.Reset()
		}
	}
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" {
			end()
			continue
		}
		lines = append(lines, line)
		glue(&open, line)
	}
	if end(); len(lines) > most {
		lines = paragraphs
	}
	if len(lines) > most {
		for _, line := range lines[most-1:] {
			glue(&open, line)
		}
		lines = append(lines[:most-1], open.String())
	}
	return strings.Join(lines, "\n")
}

// glue puts a line behind a text: as one sentence if it goes on with that, as
// part of a list if it is an item or indented, else as another sentence.
func glue(text *strings.Builder, line string) {
	if text.Len() == 0 {
		text.WriteString(line)
		return
	}
	item := line[0] == ' ' || line[0] == '\t'
	line = strings.TrimSpace(line)
	if marker := listItem.FindString(line); marker != "" {
		item, line = true, line[len(marker):]
	}
	last, _ := utf8.DecodeLastRuneInString(text.String())
	switch {
	case line == "", strings.ContainsRune("。！？、：；", last):
	case strings.ContainsRune(".!?:;,…", last), !item && unicode.IsLower(first(line)):
		text.WriteString(" ")
	case item:
		text.WriteString("; ")
	default:
		text.WriteString(". ")
	}
	text.WriteString(line)
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
		case r == '_' && strings.HasSuffix(s[:i], "_"): // the first of them stands for all
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
