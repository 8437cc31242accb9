package accept_test

import (
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
)

// TestRealTools holds the rules against what was observed: replayed into
// Claude Code, all tools of these servers arrived but those of gitlab-ref.
func TestRealTools(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"mcp", "claude-code", "anthropic"} {
		refused := map[string]int{}
		for _, s := range accept.Tools() {
			for _, v := range accept.Check(target, []accept.Tool{tool(t, s)}) {
				if v.Rule == "claude-code/output" || v.Rule == "claude-code/description" {
					continue // lost in a call or cut, but sent
				}
				if refused[s.Server]++; s.Server != "gitlab-ref" {
					t.Errorf("%s refuses %s: %s", target, s.Server, v)
				}
			}
		}
		if refused["gitlab-ref"] < 9 {
			t.Errorf("%s accepts tools of gitlab-ref", target)
		}
	}
}
