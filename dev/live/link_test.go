package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinkedClients checks that real clients list the gateway after toolpost link,
// and do not after toolpost link --undo.
func TestLinkedClients(t *testing.T) {
	for _, tt := range []struct {
		agent *agent
		id    string
	}{{claude, "claude-code"}, {geminiCLI, "gemini-cli"}, {codex, "codex"}, {opencode, "opencode"}} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			program := []string{tt.agent.bin(t)}
			if strings.HasSuffix(program[0], ".js") {
				program = append([]string{node(t)}, program...)
			}
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
				t.Fatal(err)
			}
			config := filepath.Join(home, "toolpost.json")
			write(t, config, `{"mcpServers": {}}`)
			env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "GEMINI_CLI_TRUST_WORKSPACE=true"}
			lists := func() bool {
				out, errs, err := run(t, env, program[0], append(program[1:], "mcp", "list")...)
				if err != nil {
					t.Fatalf("mcp list: %v\n%s%s", err, out, errs)
				}
				return strings.Contains(out+errs, "toolpost")
			}
			for _, args := range [][]string{{"link", tt.id, "--yes", "--config", config}, {"link", tt.id, "--undo", "--yes"}} {
				if out, errs, err := run(t, env, build(t, "cmd/toolpost"), args...); err != nil {
					t.Fatalf("%v: %v\n%s%s", args, err, out, errs)
				}
				if got := lists(); got != (len(args) == 5) {
					t.Errorf("after %v the client lists it: %v", args, got)
				}
			}
		})
	}
}
