//go:build unix

package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuthNewUser is what a new user does whose Claude Code is linked to Toolpost: two
// commands later it uses a server that wants a login.
func TestAuthNewUser(t *testing.T) {
	cli := claude.bin(t)
	server := newProtectedServer(t, newAuthServer(t, "oidc-provider", object{}), false)
	home := t.TempDir()
	project := filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	api := newModel(t, anthropic{}, using("mcp__toolpost__tracker__read", `{}`))
	env := append([]string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"), "XDG_STATE_HOME=" + filepath.Join(home, ".state"),
		"TOOLPOST_VAULT=files", "BROWSER=true", // the machine has no keyring, and the test is the browser
		"ANTHROPIC_BASE_URL=" + api.URL, "ANTHROPIC_API_KEY=sk-ant-dummy", "ENABLE_TOOL_SEARCH=false",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
	}, quiet...)
	toolpost := build(t, "cmd/toolpost")
	if out, errs, err := run(t, env, toolpost, "link", "claude-code", "--yes"); err != nil {
		t.Fatalf("link: %v\n%s%s", err, out, errs)
	}

	out, errs, err := run(t, env, toolpost, "add", server.resource(), "--name", "tracker", "--yes")
	if err != nil || !strings.Contains(out+errs, "toolpost login tracker") {
		t.Fatalf("add: %v\n%s%s", err, out, errs)
	}
	t.Logf("add:\n%s%s", out, errs)

	login := start(t, env, toolpost, "login", "tracker")
	address := ""
	until(t, "login prints an address", func() error {
		for line := range strings.Lines(login.output.String()) {
			if strings.HasPrefix(line, "http") && strings.HasSuffix(line, "\n") {
				address = strings.TrimSpace(line)
				return nil
			}
		}
		return errors.New("not yet")
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, page, err := newBrowser().visit(ctx, address); err != nil {
		t.Fatalf("the browser: %v\n%s", err, page)
	}
	login.wait()
	t.Logf("login:\n%s", &login.output)

	out, errs, err = run(t, env, cli, "-p", "hello", "--model=claude-sonnet-4-5", "--allowedTools=mcp__toolpost")
	if err != nil || strings.TrimSpace(out) != "done" {
		t.Fatalf("claude: %v\n%s%s", err, out, errs)
	}
	if !api.saw("read something") {
		t.Errorf("the model did not get the result; it was offered %v", api.offered())
	}
}
