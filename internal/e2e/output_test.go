package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/upstream"
)

// Flow 4: 20 MB of an upstream's tool pass the gateway; the client gets a view,
// and finds the last line by page and by search, in its own session only.
func TestLargeOutput(t *testing.T) {
	const rows = 200_000
	var log strings.Builder
	for i := range rows {
		fmt.Fprintf(&log, "%06d %s\n", i+1, strings.Repeat("log entry ", 9))
	}
	whole := log.String() + "verdict: 3 of 4 failed\n"
	big := toolpost.New("big", "Return much.", func(context.Context, struct{}) (string, error) { return whole, nil }, nil)
	source, err := toolpost.NewLive(t.Context(), toolpost.Tools{big})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Dir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Open(t.Context(), &gateway.Config{Servers: []gateway.Server{
		{Config: upstream.Config{Name: "logs", URL: serve(t, source) + "/mcp", Transport: upstream.HTTP}},
	}}, &gateway.Options{Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	front := serve(t, g.Live())
	modern := connect(t, &upstream.Config{Name: "modern", URL: front + "/mcp", Transport: upstream.HTTP}, nil)
	classic := connect(t, &upstream.Config{Name: "classic", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}, nil)
	var refs []string
	for _, u := range []*upstream.Upstream{modern, classic} {
		r := result(t, u, "logs__big", "{}")
		view, _ := r.FirstText()
		if n := utf8.RuneCountInString(view); n > 48_000 || n < 40_000 || !strings.HasPrefix(view, "000001 log entry") || !strings.HasSuffix(view, "verdict: 3 of 4 failed\n") {
			t.Fatalf("the view has %d characters: %.100q", n, view)
		}
		var meta struct {
			Ref string `json:"toolpost/output_ref"`
		}
		if err := json.Unmarshal(r.Meta(), &meta); err != nil || meta.Ref == "" {
			t.Fatalf("_meta is %s", r.Meta())
		}
		next := regexp.MustCompile(`Read on with tool_output_cache (\{.*?\})`).FindStringSubmatch(view)
		if next == nil {
			t.Fatal("the view does not say how to read on")
		}
		var at struct{ Offset int }
		if err := json.Unmarshal([]byte(next[1]), &at); err != nil {
			t.Fatal(err)
		}
		page, _ := result(t, u, "tool_output_cache", next[1]).FirstText()
		if want := fmt.Sprintf("%5d  %06d log entry", at.Offset+1, at.Offset+1); !strings.HasPrefix(page, want) {
			t.Errorf("the next page is %.50q, want %q", page, want)
		}
		found, _ := result(t, u, "tool_output_cache_grep", `{"ref_id":"`+meta.Ref+`","pattern":"^verdict: .*failed$","regex":true,"before":1}`).FirstText()
		if want := "200001: verdict: 3 of 4 failed\n"; !strings.HasPrefix(found, "200000- 200000 log entry") || !strings.HasSuffix(found, want) {
			t.Errorf("found is %q", found)
		}
		refs = append(refs, meta.Ref)
	}
	if r := result(t, classic, "tool_output_cache", `{"ref_id":"`+refs[0]+`"}`); !r.IsError() {
		t.Error("an output of another session is read")
	}
}

func result(t *testing.T, ts toolpost.Toolset, name, args string) *toolpost.Result {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), ts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
