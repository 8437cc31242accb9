package servers

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/suggest"
)

// Link returns the command "link".
func Link() *cobra.Command {
	var l linking
	cmd := &cobra.Command{
		Use:   "link [CLIENT…]",
		Short: "Write the gateway into the configuration of MCP clients",
		Long: `Add toolpost to the configuration files of Claude Desktop, Claude Code, Cursor,
VS Code, Windsurf, Gemini CLI, Codex, opencode and Zed: those you name, such as
claude-desktop, or all that are found. Show the difference of each file, and
write the files if you give --yes or answer yes in a terminal. Nothing else in
them changes; --undo takes toolpost out again, and restores a file byte for byte
if it has not changed since.

With --move, the servers in these files go into ` + owner.ConfigName + `, and clients get
them through toolpost: otherwise clients list their tools twice. A server that
differs from the one in the configuration, or that a move would change, stays.
--undo brings the servers back into the files.

Clients start "toolpost serve --stdio" with your configuration, which works
without anything else running. With --url they use a running "toolpost serve"
together: Claude Desktop, and all clients if the address needs the token, then
start a bridge to it, so that no file contains the token.

A file that is a link, belongs to another user or cannot be parsed is left as it
is; you see what to add by hand.`,
		Example: `  toolpost link
  toolpost link claude-code codex --yes
  toolpost link --url http://127.0.0.1:7717/mcp cursor
  toolpost link --print --url http://127.0.0.1:7717/mcp zed
  toolpost link --move
  toolpost link --list
  toolpost link --undo`,
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&l.undo, "undo", false, "take toolpost out of the files")
	f.BoolVar(&l.list, "list", false, "list the clients and whether they are linked")
	f.BoolVar(&l.move, "move", false, "take the clients' servers out of their files, into the configuration")
	f.BoolVar(&l.print, "print", false, "print what to add to each file by hand, or with --move what would change, and write nothing")
	f.BoolVar(&l.json, "json", false, "list as JSON")
	f.BoolVarP(&l.yes, "yes", "y", false, "write without asking")
	f.BoolVar(&l.project, "project", false, "use the clients' files of the current folder instead of your own")
	f.StringVar(&l.name, "name", "toolpost", "`NAME` of the entry in the files")
	f.StringVar(&l.config, "config", "", "configuration `FILE` that clients serve")
	f.StringVar(&l.url, "url", "", "`ADDRESS` of a running toolpost serve that clients use")
	f.StringVar(&l.profile, "profile", "", "profile `NAME` of the configuration that clients get")
	cli.CompleteArgs(cmd, 0, func() (names []string) {
		files, _ := (&linking{}).files(nil)
		for _, f := range files {
			names = append(names, f.ID()+"\t"+f.Client)
		}
		return names
	})
	cli.Exclusive(cmd, "undo", "list", "print")
	for _, other := range []string{"undo", "list", "profile"} {
		cli.Exclusive(cmd, "move", other)
	}
	cli.Exclusive(cmd, "url", "config")
	return cmd
}

// linking is one run of the command link.
type linking struct {
	undo, list, print, json, yes, project, move bool
	name, config, url, profile                  string

	store     *link.Store
	endpoint  func(f clients.File) *clients.Endpoint
	variables []string // that a gateway started by a client reads
	moving
}

func (l *linking) run(cmd *cobra.Command, args []string) error {
	var err error
	if l.store, err = link.Open(); err != nil {
		return err
	}
	files, err := l.files(args)
	if err != nil {
		return err
	}
	if l.list || l.json {
		return l.show(cmd.OutOrStdout(), files)
	}
	if len(args) == 0 && !l.print {
		files = slices.DeleteFunc(files, func(f clients.File) bool { return !l.concerns(f) })
	}
	if len(files) == 0 {
		return l.nothing(cmd.ErrOrStderr())
	}
	if l.print && !l.move {
		return l.printEntries(cmd, files)
	}
	return l.write(cmd, files, len(args) > 0)
}

// write changes the files if the user agrees. A file that is refused is an error
// if the user named its client.
func (l *linking) write(cmd *cobra.Command, files []clients.File, named bool) error {
	if !l.undo {
		if err := l.prepare(cmd); err != nil {
			return err
		}
	}
	if l.move {
		if err := l.importServers(cmd, files); err != nil {
			return err
		}
	}
	l.warnOfVariables(cmd.ErrOrStderr())
	changes, refused, err := l.changes(cmd, files)
	if err != nil {
		return err
	}
	if len(changes) > 0 && !l.print {
		if err := l.apply(cmd, changes); err != nil {
			return err
		}
	}
	if refused > 0 && named {
		return fmt.Errorf("%s not changed; the reasons are above", terminal.Count(refused, "file"))
	}
	return nil
}

// printEntries shows what a person adds by hand.
func (l *linking) printEntries(cmd *cobra.Command, files []clients.File) error {
	if err := l.prepare(cmd); err != nil {
		return err
	}
	l.warnOfVariables(cmd.ErrOrStderr())
	page := terminal.NewPage(cmd.OutOrStdout())
	for _, f := range files {
		page.WriteString(fmt.Sprintf("%s, in %s:\n%s", page.Paint("1", f.Client), cleartext.Printable(f.Path), l.entry(f)))
	}
	return page.Flush()
}

func (l *linking) nothing(w io.Writer) error {
	if l.undo {
		fmt.Fprintln(w, "No client is linked.")
		return nil
	}
	return cli.Usagef("no client is found; name one, such as: toolpost link claude-code")
}

