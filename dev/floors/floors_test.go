package floors_test

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/floors"
)

const (
	root = "../.."
	sdk  = root + "/sdk" // a module of its own
)

func TestModule(t *testing.T) {
	files, err := floors.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found only %d files", len(files))
	}
	for _, p := range floors.Stale(files) {
		t.Error(p)
	}
	for _, gate := range floors.Gates() {
		t.Run(gate.Name, func(t *testing.T) {
			for _, p := range gate.Check(files) {
				t.Error(p)
			}
		})
	}
}

// TestSDK checks the module sdk, which has floors and outside modules of its own.
func TestSDK(t *testing.T) {
	files, err := floors.Load(sdk)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no files")
	}
	for _, gate := range floors.Gates() {
		if gate.Name == "floor order" || gate.Name == "outside modules" {
			continue
		}
		for _, p := range gate.Check(files) {
			t.Errorf("sdk/%s", p)
		}
	}
}

// TestStale checks that an entry of the tables that names no package, or a
// module that its package does not import, is a problem.
func TestStale(t *testing.T) {
	f, err := floors.Parse(token.NewFileSet(), "gateway/x.go", "package gateway\nimport _ \"github.com/go-json-experiment/json\"")
	if err != nil {
		t.Fatal(err)
	}
	found := fmt.Sprint(floors.Stale([]*floors.File{f}))
	for text, want := range map[string]bool{
		`there is no package in "upstream"`:                 true,
		`package "upstream" does not import github.com/go-`: true,
		`"gateway"`: false,
	} {
		if strings.Contains(found, text) != want {
			t.Errorf("%s is a problem: %v; found %s", text, !want, found)
		}
	}
}

