//go:build unix

package pins_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/policy/pins"
)

// The pins belong to the user alone. A file that another user can have written
// is an error.
func TestFileOfOthers(t *testing.T) {
	f := own(t)
	put(t, f, "s", list("a", "1"))
	for path, want := range map[string]os.FileMode{f.Path(): 0o600, f.Path() + "-lock": 0o600, filepath.Dir(f.Path()): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Error(path, info.Mode(), err)
		}
	}
	if err := os.Chmod(f.Path(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Errorf("got %v", err)
	}
	if _, err := f.Update(t.Context(), func(*pins.Lock) bool { t.Error("it is changed"); return true }); err == nil {
		t.Error("no error")
	}
}

// A file of a repository keeps its mode.
func TestModeOfFileBeside(t *testing.T) {
	own(t)
	f := pins.Beside(filepath.Join(t.TempDir(), "toolpost.json"))
	put(t, f, "s", list("a", "1"))
	if err := os.Chmod(f.Path(), 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, f, "s", list("b", "1"))
	if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm() != 0o644 {
		t.Error(info.Mode(), err)
	}
}

// Pins in a folder in which others can put files do not count.
func TestFolderOfOthers(t *testing.T) {
	f := own(t)
	put(t, f, "s", list("a", "1"))
	if err := os.Chmod(filepath.Dir(f.Path()), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "other users can write") {
		t.Errorf("got %v", err)
	}
	if err := f.Prepare(); err == nil {
		t.Error("the folder is used")
	}
}
