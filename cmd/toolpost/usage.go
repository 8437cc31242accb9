package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageWidth is how wide the descriptions of flags are, for a terminal of 80 columns.
const usageWidth = 80

// printUsage prints how a command is used. It is what cobra prints by itself, with flags that
// are wrapped. As a template, the same would have the linker keep the methods of
// everything: a template may call any of them by name.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		b.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if len(cmd.Aliases) > 0 {
		b.WriteString("\n\nAliases:\n  " + cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		b.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	writeCommands(&b, cmd)
	if cmd.HasAvailableLocalFlags() {
		b.WriteString("\n\nFlags:\n" + flagUsages(cmd.LocalFlags()))
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString("\n\nGlobal Flags:\n" + flagUsages(cmd.InheritedFlags()))
	}
	writeTopics(&b, cmd)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	b.WriteString("\n")
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}

// flagUsages describes flags. One whose value may be left out is --flag [VALUE]: what pflag
// writes instead, --flag VALUE[="default"], reads as if that were to be typed.
func flagUsages(flags *pflag.FlagSet) string {
	text := strings.TrimRight(flags.FlagUsagesWrapped(usageWidth), " \n")
	flags.VisitAll(func(f *pflag.Flag) {
		name, _ := pflag.UnquoteUsage(f)
		if shown := name + `[="` + f.NoOptDefVal + `"]`; name != "" && f.NoOptDefVal != "" {
			text = strings.Replace(text, shown, fmt.Sprintf("%-*s", len(shown), "["+name+"]"), 1)
		}
	})
	return text
}

func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	for _, group := range append(cmd.Groups(), &cobra.Group{Title: "Other"}) {
		title := group.Title
		if len(cmd.Groups()) == 0 {
			title = "Available Commands"
		}
		b.WriteString("\n\n" + title + ":")
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
}

// writeTopics lists texts that are read with "help TOPIC".
func writeTopics(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasHelpSubCommands() {
		return
	}
	b.WriteString("\n\nAdditional help topics:")
	for _, sub := range cmd.Commands() {
		if sub.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(b, "\n  %s   %s", sub.CommandPath(), sub.Short)
		}
	}
}
