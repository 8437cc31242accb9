package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/toolsearch"
)

func answerNothing(context.Context, *toolpost.Call) (*toolpost.Result, error) {
	return toolpost.NewResult(), nil
}

// A ranking returns the names of the tools that fit a query, the best first.
type ranking struct {
	name   string
	search func(query string) []string
}

// rankings returns the search, and simple ones to compare it with.
func rankings(tools []*toolpost.Tool) []ranking {
	return []ranking{
		{"words of the query as parts of name and description", substrings(tools)},
		{"BM25 over descriptions", bm25(tools)},
		{"`find_tools`", func(query string) (names []string) {
			for t := range toolsearch.Search(tools, query, len(tools)) {
				names = append(names, t.Name)
			}
			return names
		}},
	}
}

// A quality is how well a ranking answers questions. Each number is a share of them.
type quality struct {
	within map[int]float64 // a right tool is among the first 1, 3, 5, 10
	mrr    float64         // the mean of 1 / the place of the first right tool
}

// measure asks all questions.
func measure(r ranking, all []question) quality {
	q := quality{within: map[int]float64{}}
	share := 1 / float64(len(all))
	for _, one := range all {
		place := 1 + slices.IndexFunc(r.search(one.text), func(name string) bool { return slices.Contains(one.right, name) })
		if place == 0 {
			continue
		}
		q.mrr += share / float64(place)
		for _, k := range depths() {
			if place <= k {
				q.within[k] += share
			}
		}
	}
	return q
}

func depths() []int { return []int{1, 3, 5, 10} }

// qualityTable compares the rankings.
func qualityTable(tools []*toolpost.Tool) string {
	var b strings.Builder
	b.WriteString("| ranking | questions | first | in 3 | in 5 | in 10 | MRR |\n|---|---|---|---|---|---|---|\n")
	for _, set := range []struct{ name, file string }{{"held out", heldOut}, {"tuning", tuning}} {
		all := questions(set.file)
		for _, r := range rankings(tools) {
			q := measure(r, all)
			fmt.Fprintf(&b, "| %s | %d, %s |", r.name, len(all), set.name)
			for _, k := range depths() {
				fmt.Fprintf(&b, " %.0f %% |", 100*q.within[k])
			}
			fmt.Fprintf(&b, " %.2f |\n", q.mrr)
		}
	}
	return b.String()
}
