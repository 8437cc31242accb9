package toolsearch

import (
	_ "embed" // for the table
	"strings"
	"sync"
)

// synonymWeight is how much a synonym counts beside the word of the query.
const synonymWeight = 0.5

//go:embed synonyms.txt
var synonymText string

// synonyms has the words that people use for each other when they ask for tools.
var synonyms = sync.OnceValue(func() map[string][]string { return parseSynonyms(synonymText) })

// parseSynonyms reads a table. The words of a line are synonyms of each other. In a
// line with ">", the words at the right are also looked up for the one at the left.
func parseSynonyms(text string) map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(text) {
		left, right, directed := strings.Cut(line, ">")
		if directed {
			for _, word := range wordsOf(left) {
				table[word] = append(table[word], wordsOf(right)...)
			}
			continue
		}
		words := wordsOf(line)
		for i, word := range words {
			table[word] = append(table[word], words[:i]...)
			table[word] = append(table[word], words[i+1:]...)
		}
	}
	return table
}

func wordsOf(text string) (words []string) {
	eachWord(text, func(word string) { words = append(words, word) })
	return words
}
