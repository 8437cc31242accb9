package floors_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/floors"
)

// TestText looks at documents and scripts too.
func TestText(t *testing.T) {
	for path, text := range texts(t, "*.md", "Makefile", ".ci/*", "docs/*.md", "docs/*/*.md", "dev/*/*.sh") {
		for _, p := range floors.Text(path, text) {
			t.Error(p)
		}
	}
}

// TestAnchors follows the links of documents to headings.
func TestAnchors(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.+)$`)
	odd := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for path, text := range texts(t, "*.md", "docs/*.md", "docs/*/*.md") {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := text
			if m[1] != "" {
				data, err := os.ReadFile(filepath.Join(filepath.Dir(path), m[1]))
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				target = string(data)
			}
			found := slices.ContainsFunc(heading.FindAllStringSubmatch(target, -1), func(h []string) bool {
				return m[2] == strings.ReplaceAll(odd.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
			})
			if !found {
				t.Errorf("%s: %s has no heading for #%s", path, cmp.Or(m[1], "it"), m[2])
			}
		}
	}
}

// TestLinks follows the relative links of documents. One that leads to a Go
// file, or to a folder of Go files, names something that is declared there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\[([^\]]*)\]\(([^)#:]+)\)`)
	name := regexp.MustCompile("^`(?:.*\\.)?(\\w+)`$")
	for path, text := range texts(t, "*.md", "docs/*.md", "docs/*/*.md") {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, n := filepath.Join(filepath.Dir(path), m[2]), name.FindStringSubmatch(m[1])
			source, err := sourceOf(target)
			switch {
			case err != nil:
				t.Errorf("%s: %v", path, err)
			case n == nil || source == "":
			case !declares(source, n[1]):
				t.Errorf("%s: %s does not declare %s", path, m[2], n[1])
			}
		}
	}
}

// declares reports whether a line of source declares the name.
func declares(source, name string) bool {
	declaration := regexp.MustCompile(`^(func (\([^)]*\) )?|type |var |const |package |\t)` + name + `\b`)
	for line := range strings.Lines(source) {
		if strings.Contains(line, name) && declaration.MatchString(line) {
			return true
		}
	}
	return false
}

// sourceOf returns the Go of a file, or of the files of a folder; none if it has
// another content.
func sourceOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	files := []string{path}
	if info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*.go"))
	}
	var b strings.Builder
	for _, file := range files {
		if filepath.Ext(file) == ".go" {
			data, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			b.Write(data)
		}
	}
	return b.String(), nil
}

// TestPrograms checks that the examples have no more lines than a reader takes in at once:
// below the imports.
func TestPrograms(t *testing.T) {
	for example, limit := range map[string]int{"examples/claude/main.go": 25, "examples/gateway/main.go": 40} {
		text := texts(t, example)[filepath.Join(root, example)]
		if _, program, ok := strings.Cut(text, "\n)\n\n"); !ok || strings.Count(program, "\n") > limit {
			t.Errorf("%s has %d lines below its imports, at most %d", example, strings.Count(program, "\n"), limit)
		}
	}
}

// TestPackagesAreFound checks that the guide to the library names every package that a
// program can import.
func TestPackagesAreFound(t *testing.T) {
	guide := texts(t, "docs/library.md")[filepath.Join(root, "docs/library.md")]
	files, err := floors.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"": true}
	for _, f := range files {
		name := f.Package
		first, _, _ := strings.Cut(name, "/")
		if seen[name] || strings.Contains("/"+name+"/", "/internal/") || first == "dev" || first == "examples" || first == "cmd" || first == "sdk" {
			continue
		}
		seen[name] = true
		if !strings.Contains(guide, "](../"+name+")") && !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("docs/library.md does not name package %s", name)
		}
	}
}

// TestReadmeIsShort checks that the README is read in a few minutes.
func TestReadmeIsShort(t *testing.T) {
	readme := texts(t, "README.md")[filepath.Join(root, "README.md")]
	if n := len(strings.Fields(readme)); n > 900 {
		t.Errorf("the README has %d words, at most 900", n)
	}
}

// TestGuidesAreShort checks that the guides are read in an afternoon. What is looked up, not
// read, is in docs/reference and docs/rules; what only developers need, in docs/evidence and
// docs/decisions.
func TestGuidesAreShort(t *testing.T) {
	size, guides := 0, texts(t, "docs/*.md")
	for _, text := range guides {
		size += len(text)
	}
	if size > 255_000 || len(guides) > 24 {
		t.Errorf("%d guides have %d bytes, at most 24 and 255,000", len(guides), size)
	}
}

// texts returns the files that match, by path.
func texts(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || found == nil {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(data)
		}
	}
	return all
}
