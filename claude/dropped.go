package claude

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/claude/message"
)

// A ToolsDroppedError reports tools that were served to the CLI but that the
// CLI does not list. The CLI itself reports nothing. Options.AllowDropped logs
// this instead of failing.
type ToolsDroppedError struct {
	Server  string
	Missing []string // by their names in the CLI
	Status  string   // of the server in the CLI; empty if the CLI does not list the server
}

func (e *ToolsDroppedError) Error() string {
	return fmt.Sprintf("the claude CLI dropped %d tools of server %q, which is %s: %s; check whether a rule in its settings denies them, or whether it refuses part of their definitions; or set AllowDropped",
		len(e.Missing), e.Server, cmp.Or(e.Status, "unknown to the CLI"), strings.Join(e.Missing, ", "))
}

// compareTools compares the tools that the CLI has with those that it was given.
func (t *tools) compareTools(init *message.Init) error {
	t.hear()
	have := map[string]bool{}
	for _, name := range init.Tools {
		have[name] = true
	}
	status := map[string]string{}
	for _, s := range init.MCPServers {
		status[s.Name] = s.Status
	}
	var dropped []error
	for _, p := range t.ports {
		e := &ToolsDroppedError{Server: p.server.name, Status: status[p.server.name]}
		if e.Status == "pending" || e.Status == "disabled" { // it will have them, or was told not to
			continue
		}
		if e.Missing = t.missing(p, have); len(e.Missing) > 0 {
			dropped = append(dropped, e)
		}
	}
	if !t.opts.AllowDropped {
		return errors.Join(dropped...)
	}
	for _, err := range dropped {
		t.log.Warn("continuing without some tools", "error", err)
	}
	return nil
}

// missing returns the tools of a server that the CLI should have and does not,
// each once.
func (t *tools) missing(p *port, have map[string]bool) []string {
	var names []string
	for _, tool := range p.due() {
		name := t.opts.toolName(p.server.name, tool)
		if !have[name] && !t.missed[name] && !t.opts.forbids(name) {
			t.missed[name] = true
			names = append(names, name)
		}
	}
	return names
}

// toolName is what the CLI calls a tool, with the environment that it gets.
func (o *Options) toolName(server, tool string) string {
	switch o.variable("CLAUDE_AGENT_SDK_MCP_NO_PREFIX") {
	case "", "0", "false":
		return ToolName(server, tool)
	}
	return fold(tool)
}

// variable is the value of an environment variable of the CLI.
func (o *Options) variable(name string) string {
	value := os.Getenv(name)
	for _, entry := range o.Env {
		if n, v, _ := strings.Cut(entry, "="); n == name {
			value = v
		}
	}
	return value
}

// forbids reports whether the options keep a tool from the CLI.
func (o *Options) forbids(name string) bool {
	rules := o.DisallowedTools
	for _, arg := range o.Args {
		flag, value, _ := strings.Cut(arg, "=")
		if flag == "--disallowedTools" || flag == "--disallowed-tools" {
			rules = append(slices.Clip(rules), strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
	}
	return slices.ContainsFunc(rules, func(rule string) bool { return covers(rule, name) })
}

// covers reports whether a permission rule is about all of a tool: it is its
// name, a pattern of it, or that of its server.
func covers(rule, name string) bool {
	matched, _ := path.Match(rule, name) // what is no pattern matches nothing
	return matched || strings.HasPrefix(rule, "mcp__") && strings.HasPrefix(name, rule+"__")
}
