package stdtool

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

// TestDiffLarge checks that a small change of a large file has a small diff with
// the right line numbers, and that a large change has the beginning.
func TestDiffLarge(t *testing.T) {
	var b bytes.Buffer
	for i := range 300_000 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	old := b.Bytes()
	got := diff("f", old, bytes.Replace(old, []byte("line 200000\n"), []byte("new\n"), 1))
	want := "--- f\n+++ f\n@@ -199997,7 +199997,7 @@\n line 199997\n line 199998\n line 199999\n-line 200000\n+new\n line 200001\n line 200002\n line 200003\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	all := diff("f", old, bytes.ReplaceAll(old, []byte("line"), []byte("row")))
	if len(all) > 1<<20 || !strings.HasSuffix(all, "[the rest of the diff is not shown]\n") || !strings.Contains(all, "+row 1\n") {
		t.Errorf("%d bytes, beginning with %.80q", len(all), all)
	}
}

// FuzzDiff compares small diffs with those of the whole texts.
func FuzzDiff(f *testing.F) {
	for _, s := range [][2]string{{"a\nb\n", "a\nc\n"}, {"", "x"}, {"a\na\na\na\na\na\n", "a\na\na\na\na\n"}, {"x\r\n\xff", "x\n"}, {"a", "a\n"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, old, new string) {
		got, all := diff("f", []byte(old), []byte(new)), strings.ToValidUTF8(udiff.Unified("f", "f", old, new), "\uFFFD")
		added, removed := strings.Count(got, "\n+"), strings.Count(got, "\n-")
		if (got == "") != (all == "") || added-removed != strings.Count(all, "\n+")-strings.Count(all, "\n-") {
			t.Errorf("%q to %q gives %q, of the whole texts %q", old, new, got, all)
		}
	})
}
