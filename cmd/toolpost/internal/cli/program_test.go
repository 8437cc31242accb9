package cli

import (
	"slices"
	"testing"
)

// TestCommandLine: clients are given a program that is there after an upgrade too.
func TestCommandLine(t *testing.T) {
	for path, want := range map[string][]string{
		"/opt/bin/toolpost": {"/opt/bin/toolpost"},
		"/opt/npm/_npx/1a2b/node_modules/@toolpost/linux-x64/bin/toolpost": {"npx", "--yes", "toolpost"},
		"/opt/uv/archive-v0/x/bin/toolpost":                                {"uvx", "toolpost"},
		"/opt/uv/tools/toolpost/bin/toolpost":                              {"/opt/uv/tools/toolpost/bin/toolpost"},
		"/opt/homebrew/Cellar/toolpost/1.2.3/bin/toolpost":                 {"/opt/homebrew/bin/toolpost"},
		"/opt/go-build123/b001/exe/toolpost":                               {"toolpost"},
	} {
		if got := commandLine(path); !slices.Equal(got, want) {
			t.Errorf("%s is started with %q, want %q", path, got, want)
		}
	}
}
