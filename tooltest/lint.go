package tooltest

import (
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Lint reports every place in ts that breaks a rule of the built-in dialect
// target, such as "claude-desktop", as an error of t. Findings that are advice,
// that the reader repairs itself, or that opts switches off are only logged.
// Opts may be nil.
func Lint(t testing.TB, ts toolpost.Toolset, target string, opts *dialect.Options) {
	t.Helper()
	d, err := dialect.Find(target)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := ts.Tools(t.Context())
	if err != nil {
		t.Fatalf("list tools: %v", err)
	}
	for _, f := range d.Lint(tools, opts) {
		switch {
		case f.Off != "":
			t.Logf("%s: %s: %s %s: off: %s", f.Tool, f.Rule, f.Pointer, f.Message, f.Off)
		case f.Effect.Advises():
			t.Logf("%s: %s: %s %s: %s", f.Tool, f.Rule, f.Pointer, f.Message, f.Effect)
		default:
			t.Errorf("%s: %s: %s %s: %s", f.Tool, f.Rule, f.Pointer, f.Message, f.Effect)
		}
	}
}
