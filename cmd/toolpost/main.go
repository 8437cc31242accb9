// Command toolpost joins MCP servers into one endpoint, and lists and calls their tools
// from the command line. Here are the root command, serve, top and token; each other
// command is in the folder of internal that it is about.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/agents"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/checks"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/records"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/review"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/servers"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/service"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/tools"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/uninstall"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/upgrade"
	"github.com/toolpost/toolpost/internal/suggest"
)

func main() { os.Exit(run()) }

func run() int {
	tuneMemory()
	ctx := cli.UntilSignal()
	cmd := rootCommand()
	cmd.SetOut(terminal.Safe(os.Stdout))
	cmd.SetErr(terminal.Safe(os.Stderr))
	if err := cli.KeepPrivate(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: warning: %v\n", err)
	}
	err := cmd.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		return cli.ExitInterrupted
	}
	return cli.Report(cmd.ErrOrStderr(), err)
}

// otherFlag suggests flags in the place of an unknown one.
func otherFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	name := unknown.GetSpecifiedName()
	if name == "port" && cmd.Flags().Lookup("addr") != nil {
		return "; write --addr 127.0.0.1:PORT"
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := suggest.Names(name, names, 3); len(near) > 0 {
		return "; did you mean --" + strings.Join(near, " or --") + "?"
	}
	return ""
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolpost",
		Short: "One endpoint for the tools of many MCP servers",
		Long: `Toolpost joins MCP servers into one endpoint, and lists and calls their tools.

To start, run "toolpost serve" in any folder.`,
		Version:                    cli.ReadBuild().Version,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		Args:                       cli.RejectUnknown,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usagef("%w%s; see %q", err, otherFlag(cmd, err), cmd.CommandPath()+" --help")
	})
	serve := serveCommand()
	addGroup(root, "Serve", serve, servers.Link(), statusCommand(), topCommand(), logsCommand(), restartCommand(), service.Command(serve.Flags()), checks.Doctor(), redmineCommand())
	addGroup(root, "Servers", servers.Add(), servers.Import(), servers.Remove(), checks.Check(), servers.Login(), servers.Logins(), servers.Logout(), servers.Secret())
	addGroup(root, "Tools", tools.List(), tools.Find(), tools.Call(), checks.Lint(), checks.Adapt())
	addGroup(root, "Access and records", review.Trust(), review.Pins(), review.Approve(), tokenCommand(), records.Audit(), records.Cache(), records.Replay(), review.Diff())
	addGroup(root, "Models", agents.Chat(), agents.Run(), agents.Prices(), agents.Claude())
	root.AddCommand(versionCommand(), upgrade.Command(), uninstall.Command(), cli.ExitCodesTopic())
	for _, c := range root.Commands() {
		c.Args = cli.CheckArgs(c.Args)
	}
	strictHelp(root)
	root.SetUsageFunc(printUsage)
	return root
}

// addGroup adds commands that help lists together, in their order.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

// strictHelp has help and completion refuse what they do not know, instead of showing
// something else with success.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			show := c.Run
			c.Run, c.RunE = nil, func(cmd *cobra.Command, args []string) error {
				if topic, _, err := root.Find(args); len(args) > 0 && (err != nil || topic == root) {
					return cli.RejectUnknown(root, args)
				}
				show(cmd, args)
				return nil
			}
		case "completion":
			c.Args = cli.CheckArgs(cobra.NoArgs)
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range c.Commands() {
				shell.Long = terminal.WrapLines(shell.Long, 80)
			}
		}
	}
}
