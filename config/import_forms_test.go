package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
)

// References and literals of clients mean the same in toolpost.json, and each spelling of
// a transport is read.
func TestImportForms(t *testing.T) {
	dir := t.TempDir()
	server := func(value string) string {
		return `{"mcpServers":{"a":{"command":"x","env":{"V":"` + value + `"}}}}`
	}
	for _, tt := range []struct{ path, content, want string }{
		{".codex/config.toml", "[mcp_servers.a]\ncommand = \"x\"\nenv = { V = \"p${x}$y\" }\n", "p$${x}$y"},
		{".copilot/mcp-config.json", server("$MY"), "${MY}"},
		{".copilot/mcp-config.json", server("a$MY"), "a$MY"},
		{".copilot/mcp-config.json", server("${MY:-d}"), "${MY:-d}"},
		{"opencode.json", `{"mcp":{"a":{"type":"local","command":["x"],"environment":{"V":"{file:/k/key}"}}}}`, "${file:/k/key}"},
		{"opencode.json", `{"mcp":{"a":{"type":"local","command":["x"],"environment":{"V":"Bearer {file:~/key}"}}}}`, "Bearer ${file:~/key}"},
		{"opencode.json", `{"mcp":{"a":{"type":"local","command":["x"],"environment":{"V":"{file:key}"}}}}`, "${file:" + filepath.Join(dir, "key") + "}"},
		{"mcp.json", server("$MY"), "$MY"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(tt.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, tt.content)
		im, err := config.Import([]config.ClientFile{config.FileOf(path)}, "toolpost.json", nil, nil)
		if err != nil || len(im.Servers) != 1 || !strings.Contains(string(im.JSON), `"V": "`+tt.want+`"`) && !strings.Contains(string(im.JSON), `"V":"`+tt.want+`"`) {
			t.Errorf("%s: %s becomes %v, %s, want %s", tt.path, tt.content, err, im.JSON, tt.want)
		}
	}
	for _, name := range []string{"http", "HTTP", "streamable-http", "streamableHttp", "streamable_http", "StreamableHTTP", "Sse", "SSE"} {
		cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers":{"a":{"type":"`+name+`","url":"http://127.0.0.1:1/mcp"}}}`), nil)
		if err != nil || len(cfg.Servers) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLiteralVariables(t *testing.T) {
	env := func(name string) (string, bool) { return "<" + name + ">", true }
	for text, want := range map[string]string{
		"$${A}": "${A}", "p$${A}q${B}": "p${A}q<B>", "$$${A}": "$${A}", "$${": "${", "$${A": "${A", "${A:-$${B}}": "<A>", "$$A": "$$A", "${A}$": "<A>$", "$${A}$${B}": "${A}${B}",
	} {
		if got, err := config.Expand(text, env); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}
