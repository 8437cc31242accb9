package stdtool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRenameNew moves a file to a name that another program has just taken.
func TestRenameNew(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "b"} {
		if err := root.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err = unix.Renameat2(unix.AT_FDCWD, dir+"/a", unix.AT_FDCWD, dir+"/b", unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		t.Skip("this file system has no such rename")
	}
	f := NewWorkspace(root)
	var link *os.LinkError
	if err := f.renameNew("a", "b"); !errors.Is(err, fs.ErrExist) || !errors.As(err, &link) {
		t.Error(err)
	}
	said := writeError("b", &os.LinkError{Op: "rename", Old: "a", New: "b", Err: unix.EXDEV}).Error()
	if !strings.Contains(said, "cross-device") {
		t.Error(said)
	}
	if got, err := root.ReadFile("b"); string(got) != "b" || err != nil {
		t.Errorf("the file is %q, %v", got, err)
	}
	if err := f.renameNew("a", "c"); err != nil {
		t.Error(err)
	}
}
