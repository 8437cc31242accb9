package toolsearch_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/toolsearch"
)

func names(hits iter.Seq2[*toolpost.Tool, float64]) string {
	var all []string
	for t := range hits {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

func TestSearch(t *testing.T) {
	nested := tool("ci__run", "Start a pipeline", nil)
	nested.Input = schema.MustParse(`{"type":"object","properties":{"params":{"type":"object","properties":
		{"branchName":{"type":"string"},"kinds":{"type":"array","items":{"enum":["nightly"]}}}}}}`)
	titled := tool("x__y", "", nil)
	titled.Title = "Paint the wall"
	tools := append(threeTools(), nested, titled, tool("twin__a", "Peel apples", nil), tool("twin__b", "Peel apples", nil))
	for query, want := range map[string]string{
		"forecasts":           "weather__forecast weather__report",
		"mail":                "mail__send",
		"email":               "mail__send", // a synonym
		"which branch":        "ci__run",    // an argument inside an argument
		"nightly":             "ci__run",    // a value that it accepts
		"paint":               "x__y",
		"peel":                "twin__a twin__b", // the same score: the order of the list
		"what is this?":       "",
		"":                    "",
		"quite something odd": "",
	} {
		if got := names(toolsearch.Search(tools, query, 10)); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if got := names(toolsearch.Search(tools, "forecasts", 1)); got != "weather__forecast" {
		t.Errorf("one hit is %s", got)
	}
	if got := names(toolsearch.Search(tools, "forecasts", -1)); got != "" {
		t.Errorf("no hit is %s", got)
	}
}

// TestDeprecated: a tool that is kept for old clients comes after one that fits as well.
func TestDeprecated(t *testing.T) {
	for description, first := range map[string]string{
		"Read a file. DEPRECATED: use text instead":        "fs__new",
		"[Deprecated] Read a file, use text instead":       "fs__new",
		"Read a file. This tool is deprecated, use a text": "fs__new",
		"Read a file. Warns of deprecated text in it":      "fs__old",
	} {
		tools := []*toolpost.Tool{tool("fs__old", description, nil), tool("fs__new", "Read a file. Warns of outdated text in it", nil)}
		if got := names(toolsearch.Search(tools, "read file text", 2)); !strings.HasPrefix(got, first) {
			t.Errorf("%q: %s", description, got)
		}
	}
}

// TestAgain compares an index that was made from a previous one with a new one.
func TestAgain(t *testing.T) {
	tools := corpus(t)
	previous := toolsearch.NewIndex(tools[:200], nil)
	for _, query := range []string{"list files of a folder", "create an issue on GitHub", "screenshot"} {
		again := names(toolsearch.NewIndex(tools, previous).All(query, 300))
		if want := names(toolsearch.Search(tools, query, 300)); again != want || want == "" {
			t.Errorf("%q: %s\nwant %s", query, again, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("create issue", "Creates an issue.", `{"type":"object","properties":{"a":{"description":"b"}}}`)
	f.Add("検索", "\xff", `{"properties":{"a":{"properties":1,"items":[],"enum":{}}}}`)
	f.Fuzz(func(t *testing.T, query, description, input string) {
		s, err := schema.Parse([]byte(input))
		if err != nil {
			s = schema.MustParse(`{"type":"object"}`)
		}
		d := toolpost.Definition{Name: "s__" + query, Description: description, Input: s}
		for _, score := range toolsearch.Search([]*toolpost.Tool{{Definition: d}}, query, 5) {
			if !(score > 0) {
				t.Errorf("score %v", score)
			}
		}
	})
}

// corpus returns the tools of real servers, as the gateway names them.
func corpus(t testing.TB) (tools []*toolpost.Tool) {
	t.Helper()
	for _, s := range accept.Tools() {
		var d toolpost.Definition
		err := d.UnmarshalJSON(s.Raw)
		if err != nil { // its schema has no type
			continue
		}
		d.Name = s.Server + "__" + d.Name
		tools = append(tools, &toolpost.Tool{Definition: d})
	}
	return tools
}

// large returns as many tools as the largest collection that we know of has.
func large(b *testing.B) (tools []*toolpost.Tool) {
	for i := range 5 {
		for _, t := range corpus(b) {
			c := *t
			c.Name = fmt.Sprintf("%d%s", i, t.Name)
			tools = append(tools, &c)
		}
	}
	return tools[:1365]
}

func BenchmarkNewIndex(b *testing.B) {
	tools := large(b)
	b.ReportAllocs()
	for b.Loop() {
		toolsearch.NewIndex(tools, nil)
	}
}

func BenchmarkNewIndexAgain(b *testing.B) {
	tools := large(b)
	x := toolsearch.NewIndex(tools, nil)
	b.ReportAllocs()
	for b.Loop() {
		toolsearch.NewIndex(tools, x)
	}
}

func BenchmarkSearch(b *testing.B) {
	x := toolsearch.NewIndex(large(b), nil)
	b.ReportAllocs()
	for b.Loop() {
		for range x.All("which of the pull requests of the repository are open", 5) {
		}
	}
}
