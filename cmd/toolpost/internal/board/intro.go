package board

import (
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/serve"
)

// An Intro describes what is served, as far as the address does not show it.
type Intro struct {
	Folder string // the tools over a folder; "" for servers
	Chosen bool   // the command line asks for the tools of the folder
	Empty  bool   // the configuration has no servers
	Bridge bool   // one server is served as it is
}

// NoServers is the advice for a configuration without servers.
const NoServers = "the configuration has no servers; add one with \"toolpost add NAME\", or under \"mcpServers\"; it is used at once"

// NoConfiguration is the advice if no configuration was found.
const NoConfiguration = `run "toolpost import" or "toolpost add NAME", and start again`

// lines are the first ones on the terminal: the address, and what to do next.
func (a Intro) lines(access *serve.Access, width int, color bool) []string {
	bold := func(s string) string {
		if !color {
			return s
		}
		return "\x1b[1m" + s + "\x1b[0m"
	}
	wrap := func(text string) []string { return terminal.Wrap(cleartext.Printable(text), max(20, width)) }
	lines := []string{bold(cleartext.Printable("Serving " + access.URL))}
	switch {
	case a.Folder != "" && a.Chosen:
		lines = append(lines, wrap(a.describeTools())...)
	case a.Folder != "":
		lines = append(lines, wrap("No configuration: "+a.describeTools())...)
	case a.Empty:
		lines = append(lines, wrap("Warning: "+NoServers)...)
	}
	if access.Warning != "" {
		lines = append(lines, wrap("Warning: "+access.Warning)...)
	}
	switch {
	case access.Issuer != "":
		lines = append(lines, wrap("Clients log in at "+access.Issuer+", or send a token of \"toolpost token add\".")...)
	case access.Token != "":
		lines = append(lines, wrap("Clients must send the token from "+access.Source+"; link arranges that.")...)
	}
	lines = append(lines, "")
	for _, step := range a.steps(access) {
		lines = append(lines, terminal.Cut("  "+terminal.Pad(step[0], 17)+bold(cleartext.Printable(step[1])), width))
	}
	return append(lines, "")
}

// describeTools says which tools are served over the folder.
func (a Intro) describeTools() string { return strings.TrimPrefix(a.Folder, "serving ") }

// steps returns the next steps of a user, each with its command.
func (a Intro) steps(access *serve.Access) [][2]string {
	steps := [][2]string{{"Connect clients", "toolpost link --url " + access.URL}}
	switch {
	case a.Folder != "" && !a.Chosen:
		steps = append(steps, [2]string{"Add a server", "toolpost add NAME, or toolpost import; then start again"})
	case a.Folder == "" && !a.Bridge:
		steps = append(steps, [2]string{"Add a server", "toolpost add NAME"})
	}
	root := strings.TrimSuffix(access.URL, "/mcp")
	if root == "http://"+owner.DefaultAddress {
		return append(steps, [2]string{"Watch", "toolpost top"})
	}
	return append(steps, [2]string{"Watch", "toolpost top " + root})
}
