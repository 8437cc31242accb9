package main

import (
	"testing"

	"github.com/toolpost/toolpost/config"
)

// TestLists lists tools through gateways with and without a search.
func TestLists(t *testing.T) {
	all, err := servers()
	if err != nil {
		t.Fatal(err)
	}
	all = all[:3]
	for _, test := range []struct {
		search config.Search
		id     string
		want   int
	}{
		{config.Search{Off: true}, "cursor", len(joined(all))},
		{config.Search{Budget: 1000}, "cursor", 3},
		{config.Search{Budget: 1000, Pin: []string{"brave-search__*"}}, "mcp", 5},
		{config.Search{Budget: 1000}, "claude-code", len(joined(all))},
	} {
		s, err := open(t.Context(), all, test.search)
		if err != nil {
			t.Fatal(err)
		}
		if tools, err := s.pages(t.Context(), test.id); err != nil || len(tools) != test.want {
			t.Errorf("%+v, %s: %d tools (%v), want %d", test.search, test.id, len(tools), err, test.want)
		}
		s.end()
	}
}
