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
	case strings.ContainsRune(".,:;!?…", last),
		strings.ContainsRune("{[(", last), strings.ContainsRune("}])", first(line)), // inside of an example
		strings.HasPrefix(line, fence), endsInFence(text.String()):
		text.WriteString(" ")
	case ideographic(last) && item:
		text.WriteString("、")
	case ideographic(last):
		text.WriteString("。")
	case !item && unicode.IsLower(first(line)):
		text.WriteString(" ")
	case item:
		text.WriteString("; ")
	default:
		text.WriteString(". ")
	}
	text.WriteString(line)
}

// fence stands before and behind lines of code.
const fence = "```"

// endsInFence reports whether the last word of s begins or ends code, such as
// ```json.
func endsInFence(s string) bool {
	word := s[max(0, len(s)-20):]
	return strings.HasPrefix(word[strings.LastIndexByte(word, ' ')+1:], fence)
}

// digits are those of a number in groups: 3_000_000.
var digits = regexp.MustCompile(`\b[0-9]{1,3}(?:_[0-9]{3})+\b`)

// reword writes s without the characters of forbid, and reports whether that
// changes code. Text in brackets is set off by commas,
// underscores between words are spaces, and invisible
// characters are removed.
func reword(s, forbid string) (reworded string, code bool) {
	if !strings.ContainsAny(s, forbid) {
		return s, false
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.Contains(forbid, "_") {
		s = digits.ReplaceAllStringFunc(s, func(number string) string { return strings.ReplaceAll(number, "_", "") })
	}
	w := rewording{forbid: forbid}
	for i, r := range s {
		w.look(s, i, r)
		if !strings.ContainsRune(forbid, r) {
			w.out = append(w.out, r)
		} else if !unicode.Is(unicode.Cf, r) {
			w.replace(r, s[:i], s[i+utf8.RuneLen(r):])
		}
	}
	return string(w.out), w.touched
}

// replace writes something in place of r, which stands between two texts.
func (w *rewording) replace(r rune, before, rest string) {
	w.touched = w.touched || w.quoted || w.pattern
	switch {
	case r == '_' && strings.HasSuffix(before, "_"): // the first of them stands for all
	case strings.ContainsRune("([{（", r):
		w.begin(rest)
	case strings.ContainsRune(")]}）", r):
		w.end(first(rest))
	case r != '_', wordy(w.last()) && wordy(first(strings.TrimLeft(rest, "_"))):
		w.put(" ")
	case w.quoted, w.pattern:
		w.put("-")
	}
}

// look finds out whether r, at s[i:], is part of code.
func (w *rewording) look(s string, i int, r rune) {
	switch before, _ := utf8.DecodeLastRuneInString(s[:i]); {
	case r == '`':
		w.quoted = !w.quoted
	case i == 0 || unicode.IsSpace(before):
		word := s[i:]
		if end := strings.IndexFunc(word, unicode.IsSpace); end >= 0 {
			word = word[:end]
		}
		w.pattern = codeLike(word)
	}
}

// codeLike reports whether a word looks like part of an expression, a path, an
// address or JSON.
func codeLike(word string) bool {
	for _, sign := range []string{`\`, "(?", "]+", "]*", "://", `":`, `{"`, `"}`, `["`, `"]`} {
		if strings.Contains(word, sign) {
			return true
		}
	}
	return strings.HasPrefix(strings.TrimLeft(word, `'"(`), "^")
}

// A rewording is a text that is being rewritten.
type rewording struct {
	out     []rune
	forbid  string
	open    []string // what goes in place of the closing brackets
	quoted  bool     // inside of backticks
	pattern bool     // inside of a word that is code
	touched bool     // code was changed
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
	case w.quoted || w.pattern:
		closing = "]"
		w.put("[")
	case before == '\n':
		closing = " -"
	case ideographic(before):
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

// plural reports whether the bracket holds an ending, as in "user(s)".
func plural(inside string) bool {
	return strings.HasPrefix(inside, "s)") || strings.HasPrefix(inside, "es)")
}

// end stands for a closing bracket, before next.
func (w *rewording) end(next rune) {
	closing := w.closing()
	if closing == "]" {
		w.put(closing)
		return
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

// closing takes what goes in place of the bracket that was opened last.
func (w *rewording) closing() string {
	n := len(w.open)
	switch {
	case n > 0:
		closing := w.open[n-1]
		w.open = w.open[:n-1]
		return closing
	case w.quoted || w.pattern:
		return "]"
	case wordy(w.last()):
		return ":" // it was never opened, as in "a) first"
	}
	return ""
}

// ideographic reports whether r is of a script that has no spaces: Japanese,
// Chinese.
func ideographic(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || strings.ContainsRune("ー）」』】", r)
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func wordy(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
