package toolsearch

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is read of foreign text.
const (
	maxText = 16 << 10 // bytes of one text
	maxWord = 40       // bytes; longer words are left out
)

// eachWord calls f with the words of a text, in lower case and without their
// endings. Words that carry no meaning are left out. Scripts that do not separate
// words yield one word for each character.
func eachWord(text string, f func(word string)) {
	scanWords(text, func(word string) { addWord(word, f) })
}

// eachPart calls f with the words of an identifier: create_issue, create-issue and
// createIssue all yield create and issue. A word with capitals inside also counts as
// a whole, because GitHub is one word.
func eachPart(identifier string, f func(word string)) {
	scanWords(identifier, func(word string) {
		addWord(word, f)
		begin := 0
		for _, i := range capitals(word) {
			addWord(word[begin:i], f)
			begin = i
		}
		if begin > 0 {
			addWord(word[begin:], f)
		}
	})
}

// scanWords calls f with every run of letters and digits.
func scanWords(text string, f func(word string)) {
	text = text[:min(len(text), maxText)]
	begin := -1
	for i, r := range text {
		switch {
		case isUnseparated(r):
			if begin >= 0 {
				f(text[begin:i])
				begin = -1
			}
			f(text[i : i+utf8.RuneLen(r)])
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			if begin < 0 {
				begin = i
			}
		case begin >= 0:
			f(text[begin:i])
			begin = -1
		}
	}
	if begin >= 0 {
		f(text[begin:])
	}
}

// isUnseparated reports whether words are written without spaces in the script of r.
func isUnseparated(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// capitals returns where the parts of camelCase and of HTTPServer begin, but the first.
func capitals(word string) (begin []int) {
	var last, before rune
	lastAt := 0
	for i, r := range word {
		switch {
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)):
			begin = append(begin, i)
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			begin = append(begin, lastAt)
		}
		before, last, lastAt = last, r, i
	}
	return begin
}

func addWord(word string, f func(string)) {
	if len(word) > maxWord {
		return
	}
	if word = strings.ToLower(word); !stopWords()[word] {
		f(stem(word))
	}
}

// stopWords are words of questions and of descriptions that describe no tool.
var stopWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
a about all also am an and any are as at be because been but by can could did do does each for
from give had has have here how i if in into is it its just let like many may me mine my need of
off on only or our ours out please shall should show so some such than that the their them then
there these they this those to too up us use used using want was we were what when where which
while who whose why will with would you your`) {
		words[word] = true
	}
	return words
})

// stem removes English endings, so that issues, creating and created match issue and
// create. Different words may get the same stem; that only adds a worse match.
func stem(word string) string {
	if len(word) < 4 || word[len(word)-1] > 'y' {
		return word
	}
	word = singular(word)
	switch {
	case strings.HasSuffix(word, "ied"):
		word = word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "ing") && len(word) > 5:
		word = undouble(word[:len(word)-3])
	case strings.HasSuffix(word, "ed") && len(word) > 4:
		word = undouble(word[:len(word)-2])
	case (strings.HasSuffix(word, "tion") || strings.HasSuffix(word, "sion")) && len(word) > 6:
		word = word[:len(word)-3]
	}
	if len(word) > 4 {
		word = strings.TrimSuffix(word, "e")
	}
	return word
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"), strings.HasSuffix(word, "sses"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// undouble removes the last letter of a doubled consonant: runn is run.
func undouble(word string) string {
	n := len(word)
	if n > 3 && word[n-1] == word[n-2] && !strings.ContainsRune("aeiouls", rune(word[n-1])) {
		return word[:n-1]
	}
	return word
}
