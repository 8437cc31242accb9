package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/schema/dialect"
)

// CompleteFlag has the completion of a shell offer values for a flag. A value may be
// followed by a tab and a description.
func CompleteFlag(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}) // the flag is there
}

// CompleteArgs has the completion of a shell offer values for the arguments, each once and
// at most that many of them, or any number if most is 0.
func CompleteArgs(cmd *cobra.Command, most int, values func() []string) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		left := slices.DeleteFunc(values(), func(value string) bool {
			value, _, _ = strings.Cut(value, "\t")
			return slices.Contains(args, value)
		})
		return left, cobra.ShellCompDirectiveNoFileComp
	}
}

// Dialects returns the ids of the built-in dialects with their titles.
func Dialects() (ids []string) {
	for _, d := range dialect.All() {
		ids = append(ids, d.ID+"\t"+d.Title)
	}
	return ids
}

// Values returns a function that returns fixed values.
func Values(values ...string) func() []string {
	return func() []string { return slices.Clone(values) }
}
