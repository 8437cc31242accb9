package page

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReplace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	const text = "a\n<!-- begin of x -->\nold\n<!-- end of x -->\nb\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // again, it changes nothing
		if err := Replace(file, "x", "new\n"); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if want := "a\n<!-- begin of x -->\nnew\n<!-- end of x -->\nb\n"; err != nil || string(got) != want {
		t.Errorf("it is %q (%v), want %q", got, err, want)
	}
	if err := Replace(file, "y", "new\n"); err == nil {
		t.Error("a document without the lines is taken")
	}
}
