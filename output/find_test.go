package output_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/store"
)

func TestFind(t *testing.T) {
	b := newBench(t, output.Options{Chars: 2000})
	whole := numbered(5000) + strings.Repeat("é", 3000) + "needle" + strings.Repeat("x", 3000) + "\nend (of it)\n"
	ref := b.result(t, toolpost.TextResult(whole)).OutputRef()
	find := func(args string) string {
		return text(t, b.call(t, "s", "tool_output_cache_grep", `{"ref_id":"`+ref+`",`+args+`}`))
	}
	if got, want := find(`"pattern":"line 4321"`), " 4321: line 4321\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := find(`"pattern":"^line (7|9|4000)$","regex":true,"before":1,"after":1`),
		"    6- line 6\n    7: line 7\n    8- line 8\n    9: line 9\n   10- line 10\n--\n 3999- line 3999\n 4000: line 4000\n 4001- line 4001\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := find(`"pattern":"(of it)"`); got != " 5002: end (of it)\n" {
		t.Errorf("a text is taken as an expression: %q", got)
	}
	if got := find(`"pattern":"line","max_matches":2`); !strings.HasPrefix(got, "    1: line 1\n    2: line 2\n\n[incomplete: ") || !strings.Contains(got, "5000") {
		t.Errorf("got %q", got)
	}
	if got := find(`"pattern":"line","max_matches":9000`); utf8.RuneCountInString(got) > 2000 || !strings.Contains(got, "\n[incomplete: ") {
		t.Errorf("got %d characters: %.200q", len(got), got)
	}
	if got := find(`"pattern":"nowhere"`); got != "[no match in 5002 lines]" {
		t.Errorf("got %q", got)
	}
	got := find(`"pattern":"needle"`)
	if !strings.Contains(got, "needle") || !strings.Contains(got, `"ref_id":"`+ref+`@5001","offset":`) || utf8.RuneCountInString(got) > 2000 {
		t.Errorf("got %q", got)
	}
	r := b.call(t, "s", "tool_output_cache_grep", `{"ref_id":"`+ref+`","pattern":"(","regex":true}`)
	if !r.IsError() || r.Outcome() != toolpost.Retry {
		t.Errorf("a bad expression gives %q", text(t, r))
	}
}

// The tools work over the real stores, with an output of many chunks.
func TestOverStores(t *testing.T) {
	dir, err := store.Dir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]store.Store{"memory": store.Memory(nil), "dir": dir} {
		t.Run(name, func(t *testing.T) {
			c := output.New(s, &output.Options{Logger: quiet})
			b := &bench{}
			whole := numbered(200_000)
			if b.set, err = toolpost.NewSet(t.Context(), c.Layer(toolpost.Tools{named("big", whole)})); err != nil {
				t.Fatal(err)
			}
			ref := b.call(t, "s", "big", `{}`).OutputRef()
			page := text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`","offset":199998}`))
			if want := "199999  line 199999\n200000  line 200000\n\n[lines 199999 to 200000, the end]\n"; page != want {
				t.Errorf("the page is %q", page)
			}
			page = text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`","offset":1000}`))
			if rows := strings.Count(page, "\n"); rows < 1900 || !strings.Contains(page, fmt.Sprintf("read on with offset %d]", 1000+rows-2)) {
				t.Errorf("a page has %d rows and ends %q", rows, page[len(page)-80:])
			}
			if got := text(t, b.call(t, "s", "tool_output_cache_grep", `{"ref_id":"`+ref+`","pattern":"line 199999"}`)); got != "199999: line 199999\n" {
				t.Errorf("got %q", got)
			}
			for _, args := range []string{`"offset":200000`, `"offset":999999999`} {
				if r := b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`",`+args+`}`); !r.IsError() || !strings.Contains(text(t, r), "has only 200000 lines") {
					t.Errorf("%s gives %q", args, text(t, r))
				}
			}
			if r := b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`@200001"}`); !r.IsError() || !strings.Contains(text(t, r), "it has no line 200001") {
				t.Errorf("got %q", text(t, r))
			}
		})
	}
}
