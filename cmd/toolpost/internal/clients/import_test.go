package clients_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/config"
)

func TestImport(t *testing.T) {
	golden(t, "import", func(t *testing.T, a *txtar.Archive) string {
		dir := t.TempDir()
		for _, f := range a.Files {
			write(t, filepath.Join(dir, f.Name), string(f.Data))
		}
		files := clients.Files(filepath.Join(dir, "home"), filepath.Join(dir, "app"), "linux", lookup(""))
		im, err := clients.Import(files, "toolpost.json", []byte(part(a, "toolpost.json")), nil)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Parse("toolpost.json", im.JSON, func(string) (string, bool) { return "set", true })
		if err != nil {
			t.Fatalf("what is written cannot be read: %v\n%s", err, im.JSON)
		}
		for _, s := range cfg.Servers {
			if s.Err != nil {
				t.Errorf("what is written has an invalid server: %v", s.Err)
			}
		}
		if len(cfg.Findings) > 0 {
			t.Errorf("what is written has findings: %v", cfg.Findings)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d files\n", len(im.Read))
		for _, s := range im.Servers {
			fmt.Fprintf(&b, "%s:\n", s.Name)
			for _, line := range s.Description.Lines {
				fmt.Fprintf(&b, "  %s\n", line)
			}
			if s.Folder != "" {
				fmt.Fprintf(&b, "  of the project %s\n", s.Folder)
			}
			for _, from := range s.From {
				fmt.Fprintf(&b, "  from %s\n", from)
			}
		}
		for _, n := range im.Notes {
			fmt.Fprintf(&b, "note: %s\n", n)
		}
		if strings.Contains(b.String(), "hunter2") {
			t.Errorf("a secret is told: %s", &b)
		}
		fmt.Fprintf(&b, "%s", im.JSON)
		return strings.ReplaceAll(b.String(), dir, "DIR")
	})
}

// A small file cannot make an import use much time or memory.
func TestImportBombs(t *testing.T) {
	long := strings.Repeat("a.", 100_000) + "a"
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "  s%d: {command: x%d}\n", i, i)
	}
	tests := map[string]struct{ file, text, want string }{
		"a TOML key of many parts":    {"config.toml", "[mcp_servers.a]\n" + long + " = 1\n", "nested too deep"},
		"a TOML table of many parts":  {"config.toml", "[" + long + "]\n", "nested too deep"},
		"YAML aliases of a long text": {"config.yaml", "x: &x " + strings.Repeat("a", 100_000) + "\nmcpServers:\n  s: {command: x, args: [" + strings.Repeat("*x, ", 1000) + "]}\n", "repeat too much"},
		"YAML that contains itself":   {"config.yaml", "a: &a\n  b: *a\n", "nested too deep"},
		"many servers":                {"config.yaml", "mcpServers:\n" + many.String(), "only the first 1000"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), tt.file)
			write(t, file, tt.text)
			im, err := clients.Import([]clients.File{clients.FileOf(file)}, "toolpost.json", nil, nil)
			if err != nil || len(im.Notes) != 1 || !strings.Contains(im.Notes[0], tt.want) || len(im.Servers) > 1000 {
				t.Errorf("%v, %d servers, notes %.300q", err, len(im.Servers), im.Notes)
			}
		})
	}
}

func TestImportIntoBrokenFile(t *testing.T) {
	_, err := clients.Import(nil, "toolpost.json", []byte(`{"mcpServer": {}}`), nil)
	var typed *config.Error
	if !errors.As(err, &typed) || !strings.Contains(err.Error(), "toolpost.json:1:2: unknown key") {
		t.Errorf("got %v", err)
	}
}

