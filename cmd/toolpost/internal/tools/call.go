package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// Call returns the command "call".
func Call() *cobra.Command { return callCommand(&connect.Target{}) }

func callCommand(t *connect.Target) *cobra.Command {
	var out output
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
			out.to, out.tool, out.safe = cmd.OutOrStdout(), rest[0], terminal.Is(cmd.OutOrStdout())
			c := &caller{cmd: cmd, name: rest[0], args: rest[1:], out: &out, stdin: cmd.InOrStdin()}
			found := cfg
			if cfg == nil {
				if found, err = cli.FindConfiguration(cmd.Context(), t.Config, cli.NewPrompter(cmd)); err != nil {
					return err
				}
				if called, err := c.callRunning(t.Running(cmd, found)); called {
					return err
				}
			}
			return c.callStarted(t, cfg, found)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return complete(cmd, t, args, prefix)
		},
	}
	t.AddCallFlags(cmd)
	cmd.Flags().BoolVar(&out.json, "json", false, "write the raw result")
	cmd.Flags().StringVar(&out.dir, "out", "", "save images, audio and files to `DIR`")
	return cmd
}

// A caller makes the call of a command line.
type caller struct {
	cmd   *cobra.Command
	name  string // of the tool
	args  []string
	stdin io.Reader
	out   *output
}

// callRunning has the serve that runs make the call, if it has the tool. Called reports
// whether it did; otherwise nothing has happened.
func (c *caller) callRunning(tool *connect.RunningTool) (called bool, err error) {
	if tool == nil {
		return false, nil
	}
	defer tool.Close()
	var read bytes.Buffer
	stdin := c.stdin
	c.stdin = io.TeeReader(stdin, &read)
	if err = c.call(&tool.Definition, tool.Call); errors.Is(err, owner.ErrNotSame) {
		c.stdin = io.MultiReader(&read, stdin)
		return false, nil
	}
	return true, err
}

// callStarted starts what the call needs, which was found if it is not cfg, and makes the call.
func (c *caller) callStarted(t *connect.Target, cfg, found *config.Config) (err error) {
	var s *connect.Session
	if cfg != nil {
		s, err = t.Open(c.cmd, cfg)
	} else {
		s, err = t.OpenFound(c.cmd, found)
	}
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()              // the call has its answer
	if s.Partial && s.Set.Lookup(t.Tool) == nil { // a server that was not asked may have it, or list it again as it was approved
		all, err := t.Reopen(c.cmd, cfg, s)
		if err != nil {
			return err
		}
		s = all
	}
	tool := s.Set.Lookup(c.name)
	if tool == nil {
		return missing(c.cmd, s, c.name)
	}
	return c.call(&tool.Definition, func(ctx context.Context, arguments json.RawMessage) (*toolpost.Result, error) {
		return s.Set.Call(ctx, &toolpost.Call{Name: c.name, Arguments: arguments})
	})
}

// missing returns why there is no tool of a name.
func missing(cmd *cobra.Command, s *connect.Session, name string) error {
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

// call reads the arguments, calls the tool with run, and writes the result.
func (c *caller) call(tool *toolpost.Definition, run func(context.Context, json.RawMessage) (*toolpost.Result, error)) error {
	arguments, err := cli.Interruptible(c.cmd.Context(), func() (json.RawMessage, error) {
		return readArguments(tool.Input.Raw(), c.args, c.stdin)
	})
	if err != nil {
		return cli.Usagef("%s: %w", c.name, err)
	}
	r, err := run(c.cmd.Context(), arguments)
	var protocol *toolpost.ProtocolError
	switch {
	case errors.As(err, &protocol):
		return fmt.Errorf("%s: the server refused the call: %w (code %d)%s", c.name, err, protocol.Code, unknownArguments(tool.Input.Raw(), arguments))
	case err != nil:
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if r.IsError() {
		if c.out.json {
			return errors.Join(c.out.write(r), fmt.Errorf("%s: the tool reports an error", c.name))
		}
		var text strings.Builder
		failed := *c.out
		failed.to, failed.safe = &text, terminal.Is(c.cmd.ErrOrStderr())
		return errors.Join(failed.write(r), fmt.Errorf("%s: %s%s", c.name, strings.TrimRight(text.String(), "\n"), unknownArguments(tool.Input.Raw(), arguments)))
	}
	return c.out.write(r)
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
