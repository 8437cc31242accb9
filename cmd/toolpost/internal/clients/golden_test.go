package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = os.Getenv("TOOLPOST_UPDATE") != "" // "make update" rewrites testdata

// golden runs f for every txtar file of the folder, and compares what it
// returns with the file's part called want.
func golden(t *testing.T, folder string, f func(t *testing.T, a *txtar.Archive) string) {
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := f(t, a)
			if update {
				rest := a.Files[:0:0]
				for _, part := range a.Files {
					if part.Name != "want" {
						rest = append(rest, part)
					}
				}
				a.Files = append(rest, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(part(a, "want"), got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func part(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func lookup(env string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for line := range strings.Lines(env) {
			if k, v, _ := strings.Cut(strings.TrimSpace(line), "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
