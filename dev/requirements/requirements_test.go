package requirements

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	page = "../../docs/evidence/requirements.md"

	// fixture lists, for each part of the page, the lines of its file that are
	// not empty. TestFixture compares it with the files.
	fixture = "testdata/lines.txt"
	folder  = "TOOLPOST_REQUIREMENTS"

	noLines = "In Go" // the part that belongs to no file
)

// files are the files of requirements by the part of the page that covers them.
func files() [][2]string {
	return [][2]string{
		{"Tools and MCP", "1-tool-and-mcp-system.md"},
		{"The bridge", "2-sdk-bridge.md"},
		{"The MCP client", "3-mcp-client.md"},
		{"Standard tools and output", "4-tools.md"},
		{"Descriptions of tools", "5-client-limits-redmine.md"},
	}
}

// A part is a section of the page.
type part struct {
	rows   []row
	silent []int // the lines that ask for nothing
}

// A row is one requirement.
type row struct {
	id         string
	lines      []int
	api, tests string
}

// parts reads the page.
func parts(t *testing.T) map[string]*part {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all, title := map[string]*part{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			title = name
			all[title] = &part{}
		}
		if list, ok := strings.CutPrefix(line, "Lines that ask for nothing: "); ok {
			all[title].silent = numbers(t, list)
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if title == "" || !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[0]) == "id" {
			continue
		}
		if title == noLines {
			cells = slices.Insert(cells, 1, "")
		}
		if len(cells) != 5 {
			t.Fatalf("%s: %d cells: %s", title, len(cells), line)
		}
		all[title].rows = append(all[title].rows, row{strings.TrimSpace(cells[0]), numbers(t, cells[1]), cells[3], cells[4]})
	}
	return all
}

var span = regexp.MustCompile(`(\d+)(?:–(\d+))?`)

// numbers reads lines such as "12, 14–16".
func numbers(t *testing.T, text string) (all []int) {
	t.Helper()
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[1])
		last, _ := strconv.Atoi(m[2]) // 0 for a single line
		for n := first; n <= max(first, last); n++ {
			all = append(all, n)
		}
	}
	return all
}

// TestEveryLineIsThere checks that each line of the files is in a row, or in the
// list of lines that ask for nothing, and not in both.
func TestEveryLineIsThere(t *testing.T) {
	text, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	all := parts(t)
	for _, f := range files() {
		list, found := "", false
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, f[0]+": "); ok {
				list, found = rest, true
			}
		}
		p := all[f[0]]
		if !found || p == nil {
			t.Errorf("%s has no part %q", page, f[0])
			continue
		}
		var covered []int
		for _, r := range p.rows {
			if len(r.lines) == 0 {
				t.Errorf("%s: %s is about no line", f[0], r.id)
			}
			covered = append(covered, r.lines...)
		}
		for _, n := range p.silent {
			if slices.Contains(covered, n) {
				t.Errorf("%s: line %d is in a row and asks for nothing", f[0], n)
			}
		}
		covered = append(covered, p.silent...)
		slices.Sort(covered)
		if want := numbers(t, list); !slices.Equal(slices.Compact(covered), want) {
			t.Errorf("%s covers the lines\n%v, the file has\n%v", f[0], slices.Compact(covered), want)
		}
	}
}

// TestRowsAreUnique checks that no part has two rows with the same id, and that
// every part has a file.
func TestRowsAreUnique(t *testing.T) {
	for title, p := range parts(t) {
		if title != noLines && !slices.ContainsFunc(files(), func(f [2]string) bool { return f[0] == title }) {
			t.Errorf("the part %q is about no file", title)
		}
		seen := map[string]bool{}
		for _, r := range p.rows {
			if seen[r.id] {
				t.Errorf("%s: two rows are called %s", title, r.id)
			}
			seen[r.id] = true
		}
	}
}

// TestFixture compares the fixture with the files in the folder that
// TOOLPOST_REQUIREMENTS names, which are no part of this repository.
func TestFixture(t *testing.T) {
	dir := os.Getenv(folder)
	if dir == "" {
		t.Skip("set " + folder + " to the folder of the requirements")
	}
	var want bytes.Buffer
	for _, f := range files() {
		text, err := os.ReadFile(filepath.Join(dir, f[1]))
		if err != nil {
			t.Fatal(err)
		}
		var spans []string
		first, last := 0, -1
		end := func() {
			switch {
			case first == 0:
			case first == last:
				spans = append(spans, strconv.Itoa(first))
			default:
				spans = append(spans, fmt.Sprintf("%d–%d", first, last))
			}
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			if i != last {
				end()
				first = i + 1
			}
			last = i + 1
		}
		end()
		fmt.Fprintf(&want, "%s: %s\n", f[0], strings.Join(spans, ", "))
	}
	got, err := os.ReadFile(fixture)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s differs from the files (%v); it should be\n%s", fixture, err, want.Bytes())
	}
}

var link = regexp.MustCompile("\\[`([^`\\]]+)`\\]\\(([^)]+)\\)")

// TestEveryRequirementHasATest checks that each row links to what meets it, and
// names a test.
func TestEveryRequirementHasATest(t *testing.T) {
	for title, p := range parts(t) {
		for _, r := range p.rows {
			api := link.FindAllStringSubmatch(r.api, -1)
			if len(api) == 0 {
				t.Errorf("%s, %s: no link to what meets it", title, r.id)
			}
			for _, m := range api {
				if !contains(t, filepath.Join(filepath.Dir(page), m[2]), m[1]) {
					t.Errorf("%s, %s: %s has no %s", title, r.id, m[2], m[1])
				}
			}
			if !testName.MatchString(r.tests) {
				t.Errorf("%s, %s: no test", title, r.id)
			}
		}
	}
}

// contains reports whether a file has the last word of a name such as bind.New, a Go
// file of a folder has it, or the name is that of the file.
func contains(t *testing.T, path, name string) bool {
	t.Helper()
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name[strings.LastIndex(name, ".")+1:]) + `\b`)
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil || files == nil {
		files = []string{path}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(file, "_test.go") && word.Match(text) {
			return true
		}
	}
	return strings.TrimSuffix(filepath.Base(path), ".json") == name
}
