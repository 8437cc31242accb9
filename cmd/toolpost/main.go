// Command toolpost joins MCP servers into one endpoint, and lists and calls
// their tools from the command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/internal/terminal"
)

func main() { os.Exit(run()) }

func run() int {
	ctx := untilSignal()
	cmd := rootCommand()
	cmd.SetOut(terminal.Safe(os.Stdout))
	cmd.SetErr(terminal.Safe(os.Stderr))
	if err := keepPrivate(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: warning: %v\n", err)
	}
	err := cmd.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		return exitInterrupted
	}
	return report(cmd.ErrOrStderr(), exclusive(err))
}

var (
	groupError = lazyregexp.New(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)
	flagError  = lazyregexp.New(`^unknown flag: --(.+)$`)
)

// exclusive words the error of flags that exclude each other.
func exclusive(err error) error {
	if err == nil {
		return nil
	}
	m := groupError.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	flags := strings.Fields(m[1])
	return usagef("give --%s, only one of them", strings.Join(flags, " or --"))
}

// otherFlag suggests flags in the place of an unknown one.
func otherFlag(cmd *cobra.Command, err error) string {
	m := flagError.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	if m[1] == "port" && cmd.Flags().Lookup("addr") != nil {
		return "; write --addr 127.0.0.1:PORT"
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := suggest.Names(m[1], names, 3); len(near) > 0 {
		return "; did you mean --" + strings.Join(near, " or --") + "?"
	}
	return ""
}

// untilSignal returns a context that a first signal ends, also the one of a terminal
// that is closed: servers that ignore the end of their input are ended too. A second
// signal ends the process at once.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	h := &interruptHandler{}
	go func() {
		first := <-signals
		for first == os.Interrupt && h.handle() {
			first = <-signals
		}
		cancel(fmt.Errorf("signal: %v", first))
		for next := <-signals; next == syscall.SIGHUP; { // a closed terminal may send several
			next = <-signals
		}
		os.Exit(exitInterrupted)
	}()
	return context.WithValue(ctx, interruptKey{}, h)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolpost",
		Short: "One endpoint for the tools of many MCP servers",
		Long: `Toolpost joins MCP servers into one endpoint, and lists and calls their tools.

To start, run "toolpost serve" in any folder.`,
		Version:                    readVersion().Version,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		Args:                       knownCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w%s; see %q", err, otherFlag(cmd, err), cmd.CommandPath()+" --help")
	})
	root.AddCommand(auditCommand(), replayCommand(), diffCommand())
	root.AddCommand(serveCommand(), redmineCommand(), listCommand(), callCommand(), runCommand(), chatCommand(), checkCommand(), doctorCommand(), topCommand(), lintCommand(), adaptCommand(), importCommand(), trustCommand(), approveCommand(), pinsCommand(),
		claudeCommand(), cacheCommand(), tokenCommand(), secretCommand(), versionCommand(), exitCodesTopic())
	root.AddCommand(linkCommand(), addCommand(), removeCommand())
	root.AddCommand(findCommand(), pricesCommand(), loginCommand(), logoutCommand(), statusCommand())
	for _, c := range root.Commands() {
		c.Args = checked(c.Args)
	}
	strictHelp(root)
	root.SetUsageFunc(printUsage)
	return root
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
					return knownCommand(root, args)
				}
				show(cmd, args)
				return nil
			}
		case "completion":
			c.Args = checked(cobra.NoArgs)
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range c.Commands() {
				shell.Long = wrapLines(shell.Long, 80)
			}
		}
	}
}

// wrapLines breaks the lines of a text that are too long.
func wrapLines(text string, width int) string {
	var all []string
	for _, line := range strings.Split(text, "\n") {
		if len(line) <= width {
			all = append(all, line)
			continue
		}
		all = append(all, terminal.Wrap(line, width)...)
	}
	return strings.Join(all, "\n")
}

// otherNames returns what the commands of other programs are called here.
func otherNames() map[string]string {
	return map[string]string{
		"init": "add or import", "install": "add or link", "new": "add", "rm": "remove", "uninstall": "remove or link --undo", "delete": "remove",
		"ls": "list", "tools": "list", "inspect": "list or doctor", "show": "list", "info": "list or version", "describe": "list",
		"ps": "top", "logs": "top", "log": "top or audit", "start": "serve", "up": "serve", "run-server": "serve", "proxy": "serve", "stop": "top",
		"test": "call or doctor", "exec": "call", "search": "find", "config": "check", "validate": "check", "auth": "login", "ask": "run or chat", "update": "version", "upgrade": "version",
	}
}

// knownCommand rejects an unknown subcommand.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if here := otherNames()[args[0]]; here != "" {
		return usagef("there is no command %q; did you mean %s?", args[0], here)
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("there is no command %q; %q lists them", args[0], root.CommandPath()+" --help")
}

// checked replaces the errors of cobra's argument checks with usage errors that
// name the unexpected argument, or show what is missing.
func checked(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil || errors.As(err, new(usageError)) {
			return err
		}
		for i := range args {
			if arg := args[len(args)-1-i]; check(cmd, args[:len(args)-1-i]) == nil {
				return usagef("unexpected argument %q; see %q", arg, cmd.CommandPath()+" --help")
			}
		}
		return usagef("an argument is missing: write %s; see %q", strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.CommandPath()+" --help")
	}
}

// The exit codes, documented by "toolpost help exit-codes".
const (
	exitFailed      = 1
	exitUsage       = 2
	exitLimit       = 3
	exitWaiting     = 4
	exitRefused     = 5
	exitInterrupted = 130
)

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes:
  0    done; for serve: stopped by a signal or by the end of its input
  1    a tool or a server failed, or no server could be reached; for lint:
       there is a finding at or above --fail-on; for check and doctor: there is
       an error, or with --strict a warning; for pins verify: a tool is not
       as it was pinned; for diff: they differ; for prices: a named model has no
       price; for claude summarize: the result is an error
  2    the command line or the configuration is wrong, the configuration is not
       approved, or there is no such tool; for claude summarize: the stream
       cannot be read, or the summary cannot be written
  3    run and chat: a limit is reached, or the answer is incomplete
  4    run and chat: calls wait for an approval, and there is no terminal
  5    run and chat: the model refused to answer
  130  interrupted`,
	}
}

// A usageError is a mistake on the command line or in a configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// report writes err for people and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errShown) {
		return exitFailed
	}
	fmt.Fprintf(w, "toolpost: %s\n", strings.TrimSuffix(err.Error(), "\n"))
	var (
		usage   usageError
		config  *config.Error
		stopped *stopError
	)
	if errors.As(err, &stopped) {
		return stopped.code
	}
	if errors.As(err, &usage) || errors.As(err, &config) {
		return exitUsage
	}
	return exitFailed
}
