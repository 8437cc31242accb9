package requirements

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testName is how documents name a test, fuzz target, benchmark or example, without
// its file, and a script of the command: `TestX`, or `gateway.TestX` if several
// packages have a TestX, and `trust.txtar`.
var testName = regexp.MustCompile("`((?:\\w+\\.)?(?:Test|Fuzz|Benchmark|Example)(?:[A-Z_]\\w*)?|[\\w-]+\\.txtar)(?:/[^`]*)?`")

// TestNames checks that every test that a document names exists.
func TestNames(t *testing.T) {
	all, named := tests(t), 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		pages, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil || pages == nil {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range testName.FindAllSubmatch(text, -1) {
				named++
				switch n := all[string(m[1])]; {
				case n == 0:
					t.Errorf("%s: there is no test %s", page, m[1])
				case n > 1 && strings.Contains(page, "evidence"):
					t.Errorf("%s: %d packages have a test %s; write the folder's name before it", page, n, m[1])
				}
			}
		}
	}
	if named < 500 {
		t.Errorf("found only %d names of tests in documents", named)
	}
}

// declaration is the first line of a test that does something.
var declaration = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\([^)]*\) \{(?: |$)`)

// tests counts the packages that have a test, by the names that documents may use.
func tests(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case filepath.Ext(path) == ".txtar":
			all[d.Name()] = 1
		case strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			folder := filepath.Base(filepath.Dir(path))
			if folder == ".." {
				folder = "toolpost"
			}
			for _, m := range declaration.FindAllSubmatch(text, -1) {
				all[string(m[1])]++
				all[folder+"."+string(m[1])] = 1
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
