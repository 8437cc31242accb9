package chat

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

const sample = "# A *title*\n\nSome **bold text** and `code`, a [link](https://example.com/x), 2 * 3 * 4, snake_case_name and **/*.go.\n" +
	"- one item that is long enough to be continued on a second line of the list\n  1. nested `item`\n- [ ] task\n\n> quoted text\n\n---\n\n" +
	"```go\nfunc main() { return } // not **bold**\n```\n\n| name | size |\n|:-----|-----:|\n| a\\|b | 1 |\n| **long name of a row** | 20,000 |\n\nThe ~~old~~ end_"

func render(width int, pieces ...string) string {
	m := newMarkdown(width)
	out := ""
	for _, p := range pieces {
		out += m.Add(p)
	}
	return out + m.End()
}

func TestMarkdown(t *testing.T) {
	want := `A title

Some bold text and code, a link
(https://example.com/x), 2 * 3 * 4,
snake_case_name and **/*.go.
• one item that is long enough to be
  continued on a second line of the list
  1. nested item
• [ ] task

│ quoted text

────────────────────────────────────────

╭─ go
func main() { return } // not **bold**
╰─

name               │   size
───────────────────┼───────
a|b                │      1
long name of a row │ 20,000

The old end_
`
	got := render(40, sample)
	if d := cmp.Diff(want, ansi.Strip(got)); d != "" {
		t.Error(d)
	}
	for _, styled := range []string{"\x1b[1mbold\x1b[0m", "\x1b[36mcode\x1b[0m", "\x1b[4mlink\x1b[0m", "\x1b[1;36;3mtitle\x1b[0m", "\x1b[9mold\x1b[0m"} {
		if !strings.Contains(got, styled) {
			t.Errorf("no %q in %q", styled, got)
		}
	}
}

// TestMarkdownGrows: the text that has been written does not depend on the
// pieces in which it came, so nothing has to be written again.
func TestMarkdownGrows(t *testing.T) {
	want := render(40, sample)
	if got := render(40, strings.Split(sample, "")...); got != want {
		t.Error(cmp.Diff(want, got))
	}
	m := newMarkdown(40)
	if got := m.Add("Streams as soon as words are com"); got != "Streams as soon as words are" {
		t.Errorf("got %q", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(sample, 3)
	f.Add("**a `b** c`\n|x|\n|-|\n```\n", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if !strings.Contains(text, "\x1b") && len(text) < 1<<12 && n > 0 {
			runes := strings.Split(strings.ToValidUTF8(text, "?"), "")
			var pieces []string
			for ; len(runes) > n; runes = runes[n:] {
				pieces = append(pieces, strings.Join(runes[:n], ""))
			}
			pieces = append(pieces, strings.Join(runes, ""))
			if whole, parts := render(30, strings.Join(pieces, "")), render(30, pieces...); ansi.Strip(whole) != ansi.Strip(parts) {
				t.Errorf("whole %q, in pieces %q", whole, parts)
			}
		}
		for line := range strings.Lines(ansi.Strip(render(30, text))) {
			if strings.ContainsAny(line, "\x1b\r\b\x07") {
				t.Errorf("a control character in %q", line)
			}
		}
	})
}
