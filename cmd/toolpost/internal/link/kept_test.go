package link_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
)

// TestUndoKeepsComments checks that comments in a list that the link made, and in the
// user's own entry, are there after an undo of a file that has changed.
func TestUndoKeepsComments(t *testing.T) {
	store, files := home(t)
	f := files[2] // Cursor
	save(t, f.Path, "{}")
	c, err := store.Link(f, "toolpost", endpoint)
	apply(t, store, c, err)
	save(t, f.Path, strings.Replace(read(t, f.Path), `"mcpServers": {`, `"mcpServers": { // mine`, 1))
	c, err = store.Undo(f)
	apply(t, store, c, err)
	if got := read(t, f.Path); !strings.Contains(got, "// mine") || strings.Contains(got, "toolpost") {
		t.Errorf("undone is %s", got)
	}
	const before = "{\"mcpServers\": {\"toolpost\": {\n  // my own\n  \"url\": \"http://mine\"\n}}}"
	save(t, f.Path, before)
	c, err = store.Link(f, "toolpost", endpoint)
	apply(t, store, c, err)
	save(t, f.Path, read(t, f.Path)+"\n")
	c, err = store.Undo(f)
	apply(t, store, c, err)
	if got := read(t, f.Path); got != before+"\n" {
		t.Errorf("undone is %s", got)
	}
}

// TestFirstCopyStays checks that the content before the first link is kept when a
// changed file is linked again.
func TestFirstCopyStays(t *testing.T) {
	store, files := home(t)
	f := files[2]
	save(t, f.Path, "{/* first */}")
	c, err := store.Link(f, "toolpost", endpoint)
	apply(t, store, c, err)
	for range 2 {
		save(t, f.Path, read(t, f.Path)+"\n")
		c, err = store.Link(f, "toolpost", endpoint)
		apply(t, store, c, err)
	}
	found := false
	copies, _ := filepath.Glob(filepath.Join(filepath.Dir(store.Backup(f.Path)), "*"))
	for _, path := range copies {
		found = found || read(t, path) == "{/* first */}"
	}
	if !found {
		t.Errorf("the first content is in none of %v", copies)
	}
	c, err = store.Undo(f)
	apply(t, store, c, err)
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(store.Backup(f.Path)), "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestUndoAfterKill undoes a link under another name whose process was killed before
// it wrote the client's file.
func TestUndoAfterKill(t *testing.T) {
	store, files := home(t)
	f := files[2]
	save(t, f.Path, "{}")
	c, err := store.Link(f, "toolpost", endpoint)
	apply(t, store, c, err)
	linked := read(t, f.Path)
	c, err = store.Link(f, "other", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	link.Remember(t, store, c) // and the process ends
	if read(t, f.Path) != linked {
		t.Fatal("the file is written")
	}
	c, err = store.Undo(f)
	apply(t, store, c, err)
	if got := read(t, f.Path); strings.Contains(got, "toolpost") {
		t.Errorf("undone is %s", got)
	}
}

// TestChangeDuringApply changes the file after Apply has looked at it first.
func TestChangeDuringApply(t *testing.T) {
	store, files := home(t)
	f := files[2]
	save(t, f.Path, "{}")
	c, err := store.Link(f, "toolpost", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	link.Remember(t, store, c)
	save(t, f.Path, "{ }")
	if err := link.Write(c); err == nil || read(t, f.Path) != "{ }" {
		t.Errorf("a change is overwritten: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(f.Path), ".toolpost-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
	_ = os.Remove(f.Path)
}
