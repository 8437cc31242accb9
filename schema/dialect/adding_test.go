package dialect_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/schema/dialect"
)

// A dialect is one file.
const addedDialect = `{"title": "Shouting", "extends": "mcp", "clients": [{"name": "shouter"}], "input": {"union": {"noList": true}}}`

// A rule is one file …
const addedRule = `package dialect

import "strings"

func loudRules() []*Rule {
	return []*Rule{{
		Name: "loud", Effect: advice,
		What:  "Descriptions shout.",
		Why:   "Else nobody listens.",
		Fix:   "Shout.",
		when:  func(d *Dialect) bool { return d.ID == "shouting" },
		check: check{text: loud},
	}}
}

func loud(v *view, text string) {
	if text != strings.ToUpper(text) {
		v.reportText("%q does not shout", text)
	}
}
`

// … and one line.
const (
	lastLine  = "\t\tkeywordRules(),\n"
	addedLine = "\t\tloudRules(),\n"
)

// addedTest is what then works.
const addedTest = `package dialect

import (
	"slices"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

func TestAdded(t *testing.T) {
	book, err := NewBook(nil)
	if err != nil {
		t.Fatal(err)
	}
	d := book.Choose("shouter", "1", "")
	if d.ID != "shouting" || !slices.ContainsFunc(Rules(), func(r *Rule) bool { return r.Name == "loud" && r.Demanded(d) }) {
		t.Fatalf("the dialect is %q", d.ID)
	}
	input := schema.MustParse(` + "`" + `{"type":"object","properties":{"a":{"type":["string","null"]}}}` + "`" + `)
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "a", Description: "soft", Input: input}}
	var rules []string
	for _, f := range d.Lint([]*toolpost.Tool{tool}, nil) {
		rules = append(rules, f.Rule)
	}
	if !slices.Equal(rules, []string{"shouting/loud", "shouting/type-list"}) {
		t.Errorf("findings: %q", rules)
	}
	if len(d.Adapt([]*toolpost.Tool{tool}, nil).Tools) != 1 {
		t.Error("the tool is not adapted")
	}
}
`

// TestAddingIsOneFileAndOneLine builds the package with a dialect and a rule
// more, added as CONTRIBUTING.md tells, and nothing else.
func TestAddingIsOneFileAndOneLine(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the package")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	book, err := os.ReadFile("rulebook.go")
	if err != nil || !strings.Contains(string(book), lastLine) {
		t.Fatalf("rulebook.go has no line %q: %v", lastLine, err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tests { // need not be compiled again
		overlay.Replace[filepath.Join(here, name)] = ""
	}
	for name, text := range map[string]string{
		"targets/shouting.json": addedDialect,
		"rule_loud.go":          addedRule,
		"rulebook.go":           strings.Replace(string(book), lastLine, lastLine+addedLine, 1),
		"added_test.go":         addedTest,
	} {
		file := filepath.Join(t.TempDir(), filepath.Base(name))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, filepath.FromSlash(name))] = file
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-overlay="+file, "-vet=off", "-run=^TestAdded$", "-v", ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestAdded") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestNoRuleIsForgotten says that what the files rule_*.go write is what Rules has.
func TestNoRuleIsForgotten(t *testing.T) {
	files, err := filepath.Glob("rule_*.go")
	if err != nil {
		t.Fatal(err)
	}
	var written, known []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				key, _ := kv.Key.(*ast.Ident)
				if value, ok := kv.Value.(*ast.BasicLit); ok && key != nil && key.Name == "Name" {
					text, _ := strconv.Unquote(value.Value)
					written = append(written, text)
				}
			}
			return true
		})
	}
	for _, r := range dialect.Rules() {
		known = append(known, r.Name)
	}
	slices.Sort(written)
	if diff := cmp.Diff(written, known); diff != "" {
		t.Errorf("-in files +in Rules\n%s", diff)
	}
}
