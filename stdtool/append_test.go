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
		at = keepAppended(old, []byte("a\n"), at, root, "f")
	}
	if got, err := root.ReadFile("f"); string(got) != "b\n1\n2\n3\n" || err != nil {
		t.Errorf("the file is %q, %v", got, err)
	}
	if keepAppended(nil, nil, 0, root, "f") != 0 {
		t.Error("a new file has nothing to keep")
	}
	if err := old.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := old.WriteString("another text, which is longer than all of that\n"); err != nil {
		t.Fatal(err)
	}
	if keepAppended(old, []byte("a\n"), at, root, "f") != at {
		t.Error("a part of another text was added")
	}
	if got, err := root.ReadFile("f"); string(got) != "b\n1\n2\n3\n" || err != nil {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// TestConverted writes over files in their encoding and in another one, in which nothing
// is kept that is appended in theirs.
func TestConverted(t *testing.T) {
	for _, tt := range []struct {
		before, encoding string
		want             bool
	}{
		{"é\n", "", false},
		{"é\n", "utf-8", false},
		{"é\n", "latin-1", true},
		{"\xe9\n", "", false},
		{"\xe9\n", "latin-1", false},
		{"\xe9\n", "utf-8", true},
		{"\xff\xfea\x00", "utf-16", false},
		{"\xff\xfea\x00", "utf-8", true},
	} {
		d := &document{given: "f", content: []byte(tt.before)}
		if _, _, err := d.rewrite(t.Context(), "e\n", tt.encoding); err != nil || d.converted != tt.want {
			t.Errorf("%q in %q: %v, %v", tt.before, tt.encoding, d.converted, err)
		}
	}
}