// TestLinksThroughOthers checks that a source is found behind other packages.
func TestLinksThroughOthers(t *testing.T) {
	set := token.NewFileSet()
	var files []*floors.File
	for path, imported := range map[string]string{"serve/x.go": "upstream", "upstream/x.go": "redmine", "redmine/x.go": "bind"} {
		f, err := floors.Parse(set, path, "package x\nimport _ \"github.com/toolpost/toolpost/"+imported+"\"")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if found := floors.Links(files); len(found) != 1 || !strings.HasPrefix(found[0].Where, "upstream/x.go:2") || !strings.Contains(found[0].What, `into "serve"`) {
		t.Errorf("found %v", found)
	}
}

// TestExamples checks that every package for others has an Example that runs.
func TestExamples(t *testing.T) {
	files, err := floors.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	converters, err := floors.Load(sdk)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range converters {
		f.Package = "sdk/" + f.Package
	}
	files = append(files, converters...)
	runs := regexp.MustCompile(`(?ms)^func Example\w*\(\) \{$.*?^\t// (Unordered o|O)utput:`)
	checked := map[string]bool{}
	for _, f := range files {
		if checked[f.Package] || f.Syntax.Name.Name == "main" || strings.Contains("/"+f.Package, "/internal/") || strings.HasPrefix(f.Package, "dev/") {
			continue
		}
		checked[f.Package] = true
		var tests strings.Builder
		for _, text := range texts(t, filepath.Join(f.Package, "*_test.go")) {
			tests.WriteString(text)
		}
		if !runs.MatchString(tests.String()) {
			t.Errorf("package %q has no Example with an output; add one to example_test.go", f.Package)
		}
	}
	if len(checked) < 20 {
		t.Errorf("only %d packages are checked", len(checked))
	}
}

// Each gate finds what it is for, and leaves its neighbour alone. A case is
// one file of the module, with "want" the texts of its problems.
func TestGates(t *testing.T) {
	lines := func(n int, s string) string { return strings.Repeat(s+"\n", n) }
	fields := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	tests := []struct {
		name, path, source string
		check              func([]*floors.File) []floors.Problem
		want               []string
	}{
		{"init", "x.go", "func init() {}\ntype t int\nfunc (t) init() {}", floors.Words, []string{"function init"}},
		{"a lower floor", "gateway/x.go", `import _ "github.com/toolpost/toolpost/upstream"`, floors.Order, nil},
		{"the root's floor", "upstream/x.go", `import _ "github.com/toolpost/toolpost"`, floors.Order, nil},
		{"the next floor", "upstream/x.go", `import _ "github.com/toolpost/toolpost/mcpserver"`, floors.Order, []string{`imports "mcpserver"`}},
		{"the same folder", "claude/x.go", `import _ "github.com/toolpost/toolpost/claude/message"`, floors.Order, nil},
		{"a folder in a folder", "internal/policy/x/x.go", `import _ "github.com/toolpost/toolpost/observe"`, floors.Order, nil},
		{"the ground", "internal/x/x.go", `import _ "github.com/toolpost/toolpost/internal/policy/x"`, floors.Order, []string{`imports "internal/policy/x"`}},
		{"a higher floor", "x.go", `import _ "github.com/toolpost/toolpost/gateway"`, floors.Order, []string{`imports "gateway"`}},
		{"repository tools from below", "gateway/x.go", `import _ "github.com/toolpost/toolpost/dev/floors"`, floors.Order, []string{`imports "dev/floors"`}},
		{"repository tools above all", "dev/x/x.go", `import _ "github.com/toolpost/toolpost/gateway"`, floors.Order, nil},
		{"no folder", "gadget/x.go", ``, floors.Order, []string{`"gadget" is in no folder`}},
		{"a package of a package", "gateway/inner/x.go", `import _ "github.com/toolpost/toolpost/gateway"`, floors.Order, nil},
		{"the root in a folder", "schema/x.go", `import _ "github.com/toolpost/toolpost"`, floors.Order, []string{`imports ""`}},
		{"imported from no floor", "gateway/x.go", `import _ "github.com/toolpost/toolpost/gadget"`, floors.Order, []string{`imports "gadget"`}},
		{"another module's name begins like ours", "gateway/x.go", `import _ "github.com/toolpost/toolpostal"`, floors.Modules, []string{"may not import"}},

		{"a source in the gateway", "gateway/x.go", `import _ "github.com/toolpost/toolpost/redmine"`, floors.Links, []string{`links "redmine" into "gateway"`}},
		{"a source in a program", "cmd/toolpost/x.go", `import _ "github.com/toolpost/toolpost/redmine"`, floors.Links, nil},

		{"standard library", "usage/x.go", `import _ "net/http"`, floors.Modules, nil},
		{"allowed module", "dev/soak/x.go", `import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, floors.Modules, nil},
		{"module of others", "gateway/x.go", `import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, floors.Modules, []string{`"gateway" may not import`}},
		{"module for nobody", "x.go", `import _ "example.com/x"`, floors.Modules, []string{`"" may not import example.com/x`}},
		{"internal has no modules", "internal/x/x.go", `import _ "example.com/x"`, floors.Modules, []string{"may not import"}},

		{"400 lines", "x.go", lines(397, "//"), floors.Size, nil},
		{"401 lines", "x.go", lines(400, "//"), floors.Size, []string{"the file has 40"}},
		{"60 lines", "x.go", "func f() {\n" + lines(58, "//") + "}", floors.Size, nil},
		{"61 lines", "x.go", "func f() {\n" + lines(59, "//") + "}", floors.Size, []string{"f has 61 lines"}},
		{"61 lines in a variable", "x.go", "var f = func() {\n" + lines(59, "//") + "}", floors.Size, []string{"function literal has 61 lines"}},
		{"complexity 12", "x.go", "func f(b bool) {\n" + lines(11, "if b {}") + "}", floors.Size, nil},
		{"complexity 13", "x.go", "func f(b bool) {\n" + lines(12, "if b {}") + "}", floors.Size, []string{"complexity 13"}},
		{"complexity of all branches", "x.go", `func f(b bool, c chan int) {
			for b {}
			for range c {}
			switch { case b: if b { return }; case !b: default: }
			select { case <-c: case c <- 1: default: }
			_ = b && b || b && b || b
			func() { if b { return } }()
		}`, floors.Size, []string{"complexity 13"}},
		{"a switch as a table", "x.go", "func f(n int) int {\nswitch n {\n" + fields(20, "case %d: return 1") + "}\nreturn 0\n}", floors.Size, nil},
		{"a switch that branches in an arm", "x.go", "func f(n int) {\nswitch n {\n" + fields(11, "case %d: n++") + "case 12: if n > 0 {}\n}\n}", floors.Size, []string{"complexity 14"}},
		{"a switch of long arms", "x.go", "func f(n int) {\nswitch n {\n" + fields(12, "case %d: n++; n++") + "}\n}", floors.Size, []string{"complexity 13"}},

		{"no package comment", "store/x.go", ``, floors.Documentation, []string{"0 package comments"}},
		{"package comment", "store/x.go", "// Package store keeps.\npackage store", floors.Documentation, nil},
		{"package comment of another", "store/x.go", "// Package shop keeps.\npackage store", floors.Documentation, []string{`"Package store"`}},
		{"a command's comment", "cmd/toolpost/x.go", "// Toolpost serves.\npackage main", floors.Documentation, nil},
		{"documented names", "x.go", `// Package x is.
package x

// F does.
func F() {}

// A T is.
type T struct{}

// M does.
func (T) M() {}

func (T) Error() string { return "" }
func (T) m() {}

type t struct{}

func (t) M() {}

// Kinds of T.
const (
	A = 1
	B = 2
)

const (
	C = 1 // one
	// D is two.
	D = 2
	e = 3
)

type (
	// G is.
	G int
)
`, floors.Documentation, nil},
		{"undocumented names", "x.go", `// Package x is.
package x

func F() {}

type T struct{}

func (*T) M() {}

// N is documented, but as another.
func (T) O() {}

var V int

const (
	A = 1
	B = 2 // two
)

// Things.
type (
	G int
)
`, floors.Documentation, []string{"F is not", "T is not", "M is not", "O does not begin", "V is not", "A is not", "G is not"}},

		{"good words", "store/x.go", "// Things to do, in todo.txt under /home.\nvar s = \"it failed to\"\nvar u = \"https://example.com/home/page\"", floors.Words, nil},
		{"vague package", "internal/utils/x.go", ``, floors.Words, []string{"package utils"}},
		{"package of the standard library", "internal/http/x.go", ``, floors.Words, []string{"package http"}},
		{"work to do", "x.go", "// TO" + "DO: more.\nfunc f() { /* FIX" + "ME */ }", floors.Words, []string{"work to do", "work to do"}},
		{"work to do as a name", "x.go", "import \"context\"\nvar c = context.TO" + "DO()", floors.Words, []string{"work to do"}},
		{"failed to", "x.go", "var a, b = \"failed to open\", `Failed to open`", floors.Words, []string{"a text begins", "a text begins"}},
		{"machine paths", "x.go", "var a = \"/home/me/x\" // and /wo" + "rk/x", floors.Words, []string{"on one machine: \"/home"}},
		{"registry host", "x.go", "var a = \"https://registry.npmjs" + ".org/x\"", floors.Words, []string{"on one machine"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			source := test.source
			if !strings.Contains(source, "\npackage ") {
				source = "package x\n\n" + source
			}
			f, err := floors.Parse(token.NewFileSet(), test.path, source)
			if err != nil {
				t.Fatal(err)
			}
			got := test.check([]*floors.File{f})
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(fmt.Sprint(got), want) {
					t.Errorf("got %q, want %q among them", got, want)
				}
			}
		})
	}
}

