package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A glob is a pattern of a whole text in which * matches any characters and ? matches
// one. Literal parts are searched for, not tried at each position, so that a long text
// costs little.
type glob struct {
	parts []string // between the stars
}

// compileGlobs returns nil for no patterns.
func compileGlobs(patterns []string) ([]glob, error) {
	if len(patterns) > maxPatterns {
		return nil, fmt.Errorf("it has more than %d patterns in one place", maxPatterns)
	}
	var all []glob
	for _, p := range patterns {
		if len(p) > maxPatternLen {
			return nil, fmt.Errorf("a pattern is longer than %d bytes", maxPatternLen)
		}
		all = append(all, newGlob(p))
	}
	return all, nil
}

func newGlob(pattern string) glob { return glob{strings.Split(pattern, "*")} }

// matchAny reports whether one of the globs matches.
func matchAny(globs []glob, text string) bool {
	for _, g := range globs {
		if g.match(text) {
			return true
		}
	}
	return false
}

func (g glob) match(text string) bool {
	n, ok := matchPart(text, g.parts[0])
	if !ok {
		return false
	}
	text = text[n:]
	last := len(g.parts) - 1
	if last == 0 {
		return text == ""
	}
	for _, part := range g.parts[1:last] {
		end := findPart(text, part)
		if end < 0 {
			return false
		}
		text = text[end:]
	}
	return endsWithPart(text, g.parts[last])
}

// matchPart reports whether a text begins with a part, and how many bytes match.
func matchPart(text, part string) (n int, ok bool) {
	for {
		literal, rest, wild := strings.Cut(part, "?")
		if !strings.HasPrefix(text[n:], literal) {
			return 0, false
		}
		n += len(literal)
		if !wild {
			return n, true
		}
		if n == len(text) {
			return 0, false
		}
		_, size := utf8.DecodeRuneInString(text[n:])
		n, part = n+size, rest
	}
}

// findPart returns where the first match of a part ends, -1 if there is none.
func findPart(text, part string) int {
	literal, _, wild := strings.Cut(part, "?")
	for at := 0; at <= len(text); {
		i := strings.Index(text[at:], literal)
		if i < 0 {
			return -1
		}
		at += i
		if !wild {
			return at + len(literal)
		}
		if n, ok := matchPart(text[at:], part); ok {
			return at + n
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += max(size, 1)
	}
	return -1
}

func endsWithPart(text, part string) bool {
	if !strings.Contains(part, "?") {
		return strings.HasSuffix(text, part)
	}
	start := len(text)
	for range utf8.RuneCountInString(part) {
		if start == 0 {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	n, ok := matchPart(text[start:], part)
	return ok && start+n == len(text)
}

// foldCase returns a text in which characters that differ in case only are the same.
func foldCase(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return strings.Map(foldRune, text)
		}
	}
	return strings.ToUpper(text)
}

// foldRune returns the least of the characters that differ from r in case only.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
