package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestListingPages(t *testing.T) {
	var c collector
	for i := range 2*pageSize + 1 {
		if err := c.add(strings.Repeat("k", i+1), json.RawMessage("{}")); err != nil {
			t.Fatal(err)
		}
	}
	l := c.listing("tools")
	seen, at := 0, ""
	for {
		body := l.page(at)
		if body == nil {
			t.Fatalf("no page at %q", at)
		}
		var page struct {
			Tools      []struct{}
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
	if seen != len(c.items) {
		t.Errorf("saw %d items, want %d", seen, len(c.items))
	}
	if l.page("nonsense") != nil {
		t.Error("a page at a cursor that nobody gave")
	}
	if empty := (&collector{}).listing("tools"); string(empty.page("")) != `{"tools":[]` {
		t.Errorf("empty list: %s", empty.page(""))
	}
}
