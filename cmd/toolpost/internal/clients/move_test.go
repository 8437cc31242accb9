package clients_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
)

// TestMoveCompares compares entries of clients with one toolpost.json.
func TestMoveCompares(t *testing.T) {
	const toolpost = `{"mcpServers": {
		"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${SECRET}"}, "prefix": "p_", "timeout": "3s"},
		"web": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer t"}},
		"off": {"command": "off", "disabled": true},
		"part": {"command": "part", "includeTools": ["x"]},
		"broken": {"command": 1},
	}}`
	same := func(name string) string { return name + " is " + name }
	for _, tt := range []struct{ file, entry, want string }{
		{"mcp.json", `"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${SECRET}"}}`, same("a")},
		{"mcp.json", `"b": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${SECRET}"}}`, "b is a"},
		{"mcp.json", `"a": {"command": "npx", "args": ["-y", "y"], "env": {"K": "${SECRET}"}}`, `a stays: "a" differs in the toolpost.json: arguments`},
		{"mcp.json", `"a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "hunter2"}}`, `a stays: "a" differs in the toolpost.json: variables`},
		{"mcp.json", `"a": {"url": "https://hunter2.org"}`, `a stays: "a" differs in the toolpost.json: command, arguments, variables, address`},
		{"mcp.json", `"new": {"command": "new"}`, "new is new here"},
		{"mcp.json", `"web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer t"}}`, same("web")},
		{"mcp.json", `"web": {"url": "https://example.org/mcp", "headers": {"Authorization": "hunter2"}}`, `web stays: "web" differs in the toolpost.json: headers`},
		{"mcp.json", `"web": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer t"}, "oauth": {"clientId": "c"}}`, `web stays: "web" differs in the toolpost.json: login`},
		{"mcp.json", `"off": {"command": "off"}`, `off stays: "off" differs in the toolpost.json: enabled or not`},
		{"mcp.json", `"off": {"command": "off", "disabled": true}`, same("off")},
		{"mcp.json", `"part": {"command": "part"}`, same("part")},
		{"mcp.json", `"part": {"command": "part", "excludeTools": ["x"]}`, `part stays: "part" differs in the toolpost.json: selected tools`},
		{"mcp.json", `"broken": {"command": "x"}`, `broken stays: "broken" differs in the toolpost.json: command`},
		{"mcp.json", `"new": {"command": "x", "sandbox": {}}`, `new stays: the key "sandbox" is left out: it is not supported: the server runs without a sandbox`},
		{"mcp.json", `"new": {"command": "x", "env": {"A": "${input:b}"}}`, `new stays: set the environment variable`},
		{"mcp.json", `"new": {"command": 7}`, "new stays: "},
		{"mcp.json", `"toolpost": {"command": "/bin/toolpost", "args": ["serve"]}`, ""},
		{"mcp.json", `"tools": {"command": "npx", "args": ["--yes", "toolpost", "serve"]}`, ""},
		{"mcp.json", `"tools": {"command": "uvx", "args": ["toolpost@1.0", "serve"]}`, ""},
		{".gemini/settings.json", `"off": {"command": "off"}}, "mcp": {"excluded": ["off"]`, `off stays: it is added as disabled`},
		{".claude.json", `}, "projects": {"/work": {"mcpServers": {"part": {"command": "part"}}}, "/other": {"mcpServers": {"part": {"command": "part"}}}`, "part is part"},
	} {
		t.Run(tt.entry, func(t *testing.T) {
			m := clients.Move{File: "toolpost.json", Data: []byte(toolpost), Folder: "/work"}
			f := clients.FileOf(filepath.Join("/home", tt.file))
			servers, err := m.Compare(f, []byte(`{"mcpServers": {`+tt.entry+`}}`))
			var got []string
			for _, s := range servers {
				switch {
				case s.Stays != "":
					got = append(got, fmt.Sprintf("%s stays: %s", s.Name, s.Stays))
				case s.Same == "":
					got = append(got, s.Name+" is new here")
				default:
					got = append(got, s.Name+" is "+s.Same)
				}
			}
			text := strings.Join(got, "; ")
			if err != nil || !strings.HasPrefix(text, tt.want) || (text == "") != (tt.want == "") || strings.Contains(text, "hunter2") {
				t.Errorf("got %q, %v; want %q", text, err, tt.want)
			}
		})
	}
}

// TestMoveImports imports what can leave the files: under its own name, and without a loss.
func TestMoveImports(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a", "mcp.json"), filepath.Join(dir, "b", "mcp.json")
	write(t, first, `{"mcpServers": {"memory": {"command": "m", "env": {"A": "1"}}, "x": {"command": "x"}, "s": {"command": "s", "sandbox": {}}}}`)
	write(t, second, `{"mcpServers": {"memory": {"command": "m", "env": {"A": "2"}}, "x": {"command": "x"}, "y": {"command": "other"}}}`)
	m := clients.Move{File: "toolpost.json", Data: []byte(`{"mcpServers": {"y": {"command": "y"}}}`)}
	im, err := m.Import([]clients.File{clients.FileOf(first), clients.FileOf(second)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range im.Servers {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, ","); got != "memory,x" || len(im.Notes) > 0 {
		t.Errorf("imported %s, notes %q", got, im.Notes)
	}
}
