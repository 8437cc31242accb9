package stdtool

import (
	"bytes"
	"strings"
	"testing"
)

// TestFind checks what becomes of content if there is one match.
func TestFind(t *testing.T) {
	tests := []struct{ name, content, old, new, how, want string }{
		{"exact", "a b c", "b", "x", "", "a x c"},
		{"regular expression characters", "a.*[b]$1\\", ".*[b]$1\\", "$1\\0%s", "", "a$1\\0%s"},
		{"delete", "a\nb\nc\n", "b\n", "", "", "a\nc\n"},
		{"no final newline", "a\nb", "b", "c\n", "", "a\nc\n"},
		{"byte order mark", "\ufeffa\nb\n", "a", "x", "", "\ufeffx\nb\n"},
		{"byte order mark in old", "\ufeffa\nb\n", "\ufeffa", "\ufeffx", "", "\ufeffx\nb\n"},
		{"old begins with what it has not", "a\nb\n", "\ufeffa", "x", "whitespace", ""},
		{"CRLF, one line", "a\r\nb\r\nc\r\n", "b", "x\ny", "", "a\r\nx\r\ny\r\nc\r\n"},
		{"CRLF, several lines", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "line ends", "x\r\ny\r\nz\r\nc\r\n"},
		{"CRLF in old only", "a\nb\nc\n", "a\r\nb", "x\r\ny", "line ends", "x\ny\nc\n"},
		{"CRLF at the edge", "a\r\nb\r\nc", "\nb\n", "\nx\n", "line ends", "a\r\nx\r\nc"},
		{"CRLF on purpose", "a\nb\n", "a", "x\r\ny", "", "x\r\ny\nb\n"},
		{"CR", "a\rb\rc\r", "a\nb", "x\ny\nz", "line ends", "x\ry\rz\rc\r"},
		{"CR, one line", "a\rb\rc", "b", "x\ny", "", "a\rx\ry\rc"},
		{"mixed", "a\r\nb\nc\rd", "a\nb\nc\nd", "a\nB\nc\nd", "line ends", "a\r\nB\nc\rd"},
		{"CR beside LF", "a\nb\rc", "b", "x\ny", "", "a\nx\ry\rc"},
		{"CR beside LF, at the end", "a\nb\rc", "c", "x\ny", "", "a\nb\rx\ry"},
		{"LF beside CR", "a\rb\nc", "b", "x\ny", "", "a\rx\ny\nc"},
		{"CRLF beside CR", "a\rb\r\nc", "b", "x\ny", "", "a\rx\r\ny\r\nc"},
		{"mixed, one line for two", "a\rD\nF", "a\nD\n", "E\n", "line ends", "E\nF"},
		{"mixed, the first line goes", "a\nb\r\nc\rd", "a\nb\nc\n", "b\nc\n", "line ends", "b\r\nc\rd"},
		{"mixed, a line between", "a\r\nb\nc\rd", "a\nb\nc\n", "a\nx\nb\nc\n", "line ends", "a\r\nx\nb\nc\rd"},
		{"mixed, the last line goes", "a\rb\nc", "a\nb\n", "a\n", "line ends", "a\rc"},
		{"CRLF in old, not in new", "a\r\nb\r\nc\r\n", "a\r\nb", "A\nX\nB", "", "A\r\nX\r\nB\r\nc\r\n"},
		{"only line ends are to change", "a\r\nb\r\n", "a\r\nb\r\n", "a\nb\n", "", "a\nb\n"},
		{"an empty line after CR", "x {\r\ty\n}\n", "\n\ty\n}\n", "\tone\n\ttwo\n\nthree\n", "line ends", "x {\tone\r\ttwo\r\rthree\n"},
		{"no line end is cut", "a\r\nb\r\nc", "\nb", "", "", "a\r\nc"},
		{"no line end is doubled", "a\r\nb\r\nc", "\nb", "\r\nx", "", "a\r\nx\r\nc"},
		{"lines for a line with its end before", "a\r\nb\nc", "\nb", "\nx\ny", "", "a\r\nx\ny\nc"},
		{"numbers of the text", "1  a\n3  b\n", "1  a\n3  b", "1  x", "", "1  x\n"},
		{"tabs", "f {\n\tif a {\n\t\tb\n\t}\n}\n", "    if a {\n        b\n    }\n", "    if a {\n        b\n        if c {\n            d\n        }\n    }\n", "whitespace",
			"f {\n\tif a {\n\t\tb\n\t\tif c {\n\t\t\td\n\t\t}\n\t}\n}\n"},
		{"spaces for tabs", "f {\n    a\n}\n", "\ta\n}", "\ta\n\t\tb\n}", "whitespace", "f {\n    a\n        b\n}\n"},
		{"deeper", "x:\n    - a\n    - b\n", "- a\n- b", "- a\n- c\n  d\n- b", "whitespace", "x:\n    - a\n    - c\n      d\n    - b\n"},
		{"what is the same stays", "a  \n  b\t\n c\n", "a\nb\nc", "a\nx\nc", "whitespace", "a  \n  x\n c\n"},
		{"trailing whitespace, CRLF", "a \r\nb\r\nc", "a\nb", "a\nb\nd", "whitespace", "a \r\nb\r\nd\r\nc"},
		{"whitespace, at the end", "a\n b", "a\nb ", "a\nb \nc", "whitespace", "a\n b\n c"},
		{"whitespace, delete", "a\n  b \nc\n", "b\nc\n", "c\n", "whitespace", "a\nc\n"},
		{"whitespace, delete all", "a\n\tb\nc\n", " b\n", "", "whitespace", "a\nc\n"},
		{"no-break space", "a\u00a0b\n", "a b", "a c", "whitespace", "a c\n"},
		{"block", "func f() {\n\tone := 1\n\ttwo := 22\n}\n", "func f() {\n    one := 1\n    two := 2\n}", "func f() {\n    one := 1\n    two := 3\n}", "inner lines",
			"func f() {\n\tone := 1\n\ttwo := 3\n}\n"},
		{"block, not similar", "func f() {\n\tone := 1\n\ttwo := 22\n}\n", "func f() {\n    return\n    print(nothing)\n}", "x", "", ""},
		{"block, other length", "a {\n1\n2\n}\n", "a {\n1\n}\n", "x", "", ""},
		{"case", "Abc", "abc", "x", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			how, found := find([]byte(tt.content), tt.old, tt.new, "block_anchor")
			if len(found) > 1 {
				t.Fatalf("%d matches", len(found))
			}
			got := ""
			if len(found) == 1 {
				got = string(apply([]byte(tt.content), found))
			}
			if got != tt.want || got != "" && !strings.HasPrefix(how, tt.how) || got != "" && (how == "") != (tt.how == "") {
				t.Errorf("got %q (%s), want %q (%s)", got, how, tt.want, tt.how)
			}
		})
	}
}

