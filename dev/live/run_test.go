//go:build unix

package live

import (
	"strings"
	"syscall"
	"testing"
)

// claudeEnv is the environment of a program that runs the claude command.
func claudeEnv(t *testing.T, api string) []string {
	return append([]string{
		"CLAUDE_CLI_PATH=" + claude.bin(t), "CLAUDE_CONFIG_DIR=" + t.TempDir(),
		"ANTHROPIC_BASE_URL=" + api, "ANTHROPIC_API_KEY=sk-ant-dummy",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
	}, quiet...)
}

// using calls a tool as soon as it is offered.
func using(name, arguments string) step {
	return func(tools []offered) (string, string, bool) {
		for _, tool := range tools {
			if tool.name == name {
				return name, arguments, true
			}
		}
		return "", "", false
	}
}

// TestRunCommand gives a task to the real claude command, with the tools of
// toolpost over the folder of the process.
func TestRunCommand(t *testing.T) {
	m := newModel(t, anthropic{}, using("mcp__tools__glob", `{"pattern":"*"}`))
	stdout, stderr, err := run(t, claudeEnv(t, m.URL), build(t, "cmd/toolpost"), "run", "--model", "claude/claude-sonnet-4-5", "What is here?")
	if err != nil || stdout != "done\n" {
		t.Errorf("%q, %v", stdout, err)
	}
	for _, want := range []string{"→ glob {\"pattern\":\"*\"}\n", "✓ glob ", " turns · ", "$0."} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error has no %q", want)
		}
	}
	if !m.saw(`"tool_result"`) {
		t.Error("the model was not told the result")
	}
	if got := len(m.offered()); got != 4 {
		t.Errorf("the model has %d tools, want those of toolpost only: %v", got, m.offered())
	}
	t.Log(stderr)
}

// TestRunCommandInterrupt interrupts the command while the model writes.
func TestRunCommandInterrupt(t *testing.T) {
	said := make(chan struct{}, 9)
	api := newPlaybook(t, talking(said))
	p := start(t, claudeEnv(t, api.URL), build(t, "cmd/toolpost"), "run", "--model=claude", "Talk.")
	receive(t, "the model is asked", said)
	p.stop(syscall.SIGINT)
	if code := p.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// TestExampleClaude runs the example that the README shows.
func TestExampleClaude(t *testing.T) {
	m := newModel(t, anthropic{}, using("mcp__tools__weather", `{"city":"Oslo"}`))
	stdout, stderr, err := run(t, claudeEnv(t, m.URL), build(t, "examples/claude"))
	if err != nil || !strings.HasPrefix(stdout, "done\n") || !strings.Contains(stdout, "2 turns, $0.") {
		t.Errorf("%q, %v\n%s", stdout, err, stderr)
	}
	if !m.saw("Sunny in Oslo") {
		t.Error("the model was not told what the tool said")
	}
}
