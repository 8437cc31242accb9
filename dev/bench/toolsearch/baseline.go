package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost"
)

// substrings ranks tools by how many words of the query their names and descriptions
// contain.
func substrings(tools []*toolpost.Tool) func(string) []string {
	texts := make([]string, len(tools))
	for i, t := range tools {
		texts[i] = strings.ToLower(t.Name + " " + t.Description)
	}
	return func(query string) []string {
		scores := make([]float64, len(tools))
		for _, word := range split(query) {
			for i, text := range texts {
				if strings.Contains(text, word) {
					scores[i]++
				}
			}
		}
		return best(tools, scores)
	}
}

// bm25 ranks tools by the words of their descriptions, with the usual constants.
func bm25(tools []*toolpost.Tool) func(string) []string {
	counts, with, sum := make([]map[string]float64, len(tools)), map[string]float64{}, 0.0
	lengths := make([]float64, len(tools))
	for i, t := range tools {
		counts[i] = map[string]float64{}
		for _, word := range split(t.Description) {
			counts[i][word]++
			lengths[i]++
		}
		for word := range counts[i] {
			with[word]++
		}
		sum += lengths[i]
	}
	n := float64(len(tools))
	return func(query string) []string {
		scores := make([]float64, len(tools))
		for _, word := range split(query) {
			rarity := math.Log(1 + (n-with[word]+0.5)/(with[word]+0.5))
			for i := range tools {
				c := counts[i][word]
				scores[i] += rarity * c * 2.2 / (c + 1.2*(0.25+0.75*lengths[i]*n/sum))
			}
		}
		return best(tools, scores)
	}
}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// best returns the names of tools with a score, the highest first.
func best(tools []*toolpost.Tool, scores []float64) (names []string) {
	order := make([]int, len(tools))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order {
		if scores[i] > 0 {
			names = append(names, tools[i].Name)
		}
	}
	return names
}
