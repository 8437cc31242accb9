package lazyregexp_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/dev/floors"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// TestPatterns compiles the pattern of every call of New in the module: a mistake
// would otherwise show at the first use only.
func TestPatterns(t *testing.T) {
	files, err := floors.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, f := range files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || types.ExprString(call.Fun) != "lazyregexp.New" {
				return true
			}
			calls++
			where := f.Files.Position(call.Pos())
			if pattern, ok := literal(call.Args[0]); !ok {
				t.Errorf("%s: the pattern is not a literal; use regexp.MustCompile, or write the whole pattern here", where)
			} else if _, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s: %v", where, err)
			}
			return true
		})
	}
	if calls < 100 {
		t.Errorf("found %d calls of New in %d files", calls, len(files))
	}
}

// literal returns the text of a literal, or of several that are joined with +.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok1 := literal(e.X)
		right, ok2 := literal(e.Y)
		return left + right, ok1 && ok2 && e.Op == token.ADD
	}
	return "", false
}

// TestFirstUse uses an expression for the first time in several goroutines at once.
func TestFirstUse(t *testing.T) {
	t.Parallel()
	word := lazyregexp.New(`b+`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := word.ReplaceAllString("abba", "-"); got != "a-a" {
				t.Errorf("got %q", got)
			}
		})
	}
	all.Wait()
}

func TestInvalidPattern(t *testing.T) {
	t.Parallel()
	broken := lazyregexp.New(`(`)
	if got := broken.String(); got != `(` {
		t.Errorf("the pattern is %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("the first use of a pattern that is not valid did not panic")
		}
	}()
	broken.MatchString("")
}

func TestMethods(t *testing.T) {
	t.Parallel()
	lazy, eager := lazyregexp.New(`a(b*)`), regexp.MustCompile(`a(b*)`)
	fixed := func(string) string { return "$1" }
	fixedBytes := func([]byte) []byte { return []byte("$1") }
	const text = "abba ab"
	for name, got := range map[string][2]any{
		"String":                {lazy.String(), eager.String()},
		"Match":                 {lazy.Match([]byte(text)), eager.Match([]byte(text))},
		"MatchString":           {lazy.MatchString("b"), eager.MatchString("b")},
		"FindString":            {lazy.FindString(text), eager.FindString(text)},
		"FindStringSubmatch":    {lazy.FindStringSubmatch(text), eager.FindStringSubmatch(text)},
		"FindAllString":         {lazy.FindAllString(text, 2), eager.FindAllString(text, 2)},
		"FindAllStringSubmatch": {lazy.FindAllStringSubmatch(text, 2), eager.FindAllStringSubmatch(text, 2)},
		"ReplaceAllString":      {lazy.ReplaceAllString(text, "<$1>"), eager.ReplaceAllString(text, "<$1>")},
		"ReplaceAllStringFunc":  {lazy.ReplaceAllStringFunc(text, fixed), eager.ReplaceAllStringFunc(text, fixed)},
		"ReplaceAllFunc":        {lazy.ReplaceAllFunc([]byte(text), fixedBytes), eager.ReplaceAllFunc([]byte(text), fixedBytes)},
	} {
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
