package terminal

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWidth: characters of East Asian scripts and pictures take two columns, and marks
// that combine with another character none.
func TestWidth(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		cut   string // to five columns
		lines []string
	}{
		{"", 0, "", nil},
		{"abcdef", 6, "abcd…", []string{"abcde", "f"}},
		{"日本語", 6, "日本…", []string{"日本", "語"}},
		{"a日本b", 6, "a日…", []string{"a日本", "b"}},
		{"한글 ok", 7, "한글…", []string{"한글", "ok"}},
		{"cafe\u0301s", 5, "cafe\u0301s", []string{"cafe\u0301s"}},
		{"🙂🙂", 4, "🙂🙂", []string{"🙂🙂"}},
		{"·…", 2, "·…", []string{"·…"}},
	} {
		if got := Width(c.text); got != c.width {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.width)
		}
		if got := Cut(c.text, 5); got != c.cut || Width(got) > 5 {
			t.Errorf("%q is cut to %q, want %q", c.text, got, c.cut)
		}
		if got := Wrap(c.text, 5); !slices.Equal(got, c.lines) {
			t.Errorf("%q is wrapped to %q, want %q", c.text, got, c.lines)
		}
	}
	if got := Width("\x1b[32m日本\x1b[0m"); got != 4 {
		t.Errorf("a text with a colour takes %d columns", got)
	}
	if got := Pad("日本語", 8); got != "日本語  " {
		t.Errorf("%q", got)
	}
	if got := Pad("日本語", 4); got != "日… " && Width(got) != 4 {
		t.Errorf("%q", got)
	}
	if got := Wrap("日本", 1); !slices.Equal(got, []string{"日", "本"}) {
		t.Errorf("%q", got)
	}
}

func TestWrap(t *testing.T) {
	got := Wrap("connect to the server: it is  not there\nat all, abcdefghijklmnopqrstuvwxyz", 16)
	want := []string{"connect to the", "server: it is", "not there at", "all, abcdefghijk", "lmnopqrstuvwxyz"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestWrapLines: lines that fit stay as they are, and others keep their indentation.
func TestWrapLines(t *testing.T) {
	text := "a  b\n  one two three four\n\nabcdefghij klm"
	if got, want := WrapLines(text, 12), "a  b\n  one two\n  three four\n\nabcdefghij\nklm"; got != want {
		t.Errorf("%q", got)
	}
	if got := WrapLines(text, 0); got != text {
		t.Errorf("without a limit: %q", got)
	}
}
