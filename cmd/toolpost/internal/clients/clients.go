// Package clients knows the files in which other MCP clients keep their servers: where they
// are, how servers are imported from them into a toolpost.json, and what they say about a
// server that is the gateway.
//
//	Files, FileOf ─► File ─► Import, Move ─► toolpost.json
//	                 File ─► Entry of an Endpoint ─► the client's file
package clients

import (
	"os"
	"path/filepath"
	"strings"
)

// A File is a file in which an MCP client stores its servers.
type File struct {
	Client string // such as "Cursor"
	Path   string
	Folder string // the project that the file belongs to; empty for a user's own file
	Named  bool   // the user named the file, so its servers are expected even in a project
}

// project returns the folder of the project that brought the file, "" if the
// file is the user's own or was named by the user.
func (f *File) project() string {
	if f.Named || !strings.HasPrefix(f.Path, f.Folder) {
		return ""
	}
	return f.Folder
}

const (
	claudeDesktop = "Claude Desktop"
	claudeCode    = "Claude Code"
	cursor        = "Cursor"
	vsCode        = "VS Code"
	windsurf      = "Windsurf"
	geminiCLI     = "Gemini CLI"
	codex         = "Codex"
	copilotCLI    = "Copilot CLI"
	opencode      = "opencode"
	zed           = "Zed"
	continueDev   = "Continue"
	cline         = "Cline"
)

// The folders that client files lie in.
const (
	homeFolder    = "home"
	appsFolder    = "apps"   // where applications keep their settings
	configFolder  = "config" // where command-line programs keep them
	projectFolder = "project"
)

// clientFiles lists where clients keep their servers. A new client is one line
// for each of its files. Variable names the folder of the file instead of in,
// if it is set; the file then has its last name only.
var clientFiles = []struct{ client, in, path, variable string }{
	{claudeDesktop, appsFolder, "Claude/claude_desktop_config.json", ""},
	{claudeCode, homeFolder, ".claude.json", "CLAUDE_CONFIG_DIR"},
	{cursor, homeFolder, ".cursor/mcp.json", ""},
	{vsCode, appsFolder, "Code/User/mcp.json", ""},
	{vsCode, appsFolder, "Code/User/settings.json", ""},
	{cline, appsFolder, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", ""},
	{cline, homeFolder, ".cline/data/settings/cline_mcp_settings.json", ""},
	{windsurf, homeFolder, ".codeium/windsurf/mcp_config.json", ""},
	{geminiCLI, homeFolder, ".gemini/settings.json", ""},
	{codex, homeFolder, ".codex/config.toml", "CODEX_HOME"},
	{copilotCLI, homeFolder, ".copilot/mcp-config.json", ""},
	{opencode, configFolder, "opencode/opencode.json", ""},
	{opencode, configFolder, "opencode/opencode.jsonc", ""},
	{zed, configFolder, "zed/settings.json", ""},
	{continueDev, homeFolder, ".continue/config.yaml", ""},
	{claudeCode, projectFolder, ".mcp.json", ""},
	{cursor, projectFolder, ".cursor/mcp.json", ""},
	{vsCode, projectFolder, ".vscode/mcp.json", ""},
	{vsCode, projectFolder, ".vscode/settings.json", ""},
	{geminiCLI, projectFolder, ".gemini/settings.json", ""},
	{codex, projectFolder, ".codex/config.toml", ""},
	{opencode, projectFolder, "opencode.json", ""},
	{opencode, projectFolder, "opencode.jsonc", ""},
	{zed, projectFolder, ".zed/settings.json", ""},
	{continueDev, projectFolder, ".continue/mcpServers/*.yaml", ""},
}

// Files lists the files in which known clients store their servers: the files
// of the user with that home folder, and those of the project in folder. Goos
// has a value of [runtime.GOOS]; env looks up variables. The files need not
// exist.
func Files(home, folder, goos string, env func(string) (string, bool)) []File {
	or := func(variable string, otherwise ...string) string {
		if v, _ := env(variable); v != "" {
			return v
		}
		return filepath.Join(append([]string{home}, otherwise...)...)
	}
	folders := map[string]string{homeFolder: home, configFolder: or("XDG_CONFIG_HOME", ".config"), projectFolder: folder}
	switch goos {
	case "darwin":
		folders[appsFolder] = filepath.Join(home, "Library", "Application Support")
	case "windows":
		folders[appsFolder] = or("APPDATA", "AppData", "Roaming")
	default:
		folders[appsFolder] = folders[configFolder]
	}
	var files []File
	for _, c := range clientFiles {
		f := File{Client: c.client, Path: filepath.Join(folders[c.in], filepath.FromSlash(c.path))}
		if v, _ := env(c.variable); v != "" && c.variable != "" {
			f.Path = filepath.Join(v, filepath.Base(c.path))
		}
		if c.in == projectFolder {
			if folder == "" || folder == home {
				continue
			}
			f.Folder = folder
		}
		files = append(files, f.matches()...)
	}
	return files
}

// matches returns the files that a last name with a * stands for; f itself if it has none.
func (f File) matches() []File {
	folder, pattern := filepath.Split(f.Path)
	if !strings.Contains(pattern, "*") {
		return []File{f}
	}
	var files []File
	entries, _ := os.ReadDir(folder) // a folder that is not there has no files
	for _, entry := range entries {
		if ok, _ := filepath.Match(pattern, entry.Name()); ok {
			f.Path = filepath.Join(folder, entry.Name())
			files = append(files, f)
		}
	}
	return files
}

// FileOf returns the client file at path, which the user named. It recognises
// the client by the last elements of the path. If no client uses them, it
// recognises only the format.
func FileOf(path string) File {
	f := File{Client: "file", Path: path, Named: true}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".toml":
		f.Client = codex
	case ".yaml", ".yml":
		f.Client = continueDev
	}
	longest := 0
	for _, c := range clientFiles {
		folder, ok := strings.CutSuffix("/"+filepath.ToSlash(path), "/"+c.path)
		if !ok || len(c.path) < longest {
			continue
		}
		longest, f.Client = len(c.path), c.client
		if c.in == projectFolder {
			f.Folder = filepath.FromSlash(strings.TrimPrefix(folder, "/"))
		}
	}
	return f
}
