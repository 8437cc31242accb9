package gateway

import "path/filepath"

// A ClientFile is a file in which an MCP client keeps its servers.
type ClientFile struct {
	Client string // such as "Cursor"
	Path   string
	Folder string // of the project the file belongs to; empty for a user's own
}

// Clients lists where known clients keep their servers: the files of the user
// whose home that is, and those of the project in folder. Goos is as
// [runtime.GOOS]; env looks up variables. The files need not exist.
func Clients(home, folder, goos string, env func(string) (string, bool)) []ClientFile {
	or := func(variable string, otherwise ...string) string {
		if v, _ := env(variable); v != "" {
			return v
		}
		return filepath.Join(append([]string{home}, otherwise...)...)
	}
	var apps string // where applications keep their settings
	switch goos {
	case "darwin":
		apps = filepath.Join(home, "Library", "Application Support")
	case "windows":
		apps = or("APPDATA", "AppData", "Roaming")
	default:
		apps = or("XDG_CONFIG_HOME", ".config")
	}
	files := []ClientFile{
		{Client: claudeDesktop, Path: filepath.Join(apps, "Claude", "claude_desktop_config.json")},
		{Client: claudeCode, Path: filepath.Join(or("CLAUDE_CONFIG_DIR"), ".claude.json")},
		{Client: cursor, Path: filepath.Join(home, ".cursor", "mcp.json")},
		{Client: vsCode, Path: filepath.Join(apps, "Code", "User", "mcp.json")},
		{Client: windsurf, Path: filepath.Join(home, ".codeium", "windsurf", "mcp_config.json")},
		{Client: geminiCLI, Path: filepath.Join(home, ".gemini", "settings.json")},
	}
	if folder == "" || folder == home {
		return files
	}
	return append(files,
		ClientFile{claudeCode, filepath.Join(folder, ".mcp.json"), folder},
		ClientFile{cursor, filepath.Join(folder, ".cursor", "mcp.json"), folder},
		ClientFile{vsCode, filepath.Join(folder, ".vscode", "mcp.json"), folder},
		ClientFile{geminiCLI, filepath.Join(folder, ".gemini", "settings.json"), folder},
	)
}

const (
	claudeDesktop = "Claude Desktop"
	claudeCode    = "Claude Code"
	cursor        = "Cursor"
	vsCode        = "VS Code"
	windsurf      = "Windsurf"
	geminiCLI     = "Gemini CLI"
)
