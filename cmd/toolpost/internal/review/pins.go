// Package review has the commands with which a person looks at changes and approves them:
// configuration files (trust), definitions of tools (pins), differences between two lists
// (diff).
package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/pins"
	"github.com/toolpost/toolpost/internal/suggest"
)

// pinned is the pins of a configuration, for commands that look at them without
// starting a server.
type pinned struct {
	*config.Config
	file   *pins.File
	lock   *pins.Lock
	change *cli.Change // of the command, if it changes pins
}

func readPins(cmd *cobra.Command, path string) (*pinned, error) {
	found, err := cli.FindConfiguration(cmd.Context(), path, cli.NewPrompter(cmd))
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, cli.Usagef("there is no configuration here; name one with --config")
	}
	p := &pinned{Config: found}
	if p.file, err = owner.LockFile(found); err == nil {
		p.lock, err = p.file.Read()
	}
	if err != nil {
		return nil, cli.WrapUsage(err)
	}
	return p, nil
}

// tools returns the pins of a server.
func (p *pinned) tools(server string) (pins.Tools, error) {
	if tools := p.lock.Servers[server]; len(tools) > 0 {
		return tools, nil
	}
	if near := suggest.Names(server, slices.Sorted(maps.Keys(p.lock.Servers)), 3); len(near) > 0 {
		return nil, cli.Usagef("no tool of a server %q is pinned; did you mean %s?", server, strings.Join(near, " or "))
	}
	return nil, cli.Usagef("no tool of a server %q is pinned; \"toolpost pins\" lists the servers", server)
}

const pinsHelp = `Toolpost remembers ("pins") the definition of each tool of your servers when it
first sees it. When a server changes a definition later, clients do not get the
tool until you approve the change: a description is an instruction to a model,
and an approved server could replace it with another one.

Without a command, show how many tools are pinned, and what has changed. This
starts no server: it shows what the last command or a running "toolpost serve"
has seen.

The pins are in the folder "toolpost/pins" of your configuration folder. With
"lock": true in the configuration, they are in toolpost.lock beside it, which
can be committed. A server with "pins": false may change its tools.`

// Pins returns the command "pins".
func Pins() *cobra.Command {
	var (
		config string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "pins [SERVER]",
		Short: "Show which tools have changed since they were pinned",
		Long:  pinsHelp,
		Example: `  toolpost pins
  toolpost pins github
  toolpost pins verify
  toolpost pins forget github`,
		Args: cli.CheckArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPins(cmd, config)
			if err != nil {
				return err
			}
			servers := slices.Sorted(maps.Keys(p.lock.Servers))
			if len(args) > 0 {
				if _, err := p.tools(args[0]); err != nil {
					return err
				}
				servers = args
			}
			if asJSON {
				return p.writeJSON(cmd.OutOrStdout(), servers)
			}
			return p.show(cmd.OutOrStdout(), servers)
		},
	}
	cmd.PersistentFlags().StringVar(&config, "config", "", "configuration `FILE`")
	cli.AddJSONFlag(cmd, &asJSON)
	cmd.AddCommand(verifyCommand(&config), forgetCommand(&config))
	return cmd
}

// show writes the pins of servers, with what has changed.
func (p *pinned) show(w io.Writer, servers []string) error {
	if len(servers) == 0 {
		_, err := fmt.Fprintln(w, `No tool is pinned yet. "toolpost list" and "toolpost serve" pin the tools that they list.`)
		return err
	}
	page := terminal.NewPage(w)
	for _, name := range servers {
		tools := p.lock.Servers[name]
		waiting := tools.Waiting()
		head := fmt.Sprintf("%s: %s pinned", cleartext.Printable(name), terminal.Count(len(tools), "tool"))
		if len(waiting) > 0 {
			head += fmt.Sprintf(", %d withheld", len(waiting))
		}
		page.WriteString(page.Paint("1", head) + "\n")
		for _, tool := range waiting {
			writeChange(page, changeOf(name, tool, tools[tool]))
		}
		if len(waiting) > 0 {
			page.WriteString("\n  To accept this: " + owner.Command(p.Config, "approve", name) + "\n\n")
		}
	}
	return page.Flush()
}

func changeOf(server, tool string, pin *pins.Pin) *definitionChange {
	c := &definitionChange{server: server, tool: tool, after: pin.Pending.JSON, seen: pin.Pending.Seen, isNew: pin.Approved == nil}
	if pin.Approved != nil {
		c.before = pin.Approved.JSON
	}
	return c
}

// Approve returns the command "approve".
func Approve() *cobra.Command {
	var (
		config string
		yes    bool
		change *cli.Change
	)
	cmd := &cobra.Command{
		Use:   "approve SERVER [TOOL…]",
		Short: "Serve tools whose definition a server has changed",
		Long: `Show what a server has changed about its tools, and ask whether clients may get
them again. Name TOOLs, as the server calls them, to approve only these.

You approve what is shown: if a definition changes again meanwhile, the tool
stays withheld. A running "toolpost serve" uses the approval at once. See
"toolpost help pins".`,
		Example: `  toolpost approve github
  toolpost approve github create_issue
  toolpost approve --yes github`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPins(cmd, config)
			if err != nil {
				return err
			}
			p.change = change
			return p.approve(cmd, args[0], args[1:], yes)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "configuration `FILE`")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "approve without asking, for scripts")
	change = cli.AddChangeFlag(cmd)
	return cmd
}

