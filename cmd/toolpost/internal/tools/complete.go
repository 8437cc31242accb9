package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// complete returns names of tools for the shell, and for a tool its arguments and their
// fixed values, as far as they are known without starting or contacting anything: a person
// who presses the key has not asked for that.
func complete(cmd *cobra.Command, t *connect.Target, args []string, word string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	cfg, rest, err := t.Split(args, -1)
	if err != nil || cfg != nil {
		return nil, none
	}
	found, err := cli.FindConfiguration(cmd.Context(), t.Config, &cli.Prompter{})
	if err != nil {
		return nil, none
	}
	var s *connect.Session
	if found == nil {
		s, err = connect.OpenCurrentFolder(cmd.Context())
	} else {
		s, err = t.OpenStored(cmd, found)
	}
	if err != nil {
		return nil, none
	}
	defer s.Close()
	if len(rest) > 0 {
		return completeArguments(s.Set.Lookup(rest[0]), rest[1:], word), none | cobra.ShellCompDirectiveNoSpace
	}
	names := printableTexts(toolNames(s))
	if found == nil {
		return names, none
	}
	unknown := unlistedPrefixes(names, gateway.Prefixes(found))
	if len(unknown) > 0 {
		return append(names, unknown...), none | cobra.ShellCompDirectiveNoSpace
	}
	return names, none
}

// unlistedPrefixes returns the prefixes of servers that no name is known of.
func unlistedPrefixes(names []string, prefixes map[string]string) (all []string) {
	for _, prefix := range slices.Sorted(maps.Values(prefixes)) {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			all = append(all, prefix)
		}
	}
	return all
}

// completeArguments returns KEY= for the arguments of a tool that are not given yet, or the
// fixed values of the one whose value is written.
func completeArguments(tool *toolpost.Tool, given []string, word string) (all []string) {
	if tool == nil || tool.Input == nil {
		return nil
	}
	var input struct {
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	if json.Unmarshal(tool.Input.Raw(), &input) != nil {
		return nil
	}
	if key, _, ok := strings.Cut(word, "="); ok {
		p := input.Properties[key]
		if p.Type == "boolean" {
			p.Enum = []any{true, false}
		}
		for _, value := range p.Enum {
			text, ok := value.(string)
			if !ok {
				raw, _ := json.Marshal(value) // it was decoded from JSON
				text = string(raw)
			}
			all = append(all, key+"="+text)
		}
		return printableTexts(all)
	}
	for _, key := range slices.Sorted(maps.Keys(input.Properties)) {
		if !slices.ContainsFunc(given, func(arg string) bool { return strings.HasPrefix(arg, key+"=") }) {
			all = append(all, key+"=")
		}
	}
	return printableTexts(all)
}

// printableTexts returns the texts that a terminal shows as they are: they come from servers.
func printableTexts(all []string) []string {
	return slices.DeleteFunc(all, func(text string) bool { return cleartext.Printable(text) != text })
}
