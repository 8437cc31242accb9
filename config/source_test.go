package config_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
)

// TestSyntaxOfOtherWording has the errors of a parser that says where it stopped
// in another way than today's, or in places that the file does not have.
func TestSyntaxOfOtherWording(t *testing.T) {
	const file = "{\n 'a\": 1\n}"
	odd := errors.New("odd")
	for _, c := range []struct {
		err          error
		line, column int
		message      string
	}{
		{fmt.Errorf("hujson: line 2, column 2: %w", odd), 2, 2, "not valid JSON: write strings in double quotes, not in single quotes"},
		{fmt.Errorf("hujson: line 2, column 3: %w", odd), 2, 3, "not valid JSON: odd"},
		{odd, 1, 1, "not valid JSON: odd"},
		{errors.New(""), 1, 1, "not valid JSON: "},
		{fmt.Errorf("hujson: 2:2: %w", odd), 1, 1, "not valid JSON: odd"},
		{fmt.Errorf("hujson: line 0, column 0: %w", odd), 1, 1, "not valid JSON: odd"},
		{fmt.Errorf("hujson: line -1, column -1: %w", odd), 1, 1, "not valid JSON: odd"},
		{fmt.Errorf("hujson: line 9, column 99: %w", odd), 3, 2, "not valid JSON: odd"},
		{fmt.Errorf("hujson: line 3, column 99: %w", errors.New("invalid literal")), 3, 2, "not valid JSON: want a string in double quotes, a number, true, false or null"},
		{io.ErrUnexpectedEOF, 1, 1, `not valid JSON: the file ends too early; a }, ] or " is missing`},
	} {
		if got := config.SyntaxProblem(file, c.err); got != (config.Problem{Line: c.line, Column: c.column, Message: c.message}) {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
}

// TestStartsInFolderOfFile checks that a server does not start in the current
// folder, which may be a cloned one with programs in it.
func TestStartsInFolderOfFile(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	own := filepath.Join(folder, "own")
	data := []byte(`{"mcpServers": {"a": {"command": "npx", "args": ["x"]}, "b": {"command": "x", "cwd": "sub"}, "c": {"url": "http://127.0.0.1:1"}}}`)
	if err := errors.Join(os.Mkdir("own", 0o700), os.WriteFile("own/toolpost.json", data, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"own/toolpost.json", filepath.Join(own, "toolpost.json")} {
		cfg, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{own, filepath.Join(own, "sub"), ""} {
			got := cfg.Servers[i].Dir
			if got != "" {
				if got, err = filepath.Abs(got); err != nil {
					t.Fatal(err)
				}
			}
			if got != want {
				t.Errorf("%s: server %d starts in %q, want %q", path, i, got, want)
			}
		}
	}
}

// TestOtherFormats: a file in the format of another program is named as that.
func TestOtherFormats(t *testing.T) {
	for text, want := range map[string]string{
		"mcpServers:\n  a:\n    command: x\n":         "this is YAML; a configuration of toolpost is JSON",
		"# servers\n---\nmcpServers: {}\n":            "this is YAML",
		"\"mcpServers\":\n  a: 1\n":                   "this is YAML",
		"[mcp_servers.a]\ncommand = \"x\"\n":          "this is TOML",
		"# codex\n\nmodel = \"x\"\n[mcp_servers.a]\n": "this is TOML",
		"{'mcpServers': {}}":                          "not in single quotes",
		"mcpServers {}":                               "not valid JSON",
		"[{]":                                         "not valid JSON",
	} {
		path := filepath.Join(t.TempDir(), "toolpost.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
