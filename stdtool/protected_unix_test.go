//go:build unix

package stdtool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProtected tries to change files that make other programs run commands, by
// every name that some file system takes for them.
func TestProtected(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f", []byte("text\n"))
	write(t, dir, "plugin/.claude/settings.json", []byte("{}\n"))
	write(t, dir, "copilot/hooks/x.json", []byte("{}\n"))
	write(t, dir, "real/tasks.json", []byte("{}\n"))
	set := workspace(t, dir)
	before := tree(t, dir)
	paths := []string{
		"toolpost.json", "sub/toolpost.json", ".mcp.json", ".vscode/tasks.json", ".vscode/settings.json", ".vscode/mcp.json", "my.code-workspace", "toolpost/trusted/0a.toolpost-trust", "toolpost/pins/0a.toolpost-pins", "toolpost/callers/0a.toolpost-secret", "toolpost.lock", "my.toolpost.lock",
		".envrc", ".claude/settings.json", ".claude/hooks/x.sh", ".cursor/mcp.json", ".gemini/settings.json", ".codex/config.toml", ".idea/workspace.xml",
		".devcontainer/devcontainer.json", ".devcontainer.json", ".husky/pre-commit", "opencode.json", ".zed/tasks.json", ".windsurf/x", ".continue/config.yaml",
		".npmrc", ".hg/hgrc", ".config/fish/config.fish", ".bashrc", ".cargo/config.toml",
		".githooks/pre-commit", "lefthook.yaml", "lefthook.toml", ".lefthook.json", ".lefthook/pre-commit/x", ".Rprofile", ".emacs.d/init.el", ".cshrc",
		".local/bin/ls", ".copilot/mcp-config.json", ".yarn/releases/yarn.cjs",
		"Toolpost.JSON", "TOOLPO~1.JSO", "toolpost.json.", "toolpost.json ", "toolpost.json . .", "toolpost.json::$DATA", "tool\u200cpost.json", "\ufefftoolpost.json",
		"toolpo\u017ft.json", "TO1A2B~1.JSO", "MCP~1.JSO", "CLAUDE~1/settings.json", "DEVCON~2/devcontainer.json", ".VSCode /tasks.json", ".claude:x/y",
		".github/hooks/x.json", "sub/.github/hooks/x.json", ".GitHub /Hooks./x", "GITHUB~1/hooks/x", ".github/hooks",
		"sub/../.claude/x", "./.envrc", filepath.Join(dir, ".envrc"), ".claude",
	}
	for _, path := range paths {
		for tool, rest := range map[string]string{
			"write": `,"content":"x"`, "edit": `,"old_string":"","new_string":"x"`, "multi_edit": `,"edits":[{"old_string":"","new_string":"x"}]`,
		} {
			if text := call(t, set, tool, `{"path":`+quoted(path)+rest+`}`); !strings.Contains(text, "only the user may change it") {
				t.Errorf("%s %q: %s", tool, path, text)
			}
		}
		for _, arguments := range []string{`{"from":"f","to":` + quoted(path) + `}`, `{"from":"real","to":` + quoted(path) + `}`, `{"from":` + quoted(path) + `,"to":"moved"}`} {
			if text := call(t, set, "move", arguments); !strings.Contains(text, "only the user may change it") {
				t.Errorf("move %s: %s", arguments, text)
			}
		}
	}
	for _, path := range []string{".claude/", "x/.vscode/y/"} {
		if text := call(t, set, "write", `{"path":`+quoted(path)+`,"content":""}`); !strings.Contains(text, "only the user may change it") {
			t.Errorf("write %q: %s", path, text)
		}
	}
	if text := call(t, set, "move", `{"from":"plugin","to":"here"}`); !strings.Contains(text, `"plugin/.claude" can make other programs`) {
		t.Error(text)
	}
	for _, arguments := range []string{`{"from":"copilot","to":".github"}`, `{"from":"copilot","to":"sub/.github"}`, `{"from":"copilot/hooks","to":".github/hooks"}`} {
		if text := call(t, set, "move", arguments); !strings.Contains(text, "can make other programs run commands") {
			t.Errorf("move %s: %s", arguments, text)
		}
	}
	if after := tree(t, dir); after != before {
		t.Errorf("something has changed:\n%s", after)
	}
	for _, path := range []string{"toolpost.json.md", "mcp.json", "claude/settings.json", ".github/workflows/ci.yml", ".github/x/hooks/y", "hooks/x.json", "vscode", "package.json", "Makefile", "claude~", ".gitignore", "AGENTS.md"} {
		if text := call(t, set, "write", `{"path":`+quoted(path)+`,"content":"x"}`); !strings.Contains(text, "created") {
			t.Errorf("%s: %s", path, text)
		}
	}
}

// TestAbsolute gives paths as models write them.
func TestAbsolute(t *testing.T) {
	real := t.TempDir()
	write(t, real, "sub/f.txt", []byte("needle\n"))
	dir := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, dir); err != nil {
		t.Skip(err)
	}
	set := workspace(t, dir)
	for _, at := range []string{dir, real} {
		for tool, rest := range map[string]string{
			"read": `"path":"AT/sub/f.txt"`, "list": `"path":"AT/sub"`, "glob": `"pattern":"AT/**/*.txt"`, "grep": `"pattern":"needle","path":"AT"`,
			"edit": `"path":"AT/sub/f.txt","dry_run":true,"old_string":"needle","new_string":"x"`,
		} {
			if text := call(t, set, tool, "{"+strings.ReplaceAll(rest, "AT", at)+"}"); !strings.Contains(text, "needle") && !strings.Contains(text, "f.txt") {
				t.Errorf("%s %s: %s", tool, rest, text)
			}
		}
	}
	if text := call(t, set, "write", `{"path":`+quoted(real+"/new.txt")+`,"content":"x"}`); content(t, real, "new.txt") != "x" {
		t.Error(text)
	}
	if text := call(t, set, "read", `{"path":`+quoted(real+"x/f")+`}`); !strings.Contains(text, "absolute path outside the served folder") {
		t.Error(text)
	}
}