// approve shows and approves the pending definitions of tools, of all if none is named.
func (p *pinned) approve(cmd *cobra.Command, server string, names []string, yes bool) error {
	tools, err := p.tools(server)
	if err != nil {
		return err
	}
	waiting, err := p.chooseTools(server, tools.Waiting(), names)
	if err != nil {
		return err
	}
	ask := cli.NewPrompter(cmd)
	if len(waiting) == 0 {
		fmt.Fprintf(ask.Out, "No tool of %s waits for an approval. \"toolpost list\" looks at what the servers say now.\n", cleartext.Printable(server))
		return nil
	}
	page, hashes := terminal.NewPage(ask.Out), map[string]string{}
	for _, tool := range waiting {
		writeChange(page, changeOf(server, tool, tools[tool]))
		hashes[tool] = tools[tool].Pending.Hash
	}
	if err := page.Flush(); err != nil {
		return err
	}
	if !yes {
		if !ask.Terminal {
			return cli.Usagef("there is no terminal to ask you; add --yes to approve this")
		}
		agreed, err := ask.Ask(cmd.Context(), "May clients get "+terminal.Count(len(waiting), "tool")+" with these definitions?")
		if err != nil {
			return err
		}
		if !agreed {
			return cli.WrapUsage(errors.New("nothing was approved"))
		}
	}
	return p.store(cmd, server, hashes)
}

// chooseTools returns the tools of these names, all of waiting if there is none. A
// name may have the default prefix of the server, as clients see it.
func (p *pinned) chooseTools(server string, waiting, names []string) (chosen []string, err error) {
	if len(names) == 0 {
		return waiting, nil
	}
	for _, name := range names {
		if own := strings.TrimPrefix(name, server+"__"); !slices.Contains(waiting, name) && slices.Contains(waiting, own) {
			name = own
		}
		if !slices.Contains(waiting, name) {
			hint := fmt.Sprintf("%q shows those that do", owner.Command(p.Config, "pins", server))
			if near := suggest.Names(name, waiting, 3); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			}
			return nil, cli.Usagef("no tool %q of %s waits for an approval; %s", name, server, hint)
		}
		chosen = append(chosen, name)
	}
	return chosen, nil
}

// store approves definitions, unless they have changed meanwhile.
func (p *pinned) store(cmd *cobra.Command, server string, hashes map[string]string) error {
	var others []string
	_, err := p.file.Update(cmd.Context(), func(l *pins.Lock) bool {
		others = l.Servers[server].Approve(hashes)
		return true
	})
	if err != nil {
		return err
	}
	for _, name := range others {
		delete(hashes, name)
	}
	if n := len(hashes); n > 0 {
		p.change.Done(slices.Sorted(maps.Keys(hashes))...)
		fmt.Fprintf(cmd.ErrOrStderr(), "\nApproved %s of %s.\n", terminal.Count(n, "tool"), cleartext.Printable(server))
	}
	if len(others) > 0 {
		slices.Sort(others)
		return fmt.Errorf("these tools changed again meanwhile and are not approved: %s; look at them again", strings.Join(others, ", "))
	}
	return nil
}

func forgetCommand(config *string) *cobra.Command {
	var change *cli.Change
	cmd := &cobra.Command{
		Use:   "forget SERVER",
		Short: "Forget the pins of a server, and pin its tools as they are next",
		Args:  cli.CheckArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPins(cmd, *config)
			if err != nil {
				return err
			}
			if _, err := p.tools(args[0]); err != nil {
				return err
			}
			_, err = p.file.Update(cmd.Context(), func(l *pins.Lock) bool {
				delete(l.Servers, args[0])
				return true
			})
			if err == nil {
				change.Done(args[0])
				fmt.Fprintf(cmd.ErrOrStderr(), "Forgot the pins of %s. Its tools are pinned as they are when toolpost lists them next.\n", cleartext.Printable(args[0]))
			}
			return err
		},
	}
	change = cli.AddChangeFlag(cmd)
	return cmd
}

// server returns the entry of a server, nil if there is none.
func (p *pinned) server(name string) *config.Server {
	i := slices.IndexFunc(p.Servers, func(s config.Server) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Servers[i]
}

// A listedPin is one tool of "pins --json".
type listedPin struct {
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`  // the server's own name
	State   string          `json:"state"` // pinned, changed or new; the last two wait for an approval
	SHA256  string          `json:"sha256,omitempty"`
	Pending string          `json:"pendingSha256,omitempty"`
	Seen    *time.Time      `json:"seen,omitempty"`   // when the pending definition was first seen
	Before  json.RawMessage `json:"before,omitempty"` // the approved definition, if another one waits
	After   json.RawMessage `json:"after,omitempty"`  // the one that waits
}

// writeJSON writes the pins of servers.
func (p *pinned) writeJSON(w io.Writer, servers []string) error {
	listed := []listedPin{}
	for _, server := range servers {
		tools := p.lock.Servers[server]
		for _, tool := range slices.Sorted(maps.Keys(tools)) {
			pin, l := tools[tool], listedPin{Server: server, Tool: tool, State: "pinned"}
			if pin.Approved != nil {
				l.SHA256 = pin.Approved.Hash
			}
			if pin.Pending != nil {
				c := changeOf(server, tool, pin)
				l.State, l.Pending, l.Seen, l.Before, l.After = "changed", pin.Pending.Hash, &c.seen, c.before, c.after
				if c.isNew {
					l.State = "new"
				}
			}
			listed = append(listed, l)
		}
	}
	return cli.WriteJSON(w, listed)
}