// TestFindSeveral checks that it is told when it is not clear what is meant.
func TestFindSeveral(t *testing.T) {
	tests := []struct {
		content, old string
		matches      int
	}{
		{"a a", "a", 2},
		{"aaa", "aa", 2},
		{"x\nx\nx\n", "x\nx", 2},
		{" x\n x\n x\n", "x \nx", 2},
		{"a\r\nb\r\na\r\nb", "a\nb", 2},
		{"x\ny\nq\nx\r\ny\r\n", "x\ny", 2},
		{"x\r\nq\r\nx\n", "x\n", 2},
		{"a {\n1 2 3\n}\na {\n1 2 4\n}\n", "a {\n1 2 5\n}", 2},
		{"    1  a", "    1  b", 0},
		{"a", "", 0},
		{"a b", " ", 0},
	}
	for _, tt := range tests {
		if _, found := find([]byte(tt.content), tt.old, "new", "block_anchor"); len(found) != tt.matches {
			t.Errorf("%q in %q: %d matches, want %d", tt.old, tt.content, len(found), tt.matches)
		}
	}
}

func TestMatchMode(t *testing.T) {
	content := []byte("a {\n\tone two three\n}\n")
	for mode, want := range map[string][3]int{"exact": {1, 0, 0}, "line_trimmed": {1, 1, 0}, "block_anchor": {1, 1, 1}} {
		for i, old := range []string{"\tone", "a {\none two three", "a {\none two four\n}"} {
			if _, found := find(content, old, "x", mode); len(found) != want[i] {
				t.Errorf("%s: %q has %d matches, want %d", mode, old, len(found), want[i])
			}
		}
	}
}

// FuzzFind checks that no byte outside a match ever changes, that exact matches
// are as those of the standard library, and that nothing is guessed where old
// text is there as it is.
func FuzzFind(f *testing.F) {
	for _, s := range [][3]string{
		{"a\r\nb\nc\rd", "a\nb", "x\ny"}, {"\ufeffa\n\tb\n", "    b", "c\n  d"}, {"aaa", "aa", "b"},
		{"a {\n1 2 3\n}\n", "a {\n1 2 4\n}", "a {\n9\n8\n}"}, {"1\n2", "    1  1\n", ""}, {"a\nb", "b \n", "b\nc\n"},
		{"\r\r\n\n\r", "\n\r\n", "x"}, {"a\xff\nb", "a", "\n"},
	} {
		f.Add([]byte(s[0]), s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, content []byte, old, new string) {
		was := bytes.Clone(content)
		how, found := find(content, old, new, "block_anchor")
		if !bytes.Equal(was, content) {
			t.Fatal("the content was written to")
		}
		if how == "" && len(found) == 0 && strings.TrimSpace(old) != "" && bytes.Contains(content, []byte(old)) {
			t.Errorf("%q is in %q and not found", old, content)
		}
		found = withoutOverlaps(found)
		for _, m := range found {
			got := apply(content, []match{m})
			head, tail := content[:m.from], content[m.to:]
			if len(got) < len(head)+len(tail) || !bytes.HasPrefix(got, head) || !bytes.HasSuffix(got, tail) {
				t.Errorf("%s: %q to %q in %q gives %q", how, old, new, content, got)
			}
		}
		if how == "" && len(found) > 0 && !bytes.ContainsRune(content, '\r') && !bytes.HasPrefix(content, bom) {
			if got, want := apply(content, found), bytes.ReplaceAll(content, []byte(old), []byte(new)); !bytes.Equal(got, want) {
				t.Errorf("%q to %q in %q gives %q, want %q", old, new, content, got, want)
			}
		}
		if how != "" && bytes.Contains(content, []byte(old)) && !bytes.HasPrefix(content, bom) {
			t.Errorf("%q is in %q, and was found because %s", old, content, how)
		}
		if len(found) == 0 && old != "" {
			nearest(content, old)
		}
	})
}
