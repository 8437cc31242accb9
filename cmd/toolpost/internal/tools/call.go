package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
)

// Call returns the command "call".
func Call() *cobra.Command {
	var (
		t   connect.Target
		out output
	)
	cmd := &cobra.Command{
		Use:   "call [ADDRESS] NAME [KEY=VALUE… | JSON | -] [-- COMMAND…]",
		Short: "Call one tool",
		Long: `Call one tool and print its result.

Give the arguments as KEY=VALUE pairs, as one JSON object, or as - to read a
JSON object from standard input. The tool's schema decides how a VALUE is read:
as text, a number, true or false, or otherwise as JSON. Repeat a KEY for a list
of several elements.
` + connect.TargetHelp,
		Example: `  toolpost call read path=README.md limit=20
  toolpost call http://127.0.0.1:7717/mcp everything__echo message=hello
  toolpost call echo '{"message": "hello"}' -- npx -y @modelcontextprotocol/server-everything`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, rest, err := t.Split(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if len(rest) == 0 {
				return cli.Usagef(`name a tool; "toolpost list" shows them`)
			}
			t.Tool = rest[0]
			s, err := t.Open(cmd, cfg)
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()                                        // the call has its answer
			if s.Partial && s.Set.Lookup(t.Tool) == nil && !isWithheld(s, t.Tool) { // a server that was not asked may have it
				all, err := t.Reopen(cmd, cfg, s)
				if err != nil {
					return err
				}
				s = all
			}
			out.to, out.tool, out.safe = cmd.OutOrStdout(), rest[0], terminal.Is(cmd.OutOrStdout())
			return callTool(cmd, s, rest[0], rest[1:], &out)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return complete(cmd, &t, args, prefix)
		},
	}
	t.AddCallFlags(cmd)
	cmd.Flags().BoolVar(&out.json, "json", false, "write the raw result")
	cmd.Flags().StringVar(&out.dir, "out", "", "save images, audio and files to `DIR`")
	return cmd
}

func callTool(cmd *cobra.Command, s *connect.Session, name string, args []string, out *output) error {
	tool := s.Set.Lookup(name)
	if tool == nil {
		for _, w := range s.Withheld {
			if w.Name == name {
				return fmt.Errorf("%s: %s", name, w.Why)
			}
		}
		if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
			return err
		}
		return unknown(s, name)
	}
	arguments, err := cli.Interruptible(cmd.Context(), func() (json.RawMessage, error) {
		return readArguments(tool.Input.Raw(), args, cmd.InOrStdin())
	})
	if err != nil {
		return cli.Usagef("%s: %w", name, err)
	}
	r, err := s.Set.Call(cmd.Context(), &toolpost.Call{Name: name, Arguments: arguments})
	var protocol *toolpost.ProtocolError
	switch {
	case errors.As(err, &protocol):
		return fmt.Errorf("%s: the server refused the call: %w (code %d)%s", name, err, protocol.Code, unknownArguments(tool.Input.Raw(), arguments))
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	if r.IsError() {
		if out.json {
			return errors.Join(out.write(r), fmt.Errorf("%s: the tool reports an error", name))
		}
		var text strings.Builder
		failed := *out
		failed.to, failed.safe = &text, terminal.Is(cmd.ErrOrStderr())
		return errors.Join(failed.write(r), fmt.Errorf("%s: %s%s", name, strings.TrimRight(text.String(), "\n"), unknownArguments(tool.Input.Raw(), arguments)))
	}
	return out.write(r)
}

func isWithheld(s *connect.Session, name string) bool {
	return slices.ContainsFunc(s.Withheld, func(w gateway.WithheldTool) bool { return w.Name == name })
}

// unknown returns the error for an unknown tool, with similar names.
func unknown(s *connect.Session, name string) error {
	if s.Address != "" {
		return connect.UnknownTool(name, toolNames(s), `"toolpost list" with this address shows them`)
	}
	return connect.UnknownTool(name, toolNames(s), `"toolpost list" shows them`)
}

func toolNames(s *connect.Session) (names []string) {
	tools, _ := s.Set.Tools(context.Background())
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}
