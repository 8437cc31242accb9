package schema_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// suiteDir returns the official JSON-Schema-Test-Suite, which ships as test
// data of a module that the MCP SDK needs.
func suiteDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		t.Fatalf("find the test suite; run go mod download: %v", err)
	}
	return dir
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// expectedFailures reads lines "file | group | test | reason".
func expectedFailures(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile("testdata/suite-failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 4 || parts[3] == "" {
			t.Fatalf("suite-failures.txt: want file | group | test | reason: %s", line)
		}
		list[strings.Join(parts[:3], " | ")] = true
	}
	return list
}

func TestSuite(t *testing.T) {
	dir := suiteDir(t)
	expected := expectedFailures(t)
	passed := 0
	for _, draft := range []struct{ name, dialect string }{
		{"draft7", "http://json-schema.org/draft-07/schema#"},
		{"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
	} {
		files, err := filepath.Glob(filepath.Join(dir, draft.name, "*.json"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d files of %s, %v", len(files), draft.name, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var list []suiteGroup
			if err := json.Unmarshal(raw, &list); err != nil {
				t.Fatal(err)
			}
			for _, g := range list {
				v := compile(t, withDialect(string(g.Schema), draft.dialect))
				for _, test := range g.Tests {
					name := draft.name + "/" + filepath.Base(file) + " | " + g.Description + " | " + test.Description
					_, listed := expected[name]
					switch right := (v.Validate(test.Data) == nil) == test.Valid; {
					case right:
						passed++
					case listed && !test.Valid && len(v.Report()) > 0: // accepted, and reported as not checked
						expected[name] = false
					default:
						t.Errorf("%s: want valid %v; report %v", name, test.Valid, v.Report())
					}
				}
			}
		}
	}
	for name, stale := range expected {
		if stale {
			t.Errorf("suite-failures.txt: %s passes", name)
		}
	}
	t.Logf("%d tests passed", passed)
}

func withDialect(raw, dialect string) string {
	if !strings.HasPrefix(raw, "{") || strings.Contains(raw, `"$schema"`) {
		return raw
	}
	if rest := strings.TrimSpace(raw[1:]); rest != "}" {
		return `{"$schema":"` + dialect + `",` + rest
	}
	return `{"$schema":"` + dialect + `"}`
}
