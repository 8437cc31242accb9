package main

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/toolsearch"
)

// TestQuality keeps the search from getting worse, on questions that it was not tuned
// with. The figures are in docs/evidence/toolsearch.md.
func TestQuality(t *testing.T) {
	all, err := servers()
	if err != nil {
		t.Fatal(err)
	}
	tools, asked := joined(all), questions(heldOut)
	if n := len(asked) + len(questions(tuning)); len(tools) < 280 || n < 140 {
		t.Fatalf("%d questions about %d tools", n, len(tools))
	}
	compared := rankings(tools)
	for i, r := range compared {
		q := measure(r, asked)
		t.Logf("%s: %v, MRR %.3f", r.name, q.within, q.mrr)
		if i == len(compared)-1 && (q.within[5] < 0.76 || q.mrr < 0.59) {
			t.Errorf("a right tool is among the first five for %.3f of the questions, MRR %.3f", q.within[5], q.mrr)
		}
	}
}

// TestQuestions checks that the labels are tools of the corpus.
func TestQuestions(t *testing.T) {
	all, err := servers()
	if err != nil {
		t.Fatal(err)
	}
	known, seen := map[string]bool{}, map[string]bool{}
	for _, tool := range joined(all) {
		known[tool.Name] = true
	}
	for _, q := range questions(tuning + heldOut) {
		if len(q.right) == 0 || seen[q.text] {
			t.Errorf("%q has no answer, or is asked twice", q.text)
		}
		seen[q.text] = true
		for _, name := range q.right {
			if !known[name] {
				t.Errorf("%q: there is no tool %s", q.text, name)
			}
		}
	}
}

// TestNames finds every tool by the words of its own name, in one answer of find_tools.
func TestNames(t *testing.T) {
	all, err := servers()
	if err != nil {
		t.Fatal(err)
	}
	tools := joined(all)
	set, err := toolpost.NewSet(t.Context(), toolsearch.Layer(toolpost.Tools(tools), &toolsearch.Options{Tools: 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		// A query that is exactly a name finds that tool without a search.
		found, err := set.CallText(t.Context(), "find_tools", map[string]any{"query": tool.Name + " "})
		if err != nil || !strings.Contains(found, `{"name":"`+tool.Name+`",`) {
			t.Errorf("%s is not among the first five for its own name: %v", tool.Name, err)
		}
	}
}
