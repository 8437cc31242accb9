package stdtool_test

import (
	"os"
	"strings"
	"testing"
)

const (
	composed   = "caf\u00e9"  // as models write it
	decomposed = "cafe\u0301" // as macOS did
)

// TestSpelling finds files whose names have another form of Unicode than the path, and
// makes no second file beside one.
func TestSpelling(t *testing.T) {
	for _, forms := range [][2]string{{composed, decomposed}, {decomposed, composed}} {
		asked, has := forms[0], forms[1]
		dir := t.TempDir()
		write(t, dir, has+"/"+has+".txt", []byte("one\n"))
		reading, writing := folder(t, dir), workspace(t, dir)
		file := asked + "/" + asked + ".txt"
		for tool, want := range map[string]string{"read": "one", "list": "file", "grep": "one"} {
			arg := map[string]any{"path": file}
			if tool == "grep" {
				arg["pattern"] = "one"
			}
			if got := call(t, reading, tool, arguments(t, arg)); strings.HasPrefix(got, "error") || tool != "list" && !strings.Contains(got, want) {
				t.Errorf("%s: %s", tool, got)
			}
		}
		for _, pattern := range []string{asked + "/*", "**/" + asked + ".txt", asked + "/caf?.txt", "{x," + asked + "}/*"} {
			if got := call(t, reading, "glob", arguments(t, map[string]any{"pattern": pattern})); got != has+"/"+has+".txt\n" {
				t.Errorf("glob %q: %s", pattern, got)
			}
		}
		call(t, writing, "edit", arguments(t, map[string]any{"path": file, "old_string": "one", "new_string": "two"}))
		if got := content(t, dir, has+"/"+has+".txt"); got != "two\n" {
			t.Errorf("after the edit, the file has %q", got)
		}
		call(t, writing, "write", arguments(t, map[string]any{"path": file, "content": "three\n"}))
		call(t, writing, "write", arguments(t, map[string]any{"path": asked + "/new.txt", "content": "new\n"}))
		if got := content(t, dir, has+"/"+has+".txt"); got != "three\n" {
			t.Errorf("after the write, the file has %q", got)
		}
		if got := call(t, writing, "move", arguments(t, map[string]any{"from": asked + "/new.txt", "to": asked + "/" + decomposed + "2"})); strings.HasPrefix(got, "error") {
			t.Error(got)
		}
		call(t, writing, "move", arguments(t, map[string]any{"from": asked + "/" + composed + "2", "to": asked + "/" + composed + "2"}))
		if got := content(t, dir, has+"/"+composed+"2"); got != "new\n" {
			t.Errorf("the file that was moved has %q", got)
		}
		if top, _ := os.ReadDir(dir); len(top) != 1 {
			t.Errorf("there are %v", top)
		}
		if files, _ := os.ReadDir(dir + "/" + has); len(files) != 2 {
			t.Errorf("there are %v", files)
		}
	}
	dir := t.TempDir()
	if got := call(t, workspace(t, dir), "write", arguments(t, map[string]any{"path": decomposed + "/new.txt", "content": "new\n"})); strings.HasPrefix(got, "error") {
		t.Error(got)
	}
	if got := content(t, dir, decomposed+"/new.txt"); got != "new\n" {
		t.Errorf("a new file has %q", got)
	}
}

// TestGlobIgnored: if nothing matches because .gitignore excludes it, glob says so.
func TestGlobIgnored(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".gitignore", []byte("dist/\n"))
	write(t, dir, "dist/a.js", []byte("a"))
	write(t, dir, ".git/config", []byte("a"))
	set := folder(t, dir)
	for arguments, want := range map[string]string{
		`{"pattern":"dist/*"}`:                "[nothing matches; set ignored to find what .gitignore excludes]",
		`{"pattern":"*.js","path":"dist"}`:    "dist/a.js\n",
		`{"pattern":"x","ignored":true}`:      "[nothing matches]",
		`{"pattern":"dist/*","ignored":true}`: "dist/a.js\n",
	} {
		if got := call(t, set, "glob", arguments); got != want {
			t.Errorf("%s: %s", arguments, got)
		}
	}
	plain := t.TempDir()
	write(t, plain, ".git/config", []byte("a"))
	if got := call(t, folder(t, plain), "glob", `{"pattern":"dist/*"}`); got != "[nothing matches]" {
		t.Error(got)
	}
}
