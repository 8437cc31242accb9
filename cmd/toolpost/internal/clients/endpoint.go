package clients

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
)

// An Endpoint is how a client reaches a gateway: the address of a running one,
// or the command that starts one.
type Endpoint struct {
	URL     string // of streamable HTTP; empty for a command
	Headers map[string]string

	Command string
	Args    []string
	Env     map[string]string

	// Variables are the names of environment variables that the command reads.
	// Some clients pass them on only if their configuration names them.
	Variables []string
}

// ServerPath returns the path under which the client's file keeps the server of
// that name, nil if Toolpost does not write servers into files of this form.
func (f *File) ServerPath(name string) []string {
	switch f.Client {
	case claudeDesktop, claudeCode, cursor, windsurf, geminiCLI:
		return []string{"mcpServers", name}
	case vsCode:
		if filepath.Base(f.Path) == "mcp.json" {
			return []string{"servers", name}
		}
	case codex:
		return []string{"mcp_servers", name}
	case opencode:
		return []string{"mcp", name}
	case zed:
		return []string{"context_servers", name}
	}
	return nil
}

// StartsServers reports whether the client reaches servers only by starting
// them, so that an address is of no use to it.
func (f *File) StartsServers() bool { return f.Client == claudeDesktop }

// ID returns the name of the client for a command line, such as claude-desktop.
func (f *File) ID() string {
	return strings.ReplaceAll(strings.ToLower(f.Client), " ", "-")
}

// A clientEntry is one server in the file of a client. Each client uses some of
// the members.
type clientEntry struct {
	Type        string            `json:"type,omitempty"`
	URL         string            `json:"url,omitempty"`
	ServerURL   string            `json:"serverUrl,omitempty"` // Windsurf
	Headers     map[string]string `json:"headers,omitempty"`
	HTTPHeaders map[string]string `json:"http_headers,omitempty"` // Codex
	Command     any               `json:"command,omitempty"`      // a string; in opencode a list with the arguments
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Environment map[string]string `json:"environment,omitempty"` // opencode
	EnvVars     []string          `json:"env_vars,omitempty"`    // Codex
	Enabled     bool              `json:"enabled,omitempty"`     // opencode
}

// Entry returns what the client's file says about a server that is this gateway.
func (f *File) Entry(e *Endpoint) json.RawMessage {
	c := clientEntry{URL: e.URL, Headers: e.Headers, Args: e.Args, Env: e.Env}
	if e.Command != "" {
		c.Command = e.Command
	}
	switch f.Client {
	case claudeCode, vsCode:
		c.Type = addressOrCommand(e, "http", "stdio")
	case windsurf:
		c.URL, c.ServerURL = "", e.URL
	case geminiCLI:
		c.Type = addressOrCommand(e, "http", "")
		c.Env = passVariables(e)
	case codex:
		c.Headers, c.HTTPHeaders, c.EnvVars = nil, e.Headers, e.Variables
	case opencode:
		c.Type, c.Enabled = addressOrCommand(e, "remote", "local"), true
		c.Args, c.Env, c.Environment = nil, nil, e.Env
		if e.Command != "" {
			c.Command = append([]string{e.Command}, e.Args...)
		}
	}
	return configfile.Encode(c)
}

func addressOrCommand(e *Endpoint, address, command string) string {
	if e.URL != "" {
		return address
	}
	return command
}

// passVariables returns the variables of the command as Gemini CLI has them,
// which leaves out those that look like secrets unless they are named.
func passVariables(e *Endpoint) map[string]string {
	if len(e.Variables) == 0 {
		return e.Env
	}
	env := map[string]string{}
	for _, name := range e.Variables {
		env[name] = "$" + name
	}
	for name, value := range e.Env {
		env[name] = value
	}
	return env
}
