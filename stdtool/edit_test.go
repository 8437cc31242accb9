package stdtool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
)

func arguments(t testing.TB, members map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func content(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestEditBytes checks the bytes of files after edits that are easy to get
// wrong. Where want is empty, the file stays as it is, and the text says tell.
func TestEditBytes(t *testing.T) {
	tests := []struct{ name, before, old, new, want, tell string }{
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n", "line ends differ"},
		{"CRLF, new lines", "a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n", "1 replaced at line 1\n"},
		{"lone CR", "a\rb\rc", "b", "x\ny", "a\rx\ry\rc", "at line 1"},
		{"mixed ends", "a\r\nb\nc\rd\r\n", "b", "x", "a\r\nx\nc\rd\r\n", "at line 2"},
		{"mixed ends, across", "a\r\nb\nc\rd\r\n", "a\nb\nc\nd", "A\nB\nC\nD", "A\r\nB\nC\rD\r\n", "line ends differ"},
		{"tabs", "if a {\n\tb()\n}\n", "    b()", "    c()", "if a {\n\tc()\n}\n", "whitespace differs"},
		{"tabs elsewhere stay", "\ta\n    b\n\tc\n", "    b", "    x", "\ta\n    x\n\tc\n", "at line 2"},
		{"byte order mark", "\ufeffa\r\nb\r\n", "a\nb", "x\ny", "\ufeffx\r\ny\r\n", "line ends differ"},
		{"no final newline", "a\nb", "b", "c", "a\nc", "at line 2"},
		{"no final newline, lines", "a\n\tb", "a\n  b", "a\n  c", "a\n\tc", "whitespace differs"},
		{"invalid UTF-8 elsewhere", "\xff\xfd1\na\n\x80\n", "a", "b", "\xff\xfd1\nb\n\x80\n", "at line 2"},
		{"escaped line ends", "a := 1\nb := 2\n", `a := 1\nb := 2`, "x", "", `write real line ends, tabs and quotes in old_string and new_string`},
		{"escaped tabs and quotes", "\tsay(\"hi\")\n", `\tsay(\"hi\")`, "x", "", `write real line ends, tabs and quotes in old_string and new_string`},
		{"escaped line ends beside backslashes", "say(\"a\\n\")\nb()\n", `say(\"a\\n\")\nb()`, "x", "", `write real line ends`},
		{"escaped line ends, quotes of the file", "say(\\\"a\\\")\nb()\n", `say(\"a\")\nb()`, "x", "", `write real line ends`},
		{"line ends that are escaped in the file", `say("a\nb")`, "a\nb", "x", "", `the characters \n where old_string has a line end`},
		{"escaped, but not there", "a := 1\nb := 2\n", `xyz\nuvw`, "x", "", `No line of the file is similar`},
		{"quotes", "say “hi”\n", `say "hi"`, "x", "", `the file has "“" (U+201C) where old_string has "\""`},
		{"dash", "a – b c d e\n", "a - b c d e", "x", "", `"–" (U+2013) where old_string has "-"`},
		{"no-break space", "a\u00a0b c d\n", "a b c d", "x", "x\n", "whitespace differs"},
		{"zero width space", "abc\u200bdef\n", "abcdef", "x", "", `U+200B where old_string has "d"`},
		{"Cyrillic", "p\u0430ssword = 1\n", "password = 1", "x", "", `"а" (U+0430) where old_string has "a"`},
		{"composed", "re\u0301sume\u0301 of x\n", "résumé of x", "x", "", `"e" where old_string has "é" (U+00E9)`},
		{"dotless", "ınput value\n", "input value", "x", "", `"ı" (U+0131) where old_string has "i"`},
		{"regular expression", "a.b*c\naxbbc\n", "a.b*c", "$0${1}\\1", "$0${1}\\1\naxbbc\n", "at line 1"},
		{"dollar", "price: $1\n", "$1", "$2$$", "price: $2$$\n", "at line 1"},
		{"backslashes", `a\nb\\c`, `\nb\\`, `\t`, `a\tc`, "at line 1"},
		{"percent", "100%d\n", "%d", "%s%!", "100%s%!\n", "at line 1"},
		{"markup", "<a>&amp;</a>", "&amp;", "&lt;", "<a>&lt;</a>", "at line 1"},
		{"whitespace only", "a b\n", " ", "x", "", "only whitespace"},
		{"empty", "a b\n", "", "x", "", "already exists"},
		{"overlapping", "aaa", "aa", "b", "", "more than once"},
		{"blank lines", "a\n\n\nb\n", "a\n\nb", "x", "", "is not in"},
		{"binary", "a\x00b", "a", "b", "", "binary file"},
		{"delete all", "a\n", "a\n", "", "\x00", "at line 1"}, // \x00: an empty file
		{"new text like old", "ab\n", "ab", "abab", "abab\n", "at line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "f.txt", []byte(tt.before))
			told := call(t, workspace(t, dir), "edit", arguments(t, map[string]any{"path": "f.txt", "old_string": tt.old, "new_string": tt.new}))
			want := strings.TrimSuffix(tt.want, "\x00")
			if tt.want == "" {
				want = tt.before
			}
			if got := content(t, dir, "f.txt"); got != want || strings.HasPrefix(told, "error") != (tt.want == "") {
				t.Errorf("got %q, want %q: %s", got, want, told)
			}
			if !strings.Contains(told, tt.tell) {
				t.Errorf("told %q, want %q", told, tt.tell)
			}
			if files, _ := os.ReadDir(dir); len(files) != 1 {
				t.Errorf("files are left behind: %v", files)
			}
		})
	}
}

// TestEditLookalikes: what only looks like what is there is not replaced.
func TestEditLookalikes(t *testing.T) {
	dir := t.TempDir()
	set := workspace(t, dir)
	long := strings.Repeat("l", 540)
	for _, test := range []struct{ name, content, old, new string }{
		{"the end of a long line", "start\n" + long + "TAIL\nend\n", "start\n" + long + "…\nend", "start\nX" + long + "…\nend"},
		{"another short line", "begin\n1\nend\n", "begin\n2\nend", "begin\n3\nend"},
		{"numbers of other lines", "a\nb\nc\nfoo x\n", "99  foo x", "99  bar"},
		{"part of a line", "a\nb\nthe total is 7 items\n", "3  is 7", "3  is 8"},
		{"a new text that is numbered in part", "foo\nbar\n", "    1  foo\n    2  bar", "    1  foo\nNEW\n    2  bar"},
	} {
		write(t, dir, "f.txt", []byte(test.content))
		told := call(t, set, "edit", arguments(t, map[string]any{"path": "f.txt", "old_string": test.old, "new_string": test.new}))
		if got := content(t, dir, "f.txt"); got != test.content || !strings.HasPrefix(told, "error") {
			t.Errorf("%s: the file is %.80q, told %.200q", test.name, got, told)
		}
	}
	write(t, dir, "f.txt", []byte("foo\nbar\n"))
	told := call(t, set, "edit", arguments(t, map[string]any{"path": "f.txt", "old_string": "    1  foo\n    2  bar", "new_string": "x"}))
	if want := "If the line numbers of read are in old_string, remove them"; !strings.Contains(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// TestEditLarge edits in the middle of a file of 10 MB, also by lines.
func TestEditLarge(t *testing.T) {
	dir := t.TempDir()
	set := workspace(t, dir)
	line := strings.Repeat("x", 60) + " {\r\n"
	half := strings.Repeat(line, 5<<20/len(line))
	before := half + "  if middle {\r\n    now()\r\n" + half
	for old, new := range map[string]string{
		"now()":                     "then()",
		"if middle {\n    now()":    "if middle {\n    then()",
		"\tif middle {\n\t\tnow()":  "\tif middle {\n\t\tthen()",
		"if  middle {\nnow()\n":     "if  middle {\nthen()\n",
		"  if middle {\n    now()":  "  if middle {\n    then()",
		" if middle {\n  now( )\nx": "",
	} {
		write(t, dir, "large.txt", []byte(before))
		told := call(t, set, "edit", arguments(t, map[string]any{"path": "large.txt", "old_string": old, "new_string": new}))
		want := strings.Replace(before, "now()", "then()", 1)
		if new == "" {
			want = before
		}
		if got := content(t, dir, "large.txt"); got != want || len(told) > 2000 || strings.HasPrefix(told, "error") != (new == "") {
			t.Errorf("%q: got %d bytes, told %.300q", old, len(got), told)
		}
	}
	write(t, dir, "large.txt", []byte(before))
	call(t, set, "edit", arguments(t, map[string]any{"path": "large.txt", "old_string": " {", "new_string": " [", "replace_all": true}))
	if got := content(t, dir, "large.txt"); got != strings.ReplaceAll(before, " {", " [") {
		t.Error("not all replaced")
	}
}

// TestEditConcurrent makes many edits at once, through two names: none is lost,
// and no reader ever sees half of one.
func TestEditConcurrent(t *testing.T) {
	dir := t.TempDir()
	var before strings.Builder
	const n = 40
	for i := range n {
		fmt.Fprintf(&before, "line %d.\n", i)
	}
	write(t, dir, "f.txt", []byte(before.String()))
	if err := os.Symlink("f.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	set := workspace(t, dir)
	var edits sync.WaitGroup
	for i := range n {
		edits.Go(func() {
			name := []string{"f.txt", "link.txt", "./f.txt"}[i%3]
			raw := fmt.Sprintf(`{"path":%q,"old_string":"line %d.","new_string":"changed %d."}`, name, i, i)
			r, err := set.Call(t.Context(), &toolpost.Call{Name: "edit", Arguments: json.RawMessage(raw)})
			if err != nil || r.IsError() {
				t.Error(i, r, err)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "f.txt")); err != nil || bytes.Count(data, []byte("\n")) != n {
				t.Errorf("half a file: %q, %v", data, err)
			}
		})
	}
	edits.Wait()
	if got, want := content(t, dir, "f.txt"), strings.ReplaceAll(before.String(), "line", "changed"); got != want {
		t.Errorf("got %q", got)
	}
}

// TestEditHash checks that a change by somebody else is never overwritten.
func TestEditHash(t *testing.T) {
	dir := t.TempDir()
	set := workspace(t, dir)
	write(t, dir, "f.txt", []byte("one\n"))
	told := call(t, set, "read", `{"path":"f.txt"}`)
	hash := hashes.FindString(told)[len("content_sha256 "):]
	edit := func(new string) string {
		return call(t, set, "edit", arguments(t, map[string]any{"path": "f.txt", "old_string": "one", "new_string": new, "expected_hash": hash}))
	}
	write(t, dir, "f.txt", []byte("one, two\n"))
	if told := edit("x"); !strings.Contains(told, "read it again") || content(t, dir, "f.txt") != "one, two\n" {
		t.Error(told)
	}
	write(t, dir, "f.txt", []byte("one\n"))
	if told := edit("x"); content(t, dir, "f.txt") != "x\n" {
		t.Error(told)
	}
}
