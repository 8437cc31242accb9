package configfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
)

// A symbolic link stays a link, also if the file that it points to does not exist.
func TestSaveSymlink(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	if err := os.Symlink("b.json", path); err != nil {
		t.Skip(err)
	}
	for _, text := range []string{"1", "2"} {
		if err := configfile.Save(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != text {
			t.Errorf("%q %v", got, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is gone: %v %v", info, err)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := configfile.Save(loop, nil); err == nil {
		t.Error("a loop is written")
	}
}
