package stdtool

import (
	"os"
	"testing"
)

// TestKeepAppended appends to a file that has just been replaced, as a program does that
// opened it before.
func TestKeepAppended(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile("f", []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	old, err := root.OpenFile("f", os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := root.WriteFile("new", []byte("b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := root.Rename("new", "f"); err != nil {
		t.Fatal(err)
	}
	at := int64(2)
	for _, line := range []string{"", "1\n", "", "2\n3\n"} {
		if _, err := old.WriteString(line); err != nil {
			t.Fatal(err)
		}
		at = keepAppended(old, at, root, "f")
	}
	if got, err := root.ReadFile("f"); string(got) != "b\n1\n2\n3\n" || err != nil {
		t.Errorf("the file is %q, %v", got, err)
	}
	if keepAppended(nil, 0, root, "f") != 0 {
		t.Error("a new file has nothing to keep")
	}
}
