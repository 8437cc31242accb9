package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// A guide tells how to go on: how clients reach us, and how to add servers.
type guide struct {
	url    string // "" if we speak on standard input and output
	file   string // the configuration, "" if there is none
	folder string // what is served without any configuration
}

const addServers = `run "toolpost import --write", or write ` + configName

const exampleConfig = `{"mcpServers": {"everything": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]}}}`

// empty tells what is served without a configuration.
func (g *guide) empty() string {
	return "no configuration: serving read, glob and grep over " + g.folder + " (read only)"
}

func (g *guide) lines() []string {
	var lines []string
	if g.folder != "" {
		e := g.empty()
		lines = append(lines, strings.ToUpper(e[:1])+e[1:],
			"",
			"To add servers, "+addServers+", such as",
			"  "+exampleConfig,
			"and start again.",
			"")
	}
	return append(lines,
		"Serving "+g.url,
		"",
		"  Claude Code     claude mcp add --transport http toolpost "+g.url,
		"  Gemini CLI      gemini mcp add --transport http toolpost "+g.url,
		"  Cursor          in ~/.cursor/mcp.json: "+entry(map[string]any{"url": g.url}),
		"  Claude Desktop  in claude_desktop_config.json: "+entry(map[string]any{
			"command": program(), "args": []string{"serve", "--stdio"}, "env": map[string]string{"MCP_URLS": g.url},
		}),
		"")
}

// entry is the configuration of a client for one server.
func entry(server map[string]any) string {
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"toolpost": server}})
	if err != nil {
		return fmt.Sprint(err) // maps of strings are always encoded
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