// Rules of packages hold over all their files.
func TestGatesOverFiles(t *testing.T) {
	set := token.NewFileSet()
	parse := func(path, source string) *floors.File {
		f, err := floors.Parse(set, path, source)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a := parse("store/a.go", "// Package store keeps.\npackage store\n\nvar v int\n\ntype T struct{}\n\n"+strings.Repeat("func (T) M() {}\n", 7))
	b := parse("store/b.go", "// Package store keeps.\npackage store\n\nfunc f() { v = 1 }\n\n"+strings.Repeat("func (*T) M() {}\n", 6))
	for _, test := range []struct {
		check func([]*floors.File) []floors.Problem
		want  string
	}{
		{floors.Documentation, "store/b.go:2: the package has 2 package comments, want one"},
	} {
		if got := test.check([]*floors.File{a, b}); !strings.Contains(fmt.Sprint(got), test.want) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestGround checks that the ground may have 26 packages and 12,000 lines, in whatever folders
// of internal, and that access, policy and folders outside do not count.
func TestGround(t *testing.T) {
	set := token.NewFileSet()
	folder := func(name string, packages, lines int) (files []*floors.File) {
		for i := range packages {
			path := fmt.Sprintf("%s/p%d/x.go", name, i)
			f, err := floors.Parse(set, path, "package x\n"+strings.Repeat("\n", lines-1))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		return files
	}
	others := slices.Concat(folder("internal/room", 1, 400),
		folder("internal/access", 30, 500), folder("internal/policy", 30, 500), folder("gateway/internal", 30, 500))
	for _, test := range []struct {
		packages, lines int
		want            []string
	}{
		{25, 464, nil},
		{26, 300, []string{"27 packages"}},
		{25, 465, []string{"12025 lines"}},
		{26, 464, []string{"27 packages", "12464 lines"}},
	} {
		got := floors.Ground(append(folder("internal", test.packages, test.lines), others...)) // and one in a room
		if len(got) != len(test.want) {
			t.Errorf("%d packages of %d lines: got %q, want %q", test.packages, test.lines, got, test.want)
		}
		for _, want := range test.want {
			if !strings.Contains(fmt.Sprint(got), want) {
				t.Errorf("%d packages of %d lines: got %q, want %q", test.packages, test.lines, got, want)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"x.go", "x_test.go", "a/b.go", "a/testdata/c.go", "tools/go.mod", "tools/d.go", "a/tools/f.go", "a/own/go.mod", "a/own/deep/g.go", ".git/e.go"} {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("package p\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := floors.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Package+":"+f.Path)
	}
	if want := "[a:a/b.go a/tools:a/tools/f.go :x.go]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := floors.Load(dir); err == nil {
		t.Error("a file that does not parse: no error")
	}
}
