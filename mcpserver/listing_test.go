package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestListingPages(t *testing.T) {
	var keys []string
	var items []json.RawMessage
	for i := range 2*pageSize + 1 {
		keys = append(keys, strings.Repeat("k", i+1))
		items = append(items, json.RawMessage("1"))
	}
	l := newListing("tools", keys, items)
	seen, at := 0, ""
	for {
		body := l.page(at)
		if body == nil {
			t.Fatalf("no page at %q", at)
		}
		var page struct {
			Tools      []int
			NextCursor string
		}
		if err := json.Unmarshal(append(body[:len(body):len(body)], '}'), &page); err != nil {
			t.Fatal(err)
		}
		seen += len(page.Tools)
		if at = page.NextCursor; at == "" {
			break
		}
	}
	if seen != len(items) {
		t.Errorf("saw %d items, want %d", seen, len(items))
	}
	if l.page("nonsense") != nil {
		t.Error("a page at a cursor that nobody gave")
	}
	if empty := newListing("tools", nil, nil); string(empty.page("")) != `{"tools":[]` {
		t.Errorf("empty list: %s", empty.page(""))
	}
}
