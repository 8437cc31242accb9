package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// otherNames returns what the commands of other programs are called here.
func otherNames() map[string]string {
	return map[string]string{
		"init": "add or import", "install": "add or link", "new": "add", "rm": "remove", "delete": "remove",
		"ls": "list", "tools": "list", "inspect": "list or doctor", "show": "list", "info": "list or version", "describe": "list",
		"ps": "top", "logs": "top", "log": "top or audit", "start": "serve", "up": "serve", "run-server": "serve", "proxy": "serve", "stop": "top",
		"test": "call or doctor", "exec": "call", "search": "find", "config": "check", "validate": "check", "auth": "login", "ask": "run or chat", "update": "version", "upgrade": "version",
	}
}

// RejectUnknown rejects an unknown subcommand.
func RejectUnknown(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if here := otherNames()[args[0]]; here != "" {
		return Usagef("there is no command %q; did you mean %s?", args[0], here)
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return Usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return Usagef("there is no command %q; %q lists them", args[0], root.CommandPath()+" --help")
}

// CheckArgs replaces the errors of cobra's argument checks with usage errors that
// name the unexpected argument, or show what is missing.
func CheckArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil || errors.As(err, new(UsageError)) {
			return err
		}
		for i := range args {
			if arg := args[len(args)-1-i]; check(cmd, args[:len(args)-1-i]) == nil {
				return Usagef("unexpected argument %q; see %q", arg, cmd.CommandPath()+" --help")
			}
		}
		return Usagef("an argument is missing: write %s; see %q", strings.TrimSuffix(cmd.UseLine(), " [flags]"), cmd.CommandPath()+" --help")
	}
}

// Exclusive has a command refuse more than one of these flags.
func Exclusive(cmd *cobra.Command, flags ...string) {
	cmd.MarkFlagsMutuallyExclusive(flags...) // completion offers only one of them
	flags = slices.Sorted(slices.Values(flags))
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		set := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !cmd.Flags().Changed(name) })
		if len(set) > 1 {
			return Usagef("give --%s, only one of them", strings.Join(set, " or --"))
		}
		return nil
	}
}
