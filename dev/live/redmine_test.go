//go:build linux

package live

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sdk "github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/dev/redminetest"
)

// cannot is the exit status of a script that this machine cannot run.
const cannot = 3

// TestRedmine runs every script of calls over MCP on stdio against a real
// Redmine, which it starts, and then a task through the claude CLI.
func TestRedmine(t *testing.T) {
	node(t) // skips without make live
	server := startRedmine(t, "up.sh", t.TempDir())
	bin := build(t, "cmd/toolpost")
	t.Parallel() // only now, as two installations would get into each other's way
	redmineScripts(t, bin, server)
	t.Run("cost", func(t *testing.T) { redmineCost(t, api{server["REDMINE_URL"], server["REDMINE_API_KEY"]}) })
	t.Run("agent", func(t *testing.T) { redmineTask(t, bin, server) })
}

// TestRedmineNewer runs the scripts against the Redmine of a newer Debian, which
// is kept beside the other peers.
func TestRedmineNewer(t *testing.T) {
	node(t)
	if os.Getuid() != 0 {
		t.Skip("a Debian in a folder takes root")
	}
	server := startRedmine(t, "up-newer.sh", filepath.Join(os.Getenv("TOOLPOST_LIVE"), "debian-trixie-redmine", "srv", strconv.Itoa(os.Getpid())))
	bin := build(t, "cmd/toolpost")
	t.Parallel() // each Redmine takes one processor
	redmineScripts(t, bin, server)
}

func redmineScripts(t *testing.T, bin string, server map[string]string) {
	calls := 0
	for _, file := range redminetest.Scripts(t, "../redminetest/testdata") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			calls += redminetest.Run(t, file, server["REDMINE_VERSION"], overStdio(t, bin, server))
		})
	}
	t.Logf("%d calls to Redmine %s", calls, server["REDMINE_VERSION"])
	if calls < 150 {
		t.Errorf("only %d calls", calls)
	}
}

// startRedmine runs a script of the project that starts a seeded Redmine in dir.
// It returns the variables that the script prints: REDMINE_URL, REDMINE_API_KEY
// and the keys of other accounts. It skips the test if this machine does not have
// the packages and the scripts may not install them.
func startRedmine(t testing.TB, with, dir string) map[string]string {
	t.Helper()
	script := func(name string) *exec.Cmd {
		cmd := exec.Command("bash", filepath.Join("testdata/redmine", name))
		cmd.Env = append(os.Environ(), "REDMINE_DIR="+dir, "PORT="+freePort(t), "PURGE=1")
		return cmd
	}
	up := script(with)
	var told, log strings.Builder
	up.Stdout, up.Stderr = &told, &log
	t.Cleanup(func() {
		if out, err := script("down.sh").CombinedOutput(); err != nil {
			t.Errorf("stop Redmine: %v\n%s", err, out)
		}
	})
	switch err := up.Run(); {
	case err != nil && up.ProcessState.ExitCode() == cannot:
		t.Skipf("no Redmine on this machine: %s", log.String())
	case err != nil:
		t.Fatalf("start Redmine: %v\n%s", err, log.String())
	}
	known := map[string]string{}
	for line := range strings.Lines(told.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		known[name] = value
	}
	return known
}

// redmineEnv is the environment of a server for the user with a login.
func redmineEnv(server map[string]string, login string) map[string]string {
	key := "REDMINE_API_KEY"
	if login != "" {
		key += "_" + strings.ToUpper(login)
	}
	return map[string]string{"REDMINE_URL": server["REDMINE_URL"], "REDMINE_API_KEY": server[key]}
}

// overStdio starts a server for each user that calls.
func overStdio(t *testing.T, bin string, server map[string]string) redminetest.Caller {
	sessions := map[string]*mcp.ClientSession{}
	return func(ctx context.Context, as, tool, arguments string) (string, bool, error) {
		s := sessions[as]
		if s == nil {
			var env []string
			for name, value := range redmineEnv(server, as) {
				env = append(env, name+"="+value)
			}
			cmd := command(context.WithoutCancel(ctx), t, env, bin, "redmine")
			client := mcp.NewClient(&mcp.Implementation{Name: "live", Version: "1"}, nil)
			var err error
			if s, err = client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil); err != nil {
				return "", false, err
			}
			t.Cleanup(func() { s.Close() })
			sessions[as] = s
		}
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil {
			return "", false, err
		}
		var text strings.Builder
		for _, part := range r.Content {
			switch c := part.(type) {
			case *mcp.TextContent:
				text.WriteString(c.Text + "\n")
			case *mcp.ImageContent:
				text.WriteString(redminetest.Image(c.MIMEType, c.Data) + "\n")
			}
		}
		return text.String(), r.IsError, nil
	}
}

// redmineTask has an agent find its open issues, comment one, log time on it and
// close it. The status that it tries first is not allowed: the answer tells
// which are.
func redmineTask(t *testing.T, bin string, server map[string]string) {
	s := newStage(t, claude.bin(t))
	s.opts.MCPServers = map[string]*sdk.MCPServer{
		"redmine": {Command: bin, Args: []string{"redmine", "--group", "issues,time"}, Env: redmineEnv(server, "bob"), AlwaysLoad: true},
	}
	s.opts.AllowedTools = []string{"mcp__redmine"}
	call := func(id, tool string, input object) say { return uses(use{id, "mcp__redmine__" + tool, input}) }
	steps := []struct {
		id, tool string
		input    object
		want     string
	}{
		{"toolu_list", "list_issues", object{"assigned_to_id": "me", "project_id": "Alpha", "sort": "id"}, "ログイン画面が崩れる #4"},
		{"toolu_note", "update_issue", object{"id": "4", "notes": "Fixed in r12 <&>"}, "Fixed in r12"},
		{"toolu_time", "create_time_entry_for_issue", object{"issue_id": "4", "hours": "1h30m", "activity_id": "Development", "comments": "the fix"}, "the fix"},
		{"toolu_wrong", "update_issue", object{"id": "4", "status_id": "Rejected"}, "Statuses you can set now"},
		{"toolu_close", "update_issue", object{"id": "4", "status_id": "Resolved"}, "Resolved"},
	}
	for _, step := range steps {
		s.says(call(step.id, step.tool, step.input))
	}
	s.says(text("It is resolved."))
	s.must("Finish my oldest open issue of Alpha.", "It is resolved.")
	for _, step := range steps {
		if got := s.api.result(step.id); !strings.Contains(got, step.want) {
			t.Errorf("%s gives %.600s, want %s", step.tool, got, step.want)
		}
	}
}
