// Package servers has the commands that change which servers the user has and what they
// need: the entries of a configuration (add, remove, import), those of clients (link),
// logins and secrets (login, secret).
package servers

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/install"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/suggest"
)

// Add returns the command "add".
func Add() *cobra.Command {
	var a adding
	cmd := &cobra.Command{
		Use:   "add NAME | URL | FILE.json | FILE.mcpb | [NAME] -- COMMAND…",
		Short: "Add a server to toolpost.json",
		Long: `Add a server to the configuration that serve uses, or to ./` + owner.ConfigName + ` if
there is none. Show what the server runs, contacts and sends, and the difference
of the file, whose comments stay. If you give --yes or answer yes in a terminal,
start the server once to see whether it works and what it lists, and write the
file; you are asked again if the server cannot be used, unless you gave --yes.
A running serve then uses the server at once.

The server is one of:

  a known name                  everything, fetch, filesystem, git, memory,
                                sequentialthinking, time
  npm:PACKAGE, pypi:PACKAGE     a package that npx or uvx runs; oci:IMAGE is run
                                by docker; @VERSION may follow
  -- COMMAND ARGUMENTS          a program; a NAME may stand before --
  http://…, https://…           a server that runs; its transport is detected
  FILE.json                     a server.json of the MCP registry
  FILE.mcpb                     an MCP bundle, which is unpacked into your
                                configuration folder
  io.github.user/name           a name of an MCP registry, with --registry URL

Values that a server.json or a bundle leaves open are given with --set, asked
for, or become variables such as ${TOOLPOST_WEATHER__API_KEY}, of the server and
the key; secrets are never asked for.`,
		Example: `  toolpost add memory
  toolpost add filesystem ~/notes
  toolpost add npm:@modelcontextprotocol/server-everything --name demo
  toolpost add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolpost add https://example.com/mcp --header 'Authorization: Bearer ${TOKEN}'
  toolpost add weather.mcpb --set units=metric`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&a.name, "name", "", "`NAME` of the server (default: made from what is added)")
	f.StringArrayVar(&a.env, "env", nil, "environment variable `NAME=VALUE` of the server; may be repeated")
	f.StringArrayVar(&a.headers, "header", nil, "send `HEADER` to the server, such as \"X-Key: ${KEY}\"; may be repeated")
	f.StringVar(&a.prefix, "prefix", "", "`TEXT` before the names of its tools (default: NAME__)")
	f.BoolVar(&a.disabled, "disabled", false, "add the server without starting it")
	f.StringArrayVar(&a.set, "set", nil, "`KEY=VALUE` of a server.json or bundle; may be repeated")
	f.StringVar(&a.from, "from", "", "`KIND` of a server.json to use: remote, npm, pypi, oci or nuget")
	f.BoolVar(&a.runtime, "allow-runtime", false, "accept all arguments of a server.json for npx, uvx, docker and dnx, and variables that steer them")
	f.StringVar(&a.registry, "registry", "", "`URL` of the MCP registry that has the name")
	cli.CompleteFlag(cmd, "from", cli.Values("remote", "npm", "pypi", "oci", "nuget"))
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return install.Known(), cobra.ShellCompDirectiveDefault // or the name of a file
	}
	f.BoolVar(&a.noTry, "no-try", false, "add the server without starting it once")
	a.target.flags(cmd)
	a.target.change = cli.AddChangeFlag(cmd)
	return cmd
}

// adding is one run of the command add.
type adding struct {
	name, prefix, from, registry string
	env, headers, set            []string
	disabled, runtime, noTry     bool
	works                        bool // it was started, and could be used
	target                       configurationEdit
}

func (a *adding) run(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.Usagef("nothing to add; name a server, a package, an address, a file, or write -- COMMAND; see \"toolpost add --help\"")
	}
	plan, err := a.plan(cmd, args)
	if err != nil {
		return cli.WrapUsage(err)
	}
	if a.name != "" {
		plan.Name = a.name
	}
	if err := a.settings(cmd, &plan.Entry); err != nil {
		return err
	}
	t := &a.target
	if err := t.read(); err != nil {
		return err
	}
	after, server, err := configfile.Add(t.file, t.before, plan.Name, &plan.Entry)
	if err != nil {
		return cli.WrapUsage(err)
	}
	page := terminal.NewPage(cmd.OutOrStdout())
	showServer(page, server, plan.Notes)
	configfile.Show(page, t.file, t.before, after)
	_ = page.Flush() // a reader that is gone has no use for the rest either
	yes, err := t.confirm(cmd, fmt.Sprintf("Add %s to %s?", server.Name, t.file))
	if !yes || err != nil {
		return err
	}
	if err := plan.Unpack(); err != nil {
		return err
	}
	if yes, err := a.tryFirst(cmd, server.Name, after); !yes || err != nil {
		return errors.Join(err, removeBundles(t.file, after, t.before))
	}
	message := fmt.Sprintf("Added %s to %s. A running serve uses it now; otherwise run: toolpost serve", server.Name, t.file)
	err = saveConfiguration(cmd.Context(), cmd.ErrOrStderr(), t.file, t.before, after, message+a.loginHint(plan))
	t.change.Note(err, server.Name)
	return err
}

// showServer shows what a server runs, contacts and sends.
func showServer(page *terminal.Page, server *config.Description, notes []string) {
	page.WriteString(page.Paint("1", server.Name) + "\n")
	for _, line := range server.Lines {
		page.WriteString("    " + line + "\n")
	}
	for _, note := range notes {
		page.Line("    note       ", note)
	}
	page.WriteString("\n")
}