// files returns one file for each client: those that are named, otherwise all.
func (l *linking) files(named []string) ([]clients.File, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find the files of clients: %w", err)
	}
	folder := ""
	if l.project {
		if folder, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("find the files of clients: %w", err)
		}
	}
	files := link.Files(clients.Files(home, folder, runtime.GOOS, os.LookupEnv), l.project)
	if len(named) == 0 {
		return files, nil
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, f.ID())
	}
	var chosen []clients.File
	for _, name := range named {
		i := slices.IndexFunc(files, func(f clients.File) bool { return plainID(f.ID()) == plainID(name) })
		if i < 0 {
			hint := "want " + strings.Join(ids, ", ")
			if near := suggest.Nearest(name, ids); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			return nil, cli.Usagef("there is no client %q; %s", name, hint)
		}
		chosen = append(chosen, files[i])
	}
	return chosen, nil
}

// plainID returns the name of a client without what people leave out of it.
func plainID(name string) string {
	return strings.TrimSuffix(strings.NewReplacer("-", "", " ", "", "_", "").Replace(strings.ToLower(name)), "cli")
}

// concerns reports whether a client that is not named is linked or undone.
func (l *linking) concerns(f clients.File) bool {
	if l.undo {
		return l.store.Knows(f)
	}
	return link.Installed(f)
}

// changes computes and shows the change of each file, and counts those that are
// refused.
func (l *linking) changes(cmd *cobra.Command, files []clients.File) (changes []*link.Change, refused int, err error) {
	edits := make([]*edit, len(files))
	for i, f := range files {
		edits[i] = l.edit(f)
	}
	if err := l.takeOut(cmd, edits); err != nil {
		return nil, 0, err
	}
	page := terminal.NewPage(cmd.OutOrStdout())
	for _, e := range edits {
		c, path, title := e.change, cleartext.Printable(e.file.Path), page.Paint("1", e.file.Client)
		switch {
		case e.err != nil:
			refused++
			page.WriteString(fmt.Sprintf("%s: left as it is: %s: %s\n", title, path, cleartext.Printable(e.err.Error())))
			if !errors.Is(e.err, errOtherGateway) && !errors.Is(e.err, errItself) {
				page.WriteString(l.byHand(e.file))
			}
			continue
		case c == nil:
			page.WriteString(fmt.Sprintf("%s: not linked\n", title))
			continue
		case c.Empty():
			page.WriteString(fmt.Sprintf("%s: nothing to change in %s\n", title, path))
		default:
			page.WriteString(title + "\n")
			configfile.Show(page, e.file.Path, c.Before, c.After)
		}
		changes = append(changes, c)
		if l.move {
			showStaying(page, e)
		}
	}
	_ = page.Flush() // a reader that is gone has no use for the rest either
	return changes, refused, nil
}

func (l *linking) change(f clients.File) (*link.Change, error) {
	switch {
	case l.undo:
		return l.store.Undo(f)
	case l.isConfiguration(f):
		return nil, errItself
	case l.move && l.url == "" && l.store.Knows(f):
		return l.keep(f)
	}
	return l.store.Link(f, l.name, l.endpoint(f))
}

// byHand describes what a user changes in a file that is refused.
func (l *linking) byHand(f clients.File) string {
	if l.undo || f.ServerPath(l.name) == nil {
		return "  Remove the entry of toolpost by hand.\n"
	}
	if entry := l.entry(f); entry != "" {
		return "  Add by hand:\n" + entry
	}
	return ""
}

// entry returns the lines that make the gateway a server of a client, "" if there are none.
func (l *linking) entry(f clients.File) string {
	d, err := configfile.Open(f.Path, nil)
	if err == nil {
		err = configedit.Set(d, f.Entry(l.endpoint(f)), f.ServerPath(l.name)...)
	}
	if err != nil {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimSpace(string(d.Bytes())), "\n", "\n    ") + "\n"
}

// apply writes the files if the user agrees.
func (l *linking) apply(cmd *cobra.Command, changes []*link.Change) error {
	yes, err := l.agree(cmd, changes)
	if !yes || err != nil {
		return err
	}
	if err := l.saveMoved(cmd); err != nil {
		return err
	}
	stderr, written := cmd.ErrOrStderr(), 0
	var failed []error
	for _, c := range changes {
		err := l.store.Apply(cmd.Context(), c)
		switch {
		case err != nil:
			failed = append(failed, err)
			continue
		case c.Empty():
			continue
		case c.After == nil:
			fmt.Fprintf(stderr, "Removed %s.\n", cleartext.Printable(c.File.Path))
		default:
			fmt.Fprintf(stderr, "Wrote %s.%s\n", cleartext.Printable(c.File.Path), l.backupNote(c))
		}
		written++
	}
	if written > 0 {
		fmt.Fprintln(stderr, "Restart the clients; most read their configuration only when they start.")
	}
	return errors.Join(failed...)
}

// agree reports whether the files are to be written, all of them.
func (l *linking) agree(cmd *cobra.Command, changes []*link.Change) (bool, error) {
	files := 0
	for _, c := range changes {
		if !c.Empty() {
			files++
		}
	}
	if l.imported != nil {
		files++
	}
	if files == 0 || l.yes {
		return true, nil
	}
	p := cli.NewPrompter(cmd)
	if !p.Terminal {
		fmt.Fprintf(p.Out, "Nothing is written yet; add --yes to write %s.\n", terminal.Count(files, "file"))
		return false, nil
	}
	return p.Ask(cmd.Context(), fmt.Sprintf("Write %s?", terminal.Count(files, "file")))
}

func (l *linking) backupNote(c *link.Change) string {
	if l.undo || c.Before == nil {
		return ""
	}
	return " The file as it was: " + cleartext.Printable(l.store.Backup(c.File.Path))
}
