package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/configedit"
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
  toolpost link --list
  toolpost link --undo`,
		RunE: func(cmd *cobra.Command, args []string) error { return l.run(cmd, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&l.undo, "undo", false, "take toolpost out of the files")
	f.BoolVar(&l.list, "list", false, "list the clients and whether they are linked")
	f.BoolVar(&l.print, "print", false, "print what to add to each file by hand, and write nothing")
	f.BoolVar(&l.json, "json", false, "list as JSON")
	f.BoolVarP(&l.yes, "yes", "y", false, "write without asking")
	f.BoolVar(&l.project, "project", false, "use the clients' files of the current folder instead of your own")
	f.StringVar(&l.name, "name", "toolpost", "`NAME` of the entry in the files")
	f.StringVar(&l.config, "config", "", "configuration `FILE` that clients serve")
	f.StringVar(&l.url, "url", "", "`ADDRESS` of a running toolpost serve that clients use")
	f.StringVar(&l.profile, "profile", "", "profile `NAME` of the configuration that clients get")
	cli.Exclusive(cmd, "undo", "list", "print")
	cli.Exclusive(cmd, "url", "config")
	return cmd
}

// linking is one run of the command link.
type linking struct {
	undo, list, print, json, yes, project bool
	name, config, url, profile            string

	store    *link.Store
	endpoint func(f config.ClientFile) *config.Endpoint
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
		files = slices.DeleteFunc(files, func(f config.ClientFile) bool { return !l.concerns(f) })
	}
	if len(files) == 0 {
		return l.nothing(cmd.ErrOrStderr())
	}
	if l.print {
		return l.printEntries(cmd, files)
	}
	return l.write(cmd, files, len(args) > 0)
}

// write changes the files if the user agrees. A file that is refused is an error
// if the user named its client.
func (l *linking) write(cmd *cobra.Command, files []config.ClientFile, named bool) error {
	if !l.undo {
		if err := l.prepare(cmd); err != nil {
			return err
		}
	}
	changes, refused := l.changes(cmd, files)
	if len(changes) > 0 {
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
func (l *linking) printEntries(cmd *cobra.Command, files []config.ClientFile) error {
	if err := l.prepare(cmd); err != nil {
		return err
	}
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
func (l *linking) files(named []string) ([]config.ClientFile, error) {
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
	files := link.Files(config.Clients(home, folder, runtime.GOOS, os.LookupEnv), l.project)
	if len(named) == 0 {
		return files, nil
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, f.ID())
	}
	var chosen []config.ClientFile
	for _, name := range named {
		i := slices.IndexFunc(files, func(f config.ClientFile) bool { return plainID(f.ID()) == plainID(name) })
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
func (l *linking) concerns(f config.ClientFile) bool {
	if l.undo {
		return l.store.Knows(f)
	}
	return link.Installed(f)
}

// prepare decides how clients reach the gateway.
func (l *linking) prepare(cmd *cobra.Command) error {
	if l.name == "" {
		return cli.Usagef("--name is empty; want a name such as toolpost")
	}
	if l.url != "" {
		return l.useAddress(cmd)
	}
	found, err := cli.FindConfiguration(cmd.Context(), l.config, cli.NewPrompter(cmd))
	if err != nil {
		return err
	}
	if found == nil || found.File == "" {
		return cli.Usagef("there is no %s that clients could serve; run \"toolpost import\" or \"toolpost add\" first, or name one with --config", owner.ConfigName)
	}
	file, err := filepath.Abs(found.File)
	if err != nil {
		return fmt.Errorf("locate %s: %w", found.File, err)
	}
	program := append(cli.Program(), "serve", "--stdio", "--config", file)
	e := &config.Endpoint{Command: program[0], Args: program[1:], Variables: found.Variables()}
	if l.profile != "" {
		e.Args = append(e.Args, "--profile", l.profile)
	}
	l.endpoint = func(config.ClientFile) *config.Endpoint { return e }
	if len(e.Variables) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s reads %s from the environment. Clients that you start from a desktop may not have it; an \"envFile\" works everywhere.\n",
			file, cleartext.Printable(strings.Join(e.Variables, ", ")))
	}
	return nil
}

// useAddress has clients use a running serve.
func (l *linking) useAddress(cmd *cobra.Command) error {
	u, err := url.Parse(l.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return cli.Usagef("--url is not an address; want http://… such as http://%s/mcp", cli.DefaultAddress)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	if l.profile != "" {
		u = u.JoinPath(l.profile)
	}
	need, err := needsToken(cmd.Context(), u.String())
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "Nothing answers at %s yet; start it with: toolpost serve\n", cleartext.Printable(u.String()))
	}
	address := &config.Endpoint{URL: u.String()}
	program := append(cli.Program(), "serve", u.String(), "--stdio")
	bridge := &config.Endpoint{Command: program[0], Args: program[1:]}
	l.endpoint = func(f config.ClientFile) *config.Endpoint {
		if need || f.StartsServers() {
			return bridge
		}
		return address
	}
	return nil
}

// changes computes and shows the change of each file, and counts those that are
// refused.
func (l *linking) changes(cmd *cobra.Command, files []config.ClientFile) (changes []*link.Change, refused int) {
	page := terminal.NewPage(cmd.OutOrStdout())
	for _, f := range files {
		c, err := l.change(f)
		title := page.Paint("1", f.Client)
		switch {
		case err != nil:
			refused++
			page.WriteString(fmt.Sprintf("%s: left as it is: %s %s\n", title, cleartext.Printable(f.Path+":"), cleartext.Printable(err.Error())))
			page.WriteString(l.byHand(f))
		case c == nil:
			page.WriteString(fmt.Sprintf("%s: not linked\n", title))
		case c.Empty():
			page.WriteString(fmt.Sprintf("%s: nothing to change in %s\n", title, cleartext.Printable(f.Path)))
			changes = append(changes, c)
		default:
			page.WriteString(title + "\n")
			configfile.Show(page, f.Path, c.Before, c.After)
			changes = append(changes, c)
		}
	}
	_ = page.Flush() // a reader that is gone has no use for the rest either
	return changes, refused
}

func (l *linking) change(f config.ClientFile) (*link.Change, error) {
	if l.undo {
		return l.store.Undo(f)
	}
	return l.store.Link(f, l.name, l.endpoint(f))
}

// byHand describes what a user changes in a file that is refused.
func (l *linking) byHand(f config.ClientFile) string {
	if l.undo || f.ServerPath(l.name) == nil {
		return "  Remove the entry of toolpost by hand.\n"
	}
	if entry := l.entry(f); entry != "" {
		return "  Add by hand:\n" + entry
	}
	return ""
}

// entry returns the lines that make the gateway a server of a client, "" if there are none.
func (l *linking) entry(f config.ClientFile) string {
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
	stderr := cmd.ErrOrStderr()
	edits := 0
	for _, c := range changes {
		if !c.Empty() {
			edits++
		}
	}
	if edits > 0 && !l.yes {
		p := cli.NewPrompter(cmd)
		if !p.Terminal {
			fmt.Fprintf(stderr, "Nothing is written yet; add --yes to write %s.\n", terminal.Count(edits, "file"))
			return nil
		}
		yes, err := p.Ask(cmd.Context(), fmt.Sprintf("Write %s?", terminal.Count(edits, "file")))
		if !yes || err != nil {
			return err
		}
	}
	var failed []error
	for _, c := range changes {
		if err := l.store.Apply(cmd.Context(), c); err != nil {
			failed = append(failed, err)
			continue
		}
		if c.Empty() {
			continue
		}
		fmt.Fprintf(stderr, "Wrote %s.%s\n", cleartext.Printable(c.File.Path), l.backupNote(c))
	}
	if edits > len(failed) {
		fmt.Fprintln(stderr, "Restart the clients; most read their configuration only when they start.")
	}
	return errors.Join(failed...)
}

func (l *linking) backupNote(c *link.Change) string {
	if l.undo || c.Before == nil {
		return ""
	}
	return " The file as it was: " + cleartext.Printable(l.store.Backup(c.File.Path))
}

// patienceForAnswer bounds how long link waits for a running serve.
const patienceForAnswer = 2 * time.Second

// needsToken reports whether the server at an address refuses clients without a
// token. The error means that nothing answers.
func needsToken(ctx context.Context, address string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patienceForAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	_ = resp.Body.Close() // only the status counts
	return resp.StatusCode == http.StatusUnauthorized, nil
}