var registryName = lazyregexp.New(`^[a-zA-Z0-9.-]+\.[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

// loginHint returns how to log in to a server that may want it.
func (a *adding) loginHint(plan *install.Plan) string {
	if a.works || plan.Entry.URL == "" || owner.HasHeader(plan.Entry.Headers, "Authorization") {
		return ""
	}
	return "\nIf it wants a login, run: toolpost login " + cleartext.ShellWord(plan.Name)
}

// plan returns the server that the arguments describe.
func (a *adding) plan(cmd *cobra.Command, args []string) (*install.Plan, error) {
	switch dash := cmd.ArgsLenAtDash(); {
	case dash > 1:
		return nil, fmt.Errorf("unexpected argument %q before --; want at most the name of the server", args[1])
	case dash >= 0 && dash == len(args):
		return nil, errors.New("a command is missing after --")
	case dash >= 0:
		return commandPlan(args[:dash], args[dash:]), nil
	case cli.IsAddress(args[0]):
		return addressPlan(args)
	}
	answers, err := a.answers(cmd)
	if err != nil {
		return nil, err
	}
	return a.findPlan(cmd.Context(), args, answers)
}

// findPlan returns the plan for a bundle, a server.json, or the name of a server
// or package.
func (a *adding) findPlan(ctx context.Context, args []string, answers *install.Answers) (*install.Plan, error) {
	text := args[0]
	switch ending := strings.ToLower(filepath.Ext(text)); {
	case ending == ".mcpb" || ending == ".dxt":
		folder, err := bundleFolder()
		if err != nil {
			return nil, err
		}
		return install.FromBundle(text, folder, answers)
	case ending == ".json":
		data, err := config.Read(text)
		if err != nil {
			return nil, err
		}
		return install.FromServerJSON(data, a.from, answers)
	case registryName.MatchString(text):
		return a.fromRegistry(ctx, text, answers)
	}
	plan, err := install.Package(text, args[1:])
	if plan == nil && err == nil {
		err = unknownServer(text)
	}
	return plan, err
}

func unknownServer(text string) error {
	if near := suggest.Nearest(text, install.Known()); near != "" {
		return fmt.Errorf("there is no known server %q; did you mean %s?", text, near)
	}
	return fmt.Errorf("there is no known server %q; for a package write npm:%s or pypi:%s, for a program: toolpost add -- %s", text, text, text, text)
}

func commandPlan(name, command []string) *install.Plan {
	p := &install.Plan{Entry: install.Entry{Command: command[0], Args: command[1:]}}
	p.Name = install.ShortName(strings.TrimSuffix(filepath.ToSlash(command[0]), ".exe"))
	if p.Name == "npx" || p.Name == "uvx" {
		for _, arg := range command[1:] {
			if !strings.HasPrefix(arg, "-") {
				p.Name = install.ShortName(strings.TrimPrefix(arg, "@"))
				p.Name, _, _ = strings.Cut(p.Name, "-latest")
				break
			}
		}
	}
	if len(name) > 0 {
		p.Name = name[0]
	}
	return p
}

func addressPlan(args []string) (*install.Plan, error) {
	u, err := url.Parse(args[0])
	if err != nil || u.Host == "" {
		return nil, errors.New("the address is not valid; want https://… such as https://example.com/mcp")
	}
	if len(args) > 1 {
		return nil, fmt.Errorf("unexpected argument %q after the address", args[1])
	}
	name := strings.TrimPrefix(strings.TrimPrefix(u.Hostname(), "mcp."), "www.")
	return &install.Plan{Name: strings.NewReplacer(".", "-", ":", "-").Replace(name), Entry: install.Entry{URL: args[0]}}, nil
}

// settings adds what the flags say about the entry.
func (a *adding) settings(cmd *cobra.Command, e *install.Entry) error {
	e.Disabled = a.disabled
	if cmd.Flags().Changed("prefix") {
		e.Prefix = &a.prefix
	}
	for _, pair := range a.env {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || e.Command == "" {
			return cli.Usagef("--env is for a server that is started, and wants NAME=VALUE")
		}
		e.Env = with(e.Env, name, value)
	}
	for _, pair := range a.headers {
		name, value, ok := strings.Cut(pair, ":")
		if !ok || strings.TrimSpace(name) == "" || e.URL == "" {
			return cli.Usagef("--header is for a server with an address, and wants \"NAME: VALUE\"")
		}
		e.Headers = with(e.Headers, strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return nil
}

func with(table map[string]string, name, value string) map[string]string {
	if table == nil {
		table = map[string]string{}
	}
	table[name] = value
	return table
}

// answers returns the values of --set, and a way to ask for others if there is a
// terminal.
func (a *adding) answers(cmd *cobra.Command) (*install.Answers, error) {
	answers := &install.Answers{Name: a.name, Runtime: a.runtime, Given: map[string][]string{}}
	for _, pair := range a.set {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, errors.New("--set wants KEY=VALUE")
		}
		answers.Given[key] = append(answers.Given[key], value)
	}
	if p := cli.NewPrompter(cmd); p.Terminal && !a.target.yes {
		answers.Ask = func(in *install.Input) (string, error) {
			question := in.Key + ": " + in.Description
			if len(in.Choices) > 0 {
				question += " (" + strings.Join(in.Choices, ", ") + ")"
			}
			return p.Line(cmd.Context(), cleartext.Printable(question)+", empty for a variable: ")
		}
	}
	return answers, nil
}

// bundleFolder returns the folder into which bundles are unpacked.
func bundleFolder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of bundles: %w", err)
	}
	return filepath.Join(dir, "toolpost", "bundles"), nil
}
