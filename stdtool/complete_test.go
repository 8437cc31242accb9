package stdtool_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolpost/toolpost/stdtool"
)

// TestComplete: a path is completed within its folder, without what is ignored.
func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{".gitignore": "*.log\n/out/\n", ".env": "", "a.go": "", "a.log": "", "app/b.go": "", "app/c.log": "", "app/.d": "", "out/e": ""} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for beginning, want := range map[string][]string{
		"":        {"a.go", "app/"},
		"a":       {"a.go", "app/"},
		"ap":      {"app/"},
		"app/":    {"app/b.go"},
		"./app/b": {"./app/b.go"},
		".":       {".env", ".gitignore"},
		"app/.":   {"app/.d"},
		"a.go/":   nil,
		"none/x":  nil,
		"../":     nil,
		"/":       nil,
	} {
		if got := stdtool.NewWorkspace(root).Complete(beginning); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", beginning, got, want)
		}
	}
}
