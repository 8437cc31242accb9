package redmine

import (
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct{ base, ours, theirs, want string }{
		{"a\nb\nc", "A\nb\nc", "a\nb\nC", "A\nb\nC"},
		{"a\nb", "a\nb\nours", "a\nb\ntheirs", "a\nb\ntheirs\nours"},
		{"a\nb", "a\nb\nsame", "a\nb\nsame", "a\nb\nsame"},
		{"", "ours", "", "ours"},
		{"a\nb\nc", "a\nc", "a\nb\nc\nd", "a\nc\nd"},
		{"one two three", "ONE two three", "one two THREE", "ONE two THREE"},
		{"one", "uno", "eins", "conflict"},
		{"a\nb", "", "a\nB", "conflict"},
		{"a\r\nb", "a\r\nB", "A\r\nb", "A\r\nB"},
	} {
		got, ok := merge(c.base, c.ours, c.theirs)
		if !ok {
			got = "conflict"
		}
		if got != c.want {
			t.Errorf("%q, ours %q, theirs %q: %q, want %q", c.base, c.ours, c.theirs, got, c.want)
		}
	}
}

// FuzzMerge: a merge with an unchanged text is the other text, and no text is too
// long or odd for it.
func FuzzMerge(f *testing.F) {
	f.Add("a\nb", "a\nB", "A\nb")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		if len(base)+len(ours)+len(theirs) > 2000 {
			return
		}
		merge(base, ours, theirs)
		if got, ok := merge(base, ours, base); !ok || got != ours {
			t.Errorf("%q %q: %q %v", base, ours, got, ok)
		}
		if got, ok := merge(base, base, theirs); !ok || got != theirs {
			t.Errorf("%q %q: %q %v", base, theirs, got, ok)
		}
		if got, ok := merge(base, ours, ours); !ok || got != ours {
			t.Errorf("%q %q %q: %q %v", base, ours, theirs, got, ok)
		}
	})
}

func FuzzOneLine(f *testing.F) {
	f.Add("a\r\nb\u2028c\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		if got := oneLine(text); strings.ContainsFunc(got, unsafeInLine) || oneLine(got) != got {
			t.Errorf("%q: %q", text, got)
		}
	})
}
