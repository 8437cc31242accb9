// Package toolsearch finds tools by a question in plain language. Where a client's
// list of tools would be too large, its layer lists a search instead.
//
//	tools ─ Layer ─▶ within the budget: as they are
//	              └▶ above it: pinned tools · find_tools ─▶ index
//	                           call_tool_read · call_tool_write ─▶ any tool
package toolsearch

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/toolpost/toolpost"
)

// An index ranks tools by the words of their definitions (BM25F). It does not
// change, and is safe for concurrent use.
type index struct {
	documents []*document
	postings  map[string][]posting
}

// A posting is the weight of a word in one tool, before its rarity counts.
type posting struct {
	document int
	weight   float64
}

// A hit is a tool that fits a query.
type hit struct {
	tool  *toolpost.Tool
	score float64
}

// Search returns up to most tools that have words of a query, the best first, and their scores,
// which are comparable within one search only. Of tools that fit equally well, the first of
// the list comes first. A deprecated tool comes after those that replace it. A word and its
// synonyms count once.
func Search(tools []*toolpost.Tool, query string, most int) iter.Seq2[*toolpost.Tool, float64] {
	return func(yield func(*toolpost.Tool, float64) bool) {
		for _, h := range newIndex(tools, nil).search(query, most) {
			if !yield(h.tool, h.score) {
				return
			}
		}
	}
}

// newIndex returns an index of the tools. Tools that are in the previous index too
// are not read again; nil has none.
func newIndex(tools []*toolpost.Tool, previous *index) *index {
	read := map[*toolpost.Tool]*document{}
	if previous != nil {
		for _, d := range previous.documents {
			read[d.tool] = d
		}
	}
	x := &index{documents: make([]*document, len(tools)), postings: map[string][]posting{}}
	for i, t := range tools {
		if x.documents[i] = read[t]; x.documents[i] == nil {
			x.documents[i] = newDocument(t)
		}
	}
	x.weigh()
	return x
}

// How much a word counts in each field, and how much the length of the field
// lowers that. The values were chosen with dev/bench/toolsearch/testdata/tuning.txt.
var (
	fieldWeights = [fields]float64{fieldName: 3, fieldServer: 1.5, fieldTitle: 2, fieldSummary: 2, fieldText: 0.6, fieldArgument: 0.8, fieldDetail: 0.3}
	lengthWeight = [fields]float64{fieldName: 0.3, fieldServer: 0, fieldTitle: 0.3, fieldSummary: 0.5, fieldText: 0.7, fieldArgument: 0.7, fieldDetail: 0.7}
)

// saturation is the weight at which a word has half of its greatest effect.
const saturation = 1.5

// retiredWeight is how much the score of a deprecated tool counts. It is found by its own
// name, and not before the tool that replaces it, which has much the same words.
const retiredWeight = 0.7

// weigh computes the postings: words weigh less in fields that are longer than usual.
func (x *index) weigh() {
	var usual [fields]float64
	for f := range fields {
		sum := 0
		for _, d := range x.documents {
			sum += d.lengths[f]
		}
		usual[f] = max(1, float64(sum)/float64(max(1, len(x.documents))))
	}
	for i, d := range x.documents {
		var scale [fields]float64
		for f := range fields {
			scale[f] = fieldWeights[f] / (1 - lengthWeight[f] + lengthWeight[f]*float64(d.lengths[f])/usual[f])
		}
		for word, counts := range d.words {
			weight := 0.0
			for f, n := range counts {
				weight += scale[f] * float64(n)
			}
			x.postings[word] = append(x.postings[word], posting{i, weight / (weight + saturation)})
		}
	}
}

// rarity is the inverse document frequency of a word that n tools have.
func (x *index) rarity(n int) float64 {
	return math.Log(1 + (float64(len(x.documents)-n)+0.5)/(float64(n)+0.5))
}

// search returns what [Search] does.
func (x *index) search(query string, most int) []hit {
	scores, meaning := make([]float64, len(x.documents)), make([]float64, len(x.documents))
	for _, word := range queryWords(query) {
		x.addScores(meaning, word, 1)
		for _, other := range synonyms()[word] {
			x.addScores(meaning, other, synonymWeight)
		}
		for i, score := range meaning {
			scores[i] += score
		}
		clear(meaning)
	}
	var hits []hit
	for i, score := range scores {
		d := x.documents[i]
		if d.retired {
			score *= retiredWeight
		}
		if score > 0 {
			hits = append(hits, hit{d.tool, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return hits[:max(0, min(most, len(hits)))]
}

// addScores raises the score of each tool that has a word, unless it is higher.
func (x *index) addScores(scores []float64, word string, weight float64) {
	list := x.postings[word]
	weight *= x.rarity(len(list))
	for _, p := range list {
		scores[p.document] = max(scores[p.document], weight*p.weight)
	}
}

// maxQuery is how many different words of a query are looked up.
const maxQuery = 60

// queryWords returns the words of a query, each once.
func queryWords(query string) (words []string) {
	eachPart(query, func(word string) {
		if len(words) < maxQuery && !slices.Contains(words, word) {
			words = append(words, word)
		}
	})
	return words
}
