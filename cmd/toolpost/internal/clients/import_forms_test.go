package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
)

// References and literals of clients mean the same in toolpost.json.
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
		im, err := clients.Import([]clients.File{clients.FileOf(path)}, "toolpost.json", nil, nil)
		if err != nil || len(im.Servers) != 1 || !strings.Contains(string(im.JSON), `"V": "`+tt.want+`"`) && !strings.Contains(string(im.JSON), `"V":"`+tt.want+`"`) {
			t.Errorf("%s: %s becomes %v, %s, want %s", tt.path, tt.content, err, im.JSON, tt.want)
		}
	}
}
