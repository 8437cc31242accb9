package tooltest_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/tooltest"
)

func TestLint(t *testing.T) {
	lint := func(target string, opts *dialect.Options, tools ...*toolpost.Tool) []string {
		v := &verdict{TB: t}
		tooltest.Lint(v, toolpost.Tools(tools), target, opts)
		return v.errors
	}
	tools := []*toolpost.Tool{greet("greet", "Greets (you)."), greet("good", "Greets.")}
	got := lint("claude-desktop", nil, tools...)
	if len(got) != 1 || !strings.HasPrefix(got[0], "greet: claude-desktop/description-characters: /description ") {
		t.Errorf("got %q", got)
	}
	if got := lint("mcp", nil, tools...); got != nil {
		t.Errorf("mcp: got %q", got)
	}
	off := &dialect.Options{Off: map[string]string{"description-characters": "nobody crashes"}}
	if got := lint("claude-desktop", off, tools...); got != nil {
		t.Errorf("switched off: got %q", got)
	}
}
