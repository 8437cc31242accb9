package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// A guide tells how to go on: how clients reach us, and how to add servers.
type guide struct {
	url     string // "" if we speak on standard input and output
	exposed bool   // other machines reach us
	folder  string // what is served of a folder, "" if there is a configuration
	chosen  bool   // that was asked for by --tools
}

const exposedWarning = "other machines can call these tools: there is no authentication"

const addServers = `run "toolpost import --write", or write ` + configName

const exampleConfig = `{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}`

// empty tells what is served without a configuration.
func (g *guide) empty() string {
	if g.chosen {
		return g.folder
	}
	return "no configuration: " + g.folder
}

func (g *guide) lines() []string {
	var lines []string
	if g.folder != "" {
		e := g.empty()
		lines = append(lines, strings.ToUpper(e[:1])+e[1:], "")
	}
	if g.folder != "" && !g.chosen {
		lines = append(lines,
			"To add servers, "+addServers+", such as",
			"  "+exampleConfig,
			"and start again.",
			"")
	}
	desktop := clientEntry{Command: program(), Args: []string{"serve", "--stdio"}, Env: map[string]string{"MCP_URLS": g.url}}
	return append(lines,
		"Serving "+g.url+g.warning(),
		"",
		"  Claude Code     claude mcp add --transport http toolpost "+g.url,
		"  Gemini CLI      gemini mcp add --transport http toolpost "+g.url,
		"  Cursor          in ~/.cursor/mcp.json:",
		"    "+clientEntry{URL: g.url}.String(),
		"  Claude Desktop  in claude_desktop_config.json:",
		"    "+desktop.String(),
		"")
}

func (g *guide) warning() string {
	if !g.exposed {
		return ""
	}
	return "\nWarning: " + exposedWarning
}

// A clientEntry is what a client's configuration says about one server.
type clientEntry struct {
	URL     string            `json:"url,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

func (e clientEntry) String() string {
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"toolpost": e}})
	if err != nil {
		return fmt.Sprint(err) // strings are always encoded
	}
	return string(raw)
}

// program is how other programs start this one: they do not have our PATH.
// A build in the folder of temporary files, as of "go run", does not last.
func program() string {
	path, err := os.Executable()
	if err != nil || strings.HasPrefix(path, os.TempDir()) || strings.Contains(path, "go-build") {
		return "toolpost"
	}
	return path
}
