package toolsearch

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"create_issue":                     "creat issu",
		"createIssue":                      "createissu creat issu",
		"get-HTTPResponse.v2":              "get httprespons http respons v2",
		"GitHub":                           "github git hub",
		"Lists all the issues, created by": "list issu creat",
		"running stopped copies copied":    "run stop copy copy",
		"boxes status analysis class":      "box status analysis class",
		"navigation navigate":              "navigat navigat",
		"ファイル検索 files":                     "フ ァ イ ル 検 索 file",
		"Größe ändern":                     "größ ändern",
		"\xff\xfea\x00bcd":                 "bcd",
		strings.Repeat("x", 41) + " 3G":    "3g 3 g",
	} {
		var words []string
		eachPart(text, func(word string) { words = append(words, word) })
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"createIssue", "HTTPServer", "a__b", "検索Files", "\xff", "ǅxǅ", "İSSUES", "ied"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 0
		eachPart(text, func(word string) {
			n += len(word)
			if word == "" || strings.ContainsAny(word, " _-.") {
				t.Errorf("%q yields the word %q", text, word)
			}
		})
		if n > 8*len(text) { // a word, its parts, and lower case that is longer
			t.Errorf("%d bytes yield %d", len(text), n)
		}
		first, rest := cutSentence(text)
		if len(first)+len(rest) > len(text) {
			t.Errorf("%q is longer in parts: %q, %q", text, first, rest)
		}
	})
}

// TestSynonyms checks the table: a word twice in a line, or a line of one word, is a
// mistake.
func TestSynonyms(t *testing.T) {
	for line := range strings.Lines(synonymText) {
		left, right, _ := strings.Cut(line, ">")
		words := slices.Concat(wordsOf(left), wordsOf(right))
		slices.Sort(words)
		if len(words) < 2 || len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Errorf("the line %q has the words %q", strings.TrimSpace(line), words)
		}
	}
	if got := synonyms()["pr"]; !slices.Equal(got, []string{"pull", "request"}) {
		t.Errorf("PR is looked up as %v", got)
	}
}
