//go:build unix

package stdtool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditKeeps checks what stays of a file besides its bytes.
func TestEditKeeps(t *testing.T) {
	dir := t.TempDir()
	set := workspace(t, dir)
	edit := `","old_string":"one","new_string":"two"}`
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, mode := range []os.FileMode{0o600, 0o755, 0o664, 0o777, 0o755 | os.ModeSetgid} {
		write(t, dir, "f", []byte("one\n"))
		if err := os.Chmod(path("f"), mode); err != nil {
			t.Fatal(err)
		}
		told := call(t, set, "edit", `{"path":"f`+edit)
		if info, err := os.Stat(path("f")); err != nil || info.Mode() != mode || content(t, dir, "f") != "two\n" {
			t.Errorf("%v: got %v, %v: %s", mode, info.Mode(), err, told)
		}
	}
	write(t, dir, "sub/real", []byte("one\n"))
	for link, target := range map[string]string{"link": "sub/real", "sub/up": "../link", "folder": "sub"} {
		if err := os.Symlink(target, path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"link", "sub/up", "folder/up", "folder/real"} {
		write(t, dir, "sub/real", []byte("one\n"))
		told := call(t, set, "edit", `{"path":"`+name+edit)
		if content(t, dir, "sub/real") != "two\n" {
			t.Errorf("%s: %s", name, told)
		}
	}
	for link, target := range map[string]string{"link": "sub/real", "sub/up": "../link", "folder": "sub"} {
		if got, err := os.Readlink(path(link)); got != target {
			t.Errorf("%s: got %q, %v", link, got, err)
		}
	}
	write(t, dir, "a", []byte("one\n"))
	if err := os.Link(path("a"), path("b")); err != nil {
		t.Fatal(err)
	}
	told := call(t, set, "edit", `{"path":"b`+edit)
	a, _ := os.Stat(path("a"))
	b, _ := os.Stat(path("b"))
	if !os.SameFile(a, b) || content(t, dir, "a") != "two\n" {
		t.Errorf("the names of a file were separated: %s", told)
	}
}

func TestEditRefused(t *testing.T) {
	dir := t.TempDir()
	set := workspace(t, dir)
	write(t, dir, "f", []byte("one\n"))
	if err := os.Chmod(filepath.Join(dir, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	for tool, rest := range map[string]string{
		"edit":       `"old_string":"one","new_string":"two"`,
		"multi_edit": `"edits":[{"old_string":"one","new_string":"two"}]`,
		"write":      `"content":"two"`,
	} {
		told := call(t, set, tool, `{"path":"f",`+rest+`}`)
		if !strings.Contains(told, "read-only") || content(t, dir, "f") != "one\n" {
			t.Errorf("%s: %s", tool, told)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files are left behind: %v", files)
	}
}

// TestEditFailing checks what happens in a directory that takes no new file: what
// is there is written in place.
func TestEditFailing(t *testing.T) {
	dir := t.TempDir()
	set := workspace(t, dir)
	write(t, dir, "sub/f", []byte("one\n"))
	if err := os.Chmod(filepath.Join(dir, "sub"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "sub"), 0o755) })
	if os.Geteuid() == 0 {
		t.Skip("permissions do not bind root")
	}
	if text := call(t, set, "edit", `{"path":"sub/f","old_string":"one","new_string":"two"}`); content(t, dir, "sub/f") != "two\n" {
		t.Error(text)
	}
	if text := call(t, set, "write", `{"path":"sub/new","content":"x"}`); !strings.Contains(text, "permission denied") {
		t.Error(text)
	}
}
