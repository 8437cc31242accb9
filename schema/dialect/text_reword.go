package dialect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

var listItem = lazyregexp.New(`^(?:[-*•+]|\d{1,3}[.)])\s+`)

// joinLines makes at most so many lines of s: without the empty ones, and with
// the last ones joined.
func joinLines(s string, most int) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimRightFunc(line, unicode.IsSpace); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) > most {
		var rest strings.Builder
		for _, line := range lines[most-1:] {
			glue(&rest, line)
		}
		lines = append(lines[:most-1], rest.String())
	}
	return strings.Join(lines, "\n")
}

// glue puts a line behind a text: as part of a list if it is an item or indented,
// as another sentence if it begins like one.
func glue(text *strings.Builder, line string) {
	if text.Len() == 0 {
		text.WriteString(line)
		return
	}
	indented := unicode.IsSpace(rune(line[0]))
	line = strings.TrimSpace(line)
	marker := listItem.FindString(line)
	line = line[len(marker):]
	last, _ := utf8.DecodeLastRuneInString(text.String())
	first, _ := utf8.DecodeRuneInString(line)
	switch inWord := unicode.IsLetter(last) || unicode.IsDigit(last); {
	case inWord && (marker != "" || indented && unicode.IsLetter(first)):
		text.WriteString(";")
	case inWord && unicode.IsUpper(first):
		text.WriteString(".")
	}
	text.WriteString(" " + line)
}

// Brackets, by what stands beside them.
var (
	aroundNothing   = lazyregexp.New(`\s*\(\s*\)`)
	aroundPlural    = lazyregexp.New(`\((e?s)\)`) // user(s)
	openingLine     = lazyregexp.New(`(?m)^\(`)
	openingSentence = lazyregexp.New(`([.,:;!?]) *\(`)
	opening         = lazyregexp.New(` +\(`)
	closingLine     = lazyregexp.New(`(?m)\)( *(?:[^\s\pL\pN]|$))`)
	closingSentence = lazyregexp.New(`([.,:;!?])\) *`)
	closing         = lazyregexp.New(`\) *`)
)

// withoutBrackets sets text in brackets off by commas, unless there is
// punctuation.
func withoutBrackets(s string) string {
	s = aroundNothing.ReplaceAllString(s, "")
	s = aroundPlural.ReplaceAllString(s, "$1")
	s = openingLine.ReplaceAllString(s, "")
	s = openingSentence.ReplaceAllString(s, "$1 ")
	s = opening.ReplaceAllString(s, ", ")
	s = closingLine.ReplaceAllString(s, "$1")
	s = closingSentence.ReplaceAllString(s, "$1 ")
	return closing.ReplaceAllString(s, ", ")
}

// reword writes s without the characters of forbid, and reports whether that
// changes code. Invisible characters are removed; others become a space.
func reword(s, forbid string) (reworded string, code bool) {
	if !strings.ContainsAny(s, forbid) {
		return s, false
	}
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	code = codeHas(s, forbid)
	if strings.ContainsAny("()", forbid) {
		s = withoutBrackets(s)
	}
	return replaceForbidden(s, forbid), code
}

// replaceForbidden writes a space for each run of forbidden characters, if there is none
// beside it.
func replaceForbidden(s, forbid string) string {
	var b strings.Builder
	last, replaced := '\n', false
	noSpace := strings.Contains(forbid, " ")
	for _, r := range s {
		switch forbidden := strings.ContainsRune(forbid, r); {
		case forbidden && (noSpace || unicode.Is(unicode.Cf, r) || unicode.IsSpace(last)), replaced && r == ' ':
			continue
		case forbidden:
			r, replaced = ' ', true
		default:
			replaced = false
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// word is text in backticks, or a word outside of them.
var word = lazyregexp.New("`[^`]*`|[^\\s`]+")

// codeHas reports whether a part of s that looks like code has one of some
// characters: an expression, a path, an address, JSON, or text in backticks.
func codeHas(s, characters string) bool {
	for _, w := range word.FindAllString(s, -1) {
		if !strings.ContainsAny(w, characters) {
			continue
		}
		if w[0] == '`' || strings.HasPrefix(strings.TrimLeft(w, `'"(`), "^") {
			return true
		}
		for _, sign := range []string{`\`, "(?", "]+", "]*", "://", `":`, `{"`, `"}`, `["`, `"]`} {
			if strings.Contains(w, sign) {
				return true
			}
		}
	}
	return false
}
