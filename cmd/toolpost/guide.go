package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/serve"
)

// A guide explains the next steps: how clients connect, and how to add servers.
type guide struct {
	access *serve.Access // nil before it is known
	folder string        // what is served of a folder, "" if there is a configuration
	chosen bool          // --tools asked for that
	none   bool          // the configuration has no servers
}

func (g *guide) url() string {
	if g.access == nil {
		return ""
	}
	return g.access.URL
}

const addServers = `run "toolpost import --write", or write ` + owner.ConfigName

const noServers = `the configuration has no servers; add one under "mcpServers"; the change applies at once`

const exampleConfig = `{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}`

// empty describes what is served without a configuration.
func (g *guide) empty() string {
	if g.chosen {
		return g.folder
	}
	return "no configuration: " + g.folder
}

// guideWidth is the width that lines of the guide fit, so that commands can be
// copied from a small terminal.
const guideWidth = 80

func (g *guide) lines() []string {
	var lines []string
	if g.folder != "" {
		e := g.empty()
		lines = append(lines, cleartext.Printable(strings.ToUpper(e[:1])+e[1:]), "")
	}
	if g.folder != "" && !g.chosen {
		lines = append(lines, "To add servers, "+addServers+", such as")
		lines = append(lines, foldJSON(exampleConfig)...)
		lines = append(lines, "and start again.", "")
	}
	if g.none {
		lines = append(lines, "Warning: "+noServers, "")
	}
	lines = append(lines, "Serving "+g.url())
	if g.access != nil && g.access.Warning != "" {
		lines = append(lines, terminal.Wrap("Warning: "+g.access.Warning, guideWidth)...)
	}
	switch {
	case g.access == nil:
	case g.access.Issuer != "":
		lines = append(lines, "Clients log in at "+g.access.Issuer+", or send a token of \"toolpost token add\".")
	case g.access.Token != "":
		lines = append(lines, "Clients must send the token from "+g.access.Source+", as the lines below do.")
	}
	return append(append(append(lines, ""), g.clients()...), "")
}

// clients are the commands and the entries that connect clients.
func (g *guide) clients() []string {
	var lines []string
	command := func(client, text, option string) {
		if g.authorization() != "" {
			text += option
		}
		lines = append(lines, "  "+client)
		lines = append(lines, foldCommand(text)...)
	}
	entry := func(client, form string, e clientEntry) {
		lines = append(lines, "  "+client)
		lines = append(lines, foldJSON(fmt.Sprintf(form, e))...)
	}
	header := fmt.Sprintf(` --header "Authorization: %s"`, g.authorization())
	remote := clientEntry{URL: g.url(), Headers: g.headers()}
	command("Claude Code", "claude mcp add --transport http toolpost "+g.url(), header)
	command("Gemini CLI", "gemini mcp add -s user --transport http toolpost "+g.url(), header)
	if g.authorization() == "" {
		command("Codex", "codex mcp add toolpost --url "+g.url(), "")
	} else {
		lines = append(lines, "  Codex, in ~/.codex/config.toml", "    [mcp_servers.toolpost]", `    url = "`+g.url()+`"`)
		lines = append(lines, "    [mcp_servers.toolpost.http_headers]", `    Authorization = "`+g.authorization()+`"`)
	}
	entry("Cursor, in ~/.cursor/mcp.json", `{"mcpServers":{"toolpost":%s}}`, remote)
	entry("Zed, in settings.json", `{"context_servers":{"toolpost":%s}}`, remote)
	remote.Type = "http"
	entry("VS Code, in .vscode/mcp.json", `{"servers":{"toolpost":%s}}`, remote)
	remote.Type = "remote"
	entry("opencode, in opencode.json", `{"mcp":{"toolpost":%s}}`, remote)
	entry("Claude Desktop, in claude_desktop_config.json", `{"mcpServers":{"toolpost":%s}}`,
		clientEntry{Command: cli.Program(), Args: []string{"serve", "--stdio"}, Env: map[string]string{"MCP_URLS": g.url()}})
	return lines
}

// authorization is the value of the header that clients send, "" if they need
// none.
func (g *guide) authorization() string {
	if g.access == nil || g.access.Token == "" || g.access.Issuer != "" {
		return ""
	}
	return "Bearer " + g.access.Token
}

func (g *guide) headers() map[string]string {
	if g.authorization() == "" {
		return nil
	}
	return map[string]string{"Authorization": g.authorization()}
}

// foldCommand breaks a command line before its options, as a shell reads it.
func foldCommand(text string) []string {
	var lines []string
	line := "    "
	for i, part := range strings.Split(text, " --") {
		if i > 0 {
			part = "--" + part
		}
		if i > 0 && utf8.RuneCountInString(line)+len(" \\")+1+utf8.RuneCountInString(part) > guideWidth {
			lines = append(lines, line+` \`)
			line = "   "
		}
		if i > 0 {
			line += " "
		}
		line += part
	}
	return append(lines, line)
}

// foldJSON breaks a JSON text after commas and braces outside strings.
func foldJSON(text string) []string {
	var lines []string
	quoted, start, fits := false, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{'):
			fits = i + 1
		}
		if next := i + 1; utf8.RuneCountInString(text[start:min(next, len(text))]) > guideWidth-4 && fits > start {
			lines = append(lines, "    "+text[start:fits])
			start = fits
		}
	}
	return append(lines, "    "+strings.TrimSpace(text[start:]))
}

// A clientEntry is what a client's configuration says about one server.
type clientEntry struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

func (e clientEntry) String() string {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Sprint(err) // strings are always encoded
	}
	return string(raw)
}
