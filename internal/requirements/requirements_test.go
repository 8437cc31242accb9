// Package requirements checks that docs/requirements.md tells, for every
// requirement, what meets it and which test shows that.
package requirements

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const page = "../../docs/requirements.md"

// wanted are the rows of each part of the page: how many of each kind.
var wanted = map[string]map[string]int{
	"Tools and MCP": {"FR": 13, "SC": 9, "1": 4, "2": 5, "3": 3, "4": 4, "5": 3, "Edge": 9},
	"The bridge":    {"FR": 9, "SC": 7, "1": 4, "2": 4, "3": 3, "4": 3, "Edge": 5},
	"In Go":         {"Row": 9},
	"Standard tools and output": {
		"1": 3, "2.1": 6, "2.2": 5, "3.1": 2, "3.2": 4, "4": 2, "4.1": 2, "4.2": 4, "5.1": 3, "5.2": 3, "5.3": 1, "6": 5, "7.1": 2, "7.2": 2, "7.3": 3, "7.4": 3, "8": 6,
	},
}

// A row is one requirement.
type row struct{ id, api, tests string }

// rows reads the tables of the page, by part.
func rows(t *testing.T) map[string][]row {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all, part := map[string][]row{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			part = title
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if part == "" || !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[0]) == "id" {
			continue
		}
		if len(cells) != 4 {
			t.Fatalf("%d cells, want 4: %s", len(cells), line)
		}
		all[part] = append(all[part], row{strings.TrimSpace(cells[0]), cells[2], cells[3]})
	}
	return all
}

func TestEveryRequirementIsThere(t *testing.T) {
	all := rows(t)
	for part, kinds := range wanted {
		seen := map[string]int{}
		for _, r := range all[part] {
			seen[r.id]++
		}
		for kind, n := range kinds {
			for i := range n {
				id := fmt.Sprintf("%s.%d", kind, i+1)
				switch kind {
				case "FR", "SC":
					id = fmt.Sprintf("%s-%03d", kind, i+1)
				case "Edge", "Row":
					id = fmt.Sprintf("%s %d", kind, i+1)
				}
				if seen[id] != 1 {
					t.Errorf("%s: %s is there %d times", part, id, seen[id])
				}
				delete(seen, id)
			}
		}
		for id := range seen {
			t.Errorf("%s: %s is no requirement", part, id)
		}
	}
	for part := range all {
		if wanted[part] == nil {
			t.Errorf("the part %q is not known", part)
		}
	}
}

var link = regexp.MustCompile("\\[`([^`\\]]+)`\\]\\(([^)]+)\\)")

func TestEveryRequirementHasATest(t *testing.T) {
	declared := map[string]map[string]bool{}
	for part, all := range rows(t) {
		for _, r := range all {
			if !link.MatchString(r.api) {
				t.Errorf("%s, %s: there is no link to what meets it", part, r.id)
			}
			tests := link.FindAllStringSubmatch(r.tests, -1)
			if len(tests) == 0 {
				t.Errorf("%s, %s: there is no link to a test", part, r.id)
			}
			for _, m := range tests {
				name, file := m[1], filepath.Join(filepath.Dir(page), m[2])
				if declared[file] == nil {
					declared[file] = tested(t, file)
				}
				if !declared[file][name] {
					t.Errorf("%s, %s: %s has no %s", part, r.id, m[2], name)
				}
			}
		}
	}
}

// tested are the names of the tests, fuzz targets and examples of a file.
func tested(t *testing.T, file string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil || !strings.HasSuffix(file, "_test.go") {
		t.Errorf("%s is no file of tests: %v", file, err)
		return names
	}
	for _, d := range f.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Body == nil || len(f.Body.List) == 0 {
			continue
		}
		for _, kind := range []string{"Test", "Fuzz", "Example"} {
			if strings.HasPrefix(f.Name.Name, kind) && f.Name.Name != "TestMain" {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
