package stdtool

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern, name string
		full, inside  bool
	}{
		{"*", "a", true, false},
		{"*", "a/b", false, false},
		{"a/*", "a", false, true},
		{"a/*", "b", false, false},
		{"**", "a/b", true, true},
		{"**/*.go", "x.go", true, true},
		{"**/*.go", "a/b/x.go", true, true},
		{"**/*.go", "a/b/x.c", false, true},
		{"a/**/z", "a/z", true, true},
		{"a/**/z", "a/b/c/z", true, true},
		{"a/**/z", "b/z", false, false},
		{"a/**", "a", true, true},
		{"**/a/**/b", "a/a/x/a/b", true, true},
		{"*.{go,md}", "x.md", true, false},
		{"{a,b{c,d}}/x", "bd/x", true, false},
		{"{a}", "{a}", true, false},
		{`\{a,b}`, "{a,b}", true, false},
		{"./a", "a", true, false},
		{"[a-c]?", "b1", true, false},
		{"[a-c]?", "bé", true, false},
		{"[!a]*.go", "b.go", true, false},
		{"[!a]*.go", "a.go", false, false},
		{"*.[!g]o", "x.go", false, false},
		{"[^a]*", "b", true, false},
		{"[[:upper:]]*", "Makefile", true, false},
		{"[[:upper:]]*", "makefile", false, false},
		{"[-a]x", "-x", true, false},
		{"[a-]x", "-x", true, false},
		{"[]a]x", "]x", true, false},
		{"[^-]x", "-x", false, false},
		{`[\]]`, "]", true, false},
		{`[a\-c]`, "b", false, false},
		{"[é-ü]?", "öß", true, false},
		{"[!é]", "é", false, false},
		{"a/**/**", "a", true, true},
		{"a[+-9]b", "a/b", false, false},
		{"*/", "a", true, false},
		{"**/", "a/b", true, true},
		{"{x{a,b}}", "{xb}", true, false},
		{"{a{b,c}", "{ac", true, false},
		{"{a,b{c,d}}", "a", true, false},
	}
	for _, tt := range tests {
		p, err := parsePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if full, inside := p.match(tt.name, true); full != tt.full || inside != tt.inside {
			t.Errorf("%s on %s: %v, %v", tt.pattern, tt.name, full, inside)
		}
	}
	for _, bad := range []string{"[", "a/[b", "/x", "../x", "x/..", "{a,..}/x", "{/etc,a}", "[[:none:]]", "[z-a]", `a\`,
		strings.Repeat("{a,b}", 20), strings.Repeat("a", maxPattern+1)} {
		if p, err := parsePattern(bad); err == nil {
			t.Errorf("%s: %v", bad, p)
		}
	}
}

// TestPatternFolder checks that a slash at the end leaves files out.
func TestPatternFolder(t *testing.T) {
	p, err := parsePattern("**/{a/,b}")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]bool{"x/a": {false, true}, "x/b": {true, true}} {
		for i, folder := range []bool{false, true} {
			if full, _ := p.match(name, folder); full != want[i] {
				t.Errorf("%s, folder %v: %v", name, folder, full)
			}
		}
	}
}

// TestBraces checks that the number of alternatives is known before they take
// memory: a pattern of a request's size ended the process.
func TestBraces(t *testing.T) {
	before := testing.AllocsPerRun(1, func() {
		if all, ok := expandBraces(strings.Repeat("{a,b}", 200), maxAlternatives); ok {
			t.Errorf("%d alternatives", len(all))
		}
	})
	if before > 10_000 {
		t.Errorf("%v allocations", before)
	}
	for s, want := range map[string][]string{
		"{a,b}{c,d}":  {"ac", "ad", "bc", "bd"},
		"x{,y{1,2}}":  {"x", "xy1", "xy2"},
		`{a\,b,c}`:    {`a\,b`, "c"},
		"{{{{":        {"{{{{"},
		"{a}{b,c}}":   {"{a}b}", "{a}c}"},
		"{a,b":        {"{a,b"},
		"{a,{b,c}":    {"{a,b", "{a,c"},
		"{a,{b,c},d}": {"a", "b", "c", "d"},
	} {
		if all, ok := expandBraces(s, maxAlternatives); !ok || !slices.Equal(all, want) {
			t.Errorf("%s: %q, %v", s, all, ok)
		}
	}
}

// FuzzPattern compares single-part patterns with path.Match, and checks that
// a pattern that may match below a folder never hides a match.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{"**/*.go", "a/b.go"}, {"{b,a/}", "a"}, {"**/a", "a"}, {"{a,b}/**", "a/x/y"}, {"[^a]*", "b"}, {`\{x`, "{x"}, {"a**b", "axb"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, s, name string) {
		p, err := parsePattern(s)
		if err != nil || len(p) > 16 {
			return
		}
		full, _ := p.match(name, true)
		if file, _ := p.match(name, false); file != full && !slices.ContainsFunc(p, func(a alternative) bool { return a.folder }) {
			t.Errorf("%q on %q: %v for a folder, %v for a file", s, name, full, file)
		}
		if len(p) == 1 && !strings.Contains(path.Clean(s), "/") && path.Clean(s) != "**" && !strings.Contains(name, "/") && utf8.ValidString(name) {
			want, err := path.Match(path.Clean(s), name)
			if full != want && err == nil && !strings.Contains(s, "[!") && !strings.Contains(s, "[:") {
				t.Errorf("%q on %q: %v, want %v", s, name, full, want)
			}
		}
		for i, c := range name {
			if _, inside := p.match(name[:i], true); c == '/' && full && !inside {
				t.Errorf("%q matches %q but nothing inside %q", s, name, name[:i])
			}
		}
	})
}

// TestLate checks that a walk that takes too long returns what it found.
func TestLate(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errLate)
	for _, tool := range []*toolpost.Tool{NewWorkspace(root).Glob(), NewWorkspace(root).Grep()} {
		r, err := tool.Handler(ctx, &toolpost.Call{Arguments: json.RawMessage(`{"pattern":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := r.FirstText(); !strings.Contains(text, "stopped after 20s") {
			t.Errorf("%s: %q", tool.Name, text)
		}
	}
}
