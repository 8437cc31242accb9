package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestKeepPrivate(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env = []string{"private"}, []string{"PATH=" + os.Getenv("PATH"), "MARK=seen"}
	if os.Geteuid() == 0 { // who may look at everything
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	before, after, _ := strings.Cut(string(out), "\n")
	if err != nil || !strings.Contains(before, "MARK=seen") || !strings.Contains(after, "ermission denied") {
		t.Errorf("before: %q, after: %q (%v)", before, after, err)
	}
}

// TestServersDoNotSeeEnvironment has a server of each command that starts
// servers look at our environment.
func TestServersDoNotSeeEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{dir: 0o777, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	const look = `exec 2>seen; cat /proc/$PPID/environ >seen; exit 3`
	config := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers": {"spy": {"command": "/bin/sh", "args": ["-c", "`+look+`"]}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"list", "--", "/bin/sh", "-c", look},
		{"list", "--config", config},
		{"call", "--config", config, "x"},
		{"lint", "--config", config},
		{"adapt", "--for", "mcp", "--config", config},
		{"run", "--model", "claude", "--config", config, "hello"},
		{"run", "--model", "demo", "--config", config, "hello"},
		{"serve", "--stdio", "--config", config},
	} {
		seen := filepath.Join(dir, "seen")
		_ = os.Remove(seen)
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
		cmd.Args = append([]string{"toolpost"}, args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MARK=seen", "CLAUDE_CLI_PATH=/bin/true"}
		if os.Geteuid() == 0 { // who may look at everything
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out, _ := cmd.CombinedOutput() // the server fails
		text, err := os.ReadFile(seen)
		if err != nil || !strings.Contains(string(text), "ermission denied") || strings.Contains(string(text), "MARK") {
			t.Errorf("%q: the server saw %q (%v)\n%s", args, text, err, out)
		}
	}
}
