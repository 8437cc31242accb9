package stdtool

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

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
	}
	for _, tt := range tests {
		p, err := parsePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if full, inside := p.match(tt.name); full != tt.full || inside != tt.inside {
			t.Errorf("%s on %s: %v, %v", tt.pattern, tt.name, full, inside)
		}
	}
	for _, bad := range []string{"[", "a/[b", "/x", "../x", "x/..", strings.Repeat("{a,b}", 20)} {
		if p, err := parsePattern(bad); err == nil {
			t.Errorf("%s: %v", bad, p)
		}
	}
}

// FuzzPattern compares single-part patterns with path.Match, and checks that
// a pattern that may match below a folder never hides a match.
func FuzzPattern(f *testing.F) {
	for _, s := range [][2]string{{"**/*.go", "a/b.go"}, {"{a,b}/**", "a/x/y"}, {"[^a]*", "b"}, {`\{x`, "{x"}, {"a**b", "axb"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, s, name string) {
		p, err := parsePattern(s)
		if err != nil || len(p) > 16 {
			return
		}
		full, _ := p.match(name)
		if len(p) == 1 && len(p[0]) == 1 && p[0][0] != "**" && !strings.Contains(name, "/") {
			if want, _ := path.Match(p[0][0], name); full != want {
				t.Errorf("%q on %q: %v, want %v", s, name, full, want)
			}
		}
		for i, c := range name {
			if _, inside := p.match(name[:i]); c == '/' && full && !inside {
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
	for _, tool := range []*toolpost.Tool{Glob(root), Grep(root)} {
		r, err := tool.Handler(ctx, &toolpost.Call{Arguments: json.RawMessage(`{"pattern":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := r.FirstText(); !strings.Contains(text, "stopped after 20s") {
			t.Errorf("%s: %q", tool.Name, text)
		}
	}
}