func TestClients(t *testing.T) {
	list := func(goos, env string) string {
		var b strings.Builder
		for _, f := range clients.Files("/home/ada", "", goos, lookup(env)) {
			fmt.Fprintln(&b, f.Client+": "+filepath.ToSlash(f.Path))
		}
		return b.String()
	}
	rest := `Cursor: /home/ada/.cursor/mcp.json
VS Code: APPS/Code/User/mcp.json
VS Code: APPS/Code/User/settings.json
Cline: APPS/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json
Cline: /home/ada/.cline/data/settings/cline_mcp_settings.json
Windsurf: /home/ada/.codeium/windsurf/mcp_config.json
Gemini CLI: /home/ada/.gemini/settings.json
Codex: CODEX/config.toml
Copilot CLI: /home/ada/.copilot/mcp-config.json
opencode: CONFIG/opencode/opencode.json
opencode: CONFIG/opencode/opencode.jsonc
Zed: CONFIG/zed/settings.json
Continue: /home/ada/.continue/config.yaml
`
	for _, tt := range []struct{ goos, env, apps, config, code, codex string }{
		{"linux", "", "/home/ada/.config", "/home/ada/.config", "/home/ada", "/home/ada/.codex"},
		{"linux", "XDG_CONFIG_HOME=/cfg\nCLAUDE_CONFIG_DIR=/claude\nCODEX_HOME=/codex", "/cfg", "/cfg", "/claude", "/codex"},
		{"darwin", "", "/home/ada/Library/Application Support", "/home/ada/.config", "/home/ada", "/home/ada/.codex"},
		{"windows", "", "/home/ada/AppData/Roaming", "/home/ada/.config", "/home/ada", "/home/ada/.codex"},
		{"windows", "APPDATA=/roaming", "/roaming", "/home/ada/.config", "/home/ada", "/home/ada/.codex"},
	} {
		want := "Claude Desktop: APPS/Claude/claude_desktop_config.json\nClaude Code: " + tt.code + "/.claude.json\n" + rest
		if diff := cmp.Diff(strings.NewReplacer("APPS", tt.apps, "CONFIG", tt.config, "CODEX", tt.codex).Replace(want), list(tt.goos, tt.env)); diff != "" {
			t.Errorf("%s %s: %s", tt.goos, tt.env, diff)
		}
	}
}

func TestFileOf(t *testing.T) {
	for path, want := range map[string]clients.File{
		"/home/ada/.claude.json":               {Client: "Claude Code"},
		"/home/ada/app/.mcp.json":              {Client: "Claude Code", Folder: "/home/ada/app"},
		"/home/ada/app/.cursor/mcp.json":       {Client: "Cursor", Folder: "/home/ada/app"},
		"/srv/config.toml":                     {Client: "Codex"},
		"/srv/mine.yml":                        {Client: "Continue"},
		"/srv/claude_desktop_config.json":      {Client: "file"},
		"/x/Claude/claude_desktop_config.json": {Client: "Claude Desktop"},
	} {
		want.Path, want.Named = path, true
		if got := clients.FileOf(path); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
}

func FuzzImport(f *testing.F) {
	paths, _ := filepath.Glob("testdata/import/*.txtar")
	f.Add([]byte(""), []byte("mcpServers:\n  - {name: a, command: b}\n"))
	f.Add([]byte(""), []byte("[mcp_servers.a]\ncommand = \"b\"\n"))
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if strings.HasSuffix(file.Name, ".json") {
				f.Add([]byte(part(a, "toolpost.json")), file.Data)
			}
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, existing, data []byte) {
		files := []clients.File{
			{Client: "Cursor", Path: filepath.Join(dir, "mcp.json")},
			{Client: "Gemini CLI", Path: filepath.Join(dir, "mcp.json"), Folder: "/p"},
			{Client: "opencode", Path: filepath.Join(dir, "mcp.json")},
			{Client: "Codex", Path: filepath.Join(dir, "config.toml")},
			{Client: "Continue", Path: filepath.Join(dir, "config.yaml")},
		}
		for _, file := range files {
			write(t, file.Path, string(data))
		}
		im, err := clients.Import(files, "toolpost.json", existing, nil)
		if err != nil {
			return
		}
		again, err := clients.Import(files, "toolpost.json", im.JSON, nil)
		if err != nil {
			t.Fatalf("what is written cannot be read: %v\n%s", err, im.JSON)
		}
		if len(again.Servers) > 0 || string(again.JSON) != string(im.JSON) {
			t.Fatalf("the second import added %v", again.Servers)
		}
	})
}
