package stdtool

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"testing"
)

// TestRenameNew moves a file to a name that another program has just taken.
func TestRenameNew(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has such a rename")
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "b"} {
		if err := root.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := NewWorkspace(root)
	if err := f.renameNew("a", "b"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if got, err := root.ReadFile("b"); string(got) != "b" || err != nil {
		t.Errorf("the file is %q, %v", got, err)
	}
	if err := f.renameNew("a", "c"); err != nil {
		t.Error(err)
	}
}

// TestMoveCase changes the case of a name only. Where file systems distinguish case, a
// second name of the file stays.
func TestMoveCase(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile("readme.md", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f := NewWorkspace(root)
	if err := f.rename("readme.md", "README.md"); err != nil || !f.isListed("README.md") || f.isListed("readme.md") {
		t.Error(err)
	}
	if root.Link("README.md", "readme.md") != nil {
		return // the file system has no links, or does not distinguish the names
	}
	if err := f.rename("readme.md", "README.md"); err == nil {
		t.Error("a second name was taken for the first one")
	}
}
