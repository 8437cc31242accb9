package stdtool

import (
	"os"
	"testing"
)

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
