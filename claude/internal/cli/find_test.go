//go:build unix

package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/claude/internal/cli"
)

// place makes a command at a path within a folder.
func place(t *testing.T, dir, path, script string, mode os.FileMode) string {
	t.Helper()
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// alone lets nothing of this machine be found but what is in a new folder, which
// is the working directory and the home.
func alone(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, value := range map[string]string{
		"HOME": dir, "PATH": dir + "/path", "CLAUDE_CLI_PATH": "", "NPM_CONFIG_PREFIX": "", "npm_config_prefix": "", "NVM_BIN": "", "PNPM_HOME": "",
	} {
		t.Setenv(name, value)
	}
	return dir
}

// Each place is preferred to those after it.
func TestFind(t *testing.T) {
	dir := alone(t)
	t.Setenv("NPM_CONFIG_PREFIX", dir+"/prefix")
	all := []string{
		"path/claude", ".claude/local/claude", ".claude/local/node_modules/.bin/claude", ".local/bin/claude", "prefix/bin/claude",
		".npm-global/bin/claude", ".nvm/versions/node/v22.1.0/bin/claude", ".nvm/versions/node/v20.1.0/bin/claude",
	}
	place(t, dir, ".claude/local/other", "", 0o755)
	for _, path := range all {
		place(t, dir, path, "", 0o755)
	}
	for _, path := range all {
		want := filepath.Join(dir, path)
		if got, err := cli.Find(""); err != nil || got != want {
			t.Errorf("Find() = %q, %v, want %q", got, err, want)
		}
		if err := os.Chmod(want, 0o644); err != nil { // what cannot be run is passed over
			t.Fatal(err)
		}
	}
}

// A repository may contain programs called claude. None of them is found
// unless it is named.
func TestFindIgnoresTheCurrentFolder(t *testing.T) {
	dir := alone(t)
	if _, err := cli.Find(""); err == nil {
		t.Skip("this machine has one in a folder of the system")
	}
	platform := "claude-code-" + runtime.GOOS + "-" + strings.ReplaceAll(runtime.GOARCH, "amd64", "x64")
	for _, path := range []string{
		"repo/claude", "repo/node_modules/.bin/claude", "repo/node_modules/@anthropic-ai/" + platform + "/claude", "repo/bin/claude",
		"repo/.local/bin/claude", "repo/.claude/local/claude", "repo/.claude/local/node_modules/.bin/claude", "repo/.volta/bin/claude",
	} {
		place(t, dir, path, "", 0o755)
	}
	t.Chdir(dir + "/repo")
	t.Setenv("HOME", ".")
	for _, name := range []string{"NPM_CONFIG_PREFIX", "npm_config_prefix", "NVM_BIN", "PNPM_HOME"} {
		t.Setenv(name, "./bin")
	}
	for _, path := range []string{"", ".", ":", "node_modules/.bin", "./bin:" + dir + "/path"} {
		t.Setenv("PATH", path)
		if got, err := cli.Find(""); err == nil {
			t.Errorf("with PATH=%q, Find found %q", path, got)
		}
		if got, err := cli.Find("claude"); err == nil || !strings.Contains(err.Error(), `write "./claude"`) {
			t.Errorf("with PATH=%q, Find(claude) = %q, %v", path, got, err)
		}
	}
	t.Setenv("PATH", ".:"+dir+"/path")
	want := place(t, dir, "path/claude", "", 0o755)
	if got, err := cli.Find(""); got != want || err != nil {
		t.Errorf("behind a relative folder of PATH: got %q, %v, want %q", got, err, want)
	}
}

func TestFindNone(t *testing.T) {
	dir := alone(t)
	_, err := cli.Find("")
	var missing *cli.NotFoundError
	if err == nil {
		t.Skip("this machine has one in a folder of the system")
	}
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "npm install -g @anthropic-ai/claude-code") || len(err.Error()) > 250 ||
		!slices.Contains(missing.Looked, dir+"/.local/bin/claude") {
		t.Errorf("got %v", err)
	}
}

func TestFindNamed(t *testing.T) {
	dir := alone(t)
	inPath := place(t, dir, "path/claude", "", 0o755)
	other := place(t, dir, "path/claude-next", "", 0o755)
	locked := place(t, dir, "locked", "", 0o644)
	relative := place(t, dir, "own/claude", "", 0o755)
	tests := map[string]struct {
		path, env string
		want      string
		err       string
	}{
		"PATH":            {want: inPath},
		"a path":          {path: relative, env: other, want: relative},
		"a relative path": {path: "own/claude", want: relative},
		"the environment": {env: relative, want: relative},
		"a name":          {path: "claude-next", want: other},
		"not there":       {path: dir + "/missing", err: "npm install"},
		"not in there":    {env: dir + "/missing", err: dir + "/missing"},
		"not executable":  {path: locked, err: "chmod +x"},
		"a folder":        {path: dir, err: "folder"},
		"no name":         {path: "claude-last", err: "claude-last"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CLAUDE_CLI_PATH", tt.env)
			got, err := cli.Find(tt.path)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Find(%q) = %q, %v, want %q, %q", tt.path, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestSupported(t *testing.T) {
	for version, want := range map[string]bool{
		"2.0.0": true, "2.1.329": true, "2.0.0-beta.1": true, "10.0.0": true, "2.1.329 (Claude Code)": true,
		"1.9.999": false, "1.0.128": false, "0.2.9": false,
	} {
		err := cli.Supported(version)
		var old *cli.VersionError
		if (err == nil) != want || err != nil && !errors.As(err, &old) {
			t.Errorf("Supported(%q) = %v", version, err)
		}
	}
	for _, version := range []string{"", "two", "2.0"} {
		if cli.Supported(version) == nil {
			t.Errorf("Supported(%q) succeeds", version)
		}
	}
}
