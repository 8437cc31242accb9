package redmine

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// folded is a name as it is compared: in one form of Unicode, without differences
// of case and width, and with single blanks.
func folded(name string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(name))), " ")
}

// samePerson reports whether two names are of one person: also with the family name
// first, with a comma after it, and, in scripts without blanks, without one.
func samePerson(a, b string) bool {
	x, y := nameWords(a), nameWords(b)
	if slices.Equal(x, y) {
		return len(x) > 0
	}
	if !strings.ContainsFunc(a, wide) {
		return false
	}
	joined := func(words []string, turned bool) string {
		if words = slices.Clone(words); turned {
			slices.Reverse(words)
		}
		return strings.Join(words, "")
	}
	return joined(x, false) == joined(y, false) || joined(x, true) == joined(y, false) || joined(x, false) == joined(y, true)
}

// nameWords are the words of a name, in order of the alphabet.
func nameWords(name string) []string {
	words := strings.Fields(strings.ReplaceAll(folded(name), ",", " "))
	slices.Sort(words)
	return words
}

// wide reports whether names in the script of a letter have no blanks.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
