package mcpserver

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

func TestListingPages(t *testing.T) {
	c := collector{kind: wire.KindPrompt}
	for i := range 2*pageSize + 1 {
		if err := c.add(strings.Repeat("k", i+1), json.RawMessage(`{"name":"a"}`)); err != nil {
			t.Fatal(err)
		}
	}
	l := c.listing("tools")
	seen, at := 0, ""
	for {
		found := l.page(at)
		if found == nil {
			t.Fatalf("no page at %q", at)
		}
		body := found.body
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
	if empty := (&collector{}).listing("tools"); string(empty.page("").body) != `{"tools":[]` {
		t.Errorf("empty list: %s", empty.page("").body)
	}
}

// A definition that is valid is listed as it is, without a copy. What clients would
// refuse is removed, and what cannot be mended is left out, each with one report,
// however often lists are encoded.
func TestListingMends(t *testing.T) {
	var out strings.Builder
	log := &reports{log: slog.New(slog.NewTextHandler(&out, nil))}
	for range 2 {
		c := collector{kind: wire.KindTool, log: log}
		valid := json.RawMessage(`{"name":"a","inputSchema":{"type":"object"},"x":[null]}`)
		if err := c.add("a", valid); err != nil || &c.items[0].session[0] != &valid[0] || &c.items[0].stateless[0] != &valid[0] {
			t.Errorf("a valid definition is copied: %v", err)
		}
		_ = c.add("b", json.RawMessage(`{"name":"b","inputSchema":{"type":"object","properties":{"c":true}},"annotations":{"title":null}}`))
		page := c.listing("tools").page("")
		if want := `{"tools":[` + string(valid) + `,{"name":"b","inputSchema":{"type":"object","properties":{"c":{}}},"annotations":{}}]`; string(page.body) != want {
			t.Errorf("sessions are sent %s, want %s", page.body, want)
		}
		if want := `{"tools":[` + string(valid) + `,{"name":"b","inputSchema":{"type":"object","properties":{"c":true}},"annotations":{}}]`; string(page.stateless) != want {
			t.Errorf("since 2026-07-28 clients are sent %s, want %s", page.stateless, want)
		}
		f := newFeatures(&toolpost.Features{Resources: []*toolpost.Resource{
			{URI: "x:1", Definition: json.RawMessage(`{"mimeType":null}`)}, {URI: "", Definition: json.RawMessage(`{"name":"n"}`)},
		}}, log)
		if got := string(f.lists[listResources].page("").body); got != `{"resources":[{"uri":"x:1","name":"x:1"}]` {
			t.Errorf("resources: %s", got)
		}
	}
	for _, want := range []string{"annotations.title is left out", "mimeType is left out", `name="" why="it has no valid uri"`} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("%d reports say %q:\n%s", n, want, out.String())
		}
	}
}
