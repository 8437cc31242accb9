package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// moving is what link knows about the servers that clients have beside the gateway.
type moving struct {
	gateway  link.Gateway
	movable  []clients.File // whose servers are imported
	imports  *imports
	imported *clients.Imported // what is to be written into the configuration; nil for nothing
	taken    bool              // servers leave the files of clients
}

// An edit is the change of a client's file, and the servers that the file has.
type edit struct {
	file    clients.File
	change  *link.Change // nil if the file is not linked, or for an error
	servers []clients.Server
	err     error
}

// useGateway notes the configuration that clients use, and the address of a serve.
func (l *linking) useGateway(found *config.Config, address string) (err error) {
	if l.gateway.File, err = filepath.Abs(found.File); err != nil {
		return fmt.Errorf("locate %s: %w", found.File, err)
	}
	if l.gateway.Folder, err = os.Getwd(); err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	l.gateway.URL = address
	if run := owner.FindRun(found); run != nil && address == "" {
		l.gateway.URL = run.URL
	}
	l.gateway.Data, err = readIfExists(l.gateway.File)
	return err
}

// useAddressOf notes the configuration of the serve at an address. Only one of this user is
// known; nothing is moved for another one, which may have other servers.
func (l *linking) useAddressOf(cmd *cobra.Command, u *url.URL) error {
	found, err := cli.FindConfiguration(cmd.Context(), "", &cli.Prompter{Out: io.Discard})
	if err == nil && found != nil && found.File != "" && l.profile == "" {
		if run := owner.FindRun(found); run != nil && run.URL == u.String() {
			return l.useGateway(found, run.URL)
		}
	}
	if l.move {
		return cli.Usagef("the configuration of the serve at %s is not known, so nothing can be moved into it; start \"toolpost serve\" here, or leave out --url", u)
	}
	return nil
}

// errOtherGateway means that a client does not get all servers of the configuration.
var errOtherGateway = errors.New("its entry of toolpost does not serve all of the configuration")

// errItself means that the configuration is the file of a client: the gateway would start
// itself, and a move would take out its servers, which are nowhere else.
var errItself = errors.New("it is the configuration that toolpost serves; make another one with: toolpost import, then link with it")

// isConfiguration reports whether a client's file is the configuration, under any name.
func (l *linking) isConfiguration(f clients.File) bool {
	configuration, err := os.Stat(l.gateway.File) // follows links
	if err != nil {
		return false
	}
	file, err := os.Stat(f.Path)
	return err == nil && os.SameFile(configuration, file)
}

// keep leaves a client linked as it is, if it gets all servers of the configuration. An
// entry that starts a gateway may have to name variables of servers that are new there.
func (l *linking) keep(f clients.File) (*link.Change, error) {
	starts := false
	c, err := l.store.Keep(f, func(entry json.RawMessage) bool {
		starts = l.gateway.Starts(entry)
		return l.gateway.Gets(entry)
	})
	if name, _ := l.store.Linked(f); c != nil && starts && len(l.variables) > 0 {
		return l.store.Link(f, name, l.endpoint(f))
	}
	if c == nil && err == nil {
		err = fmt.Errorf("%w %s; write a new one with: toolpost link %s", errOtherGateway, l.gateway.File, f.ID())
	}
	return c, err
}

// importServers shows which servers of the clients are added to the configuration, and asks
// as the command import does.
func (l *linking) importServers(cmd *cobra.Command, files []clients.File) error {
	for _, f := range files {
		if c, err := l.change(f); c != nil && err == nil {
			l.movable = append(l.movable, f)
		}
	}
	l.imports = &imports{file: l.gateway.File, moving: l, write: l.yes || l.print || !cli.NewPrompter(cmd).Terminal}
	found, err := l.imports.find(nil)
	if err != nil {
		return err
	}
	if len(found.Servers) > 0 {
		showAdded(cmd.OutOrStdout(), found, l.gateway.File)
		fmt.Fprintln(cmd.OutOrStdout())
	}
	if found, err = l.imports.pick(cmd, found); err != nil {
		return err
	}
	switch {
	case len(found.Servers) > 0:
		l.useImported(found)
	case l.gateway.Data == nil:
		return cli.Usagef("there is no %s, and no server of these clients that could be moved into one", owner.ConfigName)
	}
	return nil
}

// useImported continues with the configuration that the import makes.
func (l *linking) useImported(found *clients.Imported) {
	l.imported, l.gateway.Data = found, found.JSON
	if l.url != "" {
		return
	}
	if after, err := configfile.Load(l.gateway.File, found.JSON); err == nil {
		l.useFile(after.Variables())
	}
}

// saveMoved writes the servers that are imported, before their clients' files lose them. It
// refuses a configuration that has changed since, and may not have the servers any more.
func (l *linking) saveMoved(cmd *cobra.Command) error {
	if l.imported != nil {
		return l.imports.save(cmd, l.imported)
	}
	if now, err := readIfExists(l.gateway.File); l.taken && (err != nil || !configfile.Equal(now, l.gateway.Data)) {
		return fmt.Errorf("%s changed while you were answering; nothing was written. Run the command again", l.gateway.File)
	}
	return nil
}

// edit computes the change of a file.
func (l *linking) edit(f clients.File) *edit {
	e := &edit{file: f}
	if e.change, e.err = l.change(f); e.change == nil || l.undo || l.gateway.Data == nil || l.profile != "" {
		return e
	}
	all, err := l.gateway.Compare(f, e.change.Before)
	if err != nil && l.move {
		e.change, e.err = nil, err
	}
	for _, s := range all {
		if s.Name != l.name {
			e.servers = append(e.servers, s)
		}
	}
	return e
}

// takeOut removes from the files the servers that the configuration has too, with --move or
// if the user wants it.
func (l *linking) takeOut(cmd *cobra.Command, edits []*edit) error {
	n := 0
	for _, e := range edits {
		n += len(e.duplicates())
	}
	if n == 0 {
		return nil
	}
	if !l.move {
		has := fmt.Sprintf("These clients have %s that %s has too, so that they list the tools twice.", terminal.Count(n, "server"), cleartext.Printable(l.gateway.File))
		p := cli.NewPrompter(cmd)
		page := terminal.NewPage(p.Out)
		if !p.Terminal || l.yes {
			page.Line("", has)
			page.Line("", "To take them out of the clients' files, run: toolpost link --move")
			return page.Flush()
		}
		page.Line("", has)
		_ = page.Flush() // a reader that is gone has no use for the rest either
		if yes, err := p.AskYes(cmd.Context(), "Take them out of the clients' files? --undo brings them back."); !yes || err != nil {
			return err
		}
	}
	l.taken = true
	for _, e := range edits {
		if paths := e.duplicates(); len(paths) > 0 {
			if err := e.change.TakeOut(paths...); err != nil {
				e.change, e.err = nil, err
			}
		}
	}
	return nil
}

// duplicates returns the paths of the entries that can be taken out.
func (e *edit) duplicates() (paths [][]string) {
	for i := range e.servers {
		if e.servers[i].IsDuplicate() {
			paths = append(paths, e.servers[i].Path)
		}
	}
	return paths
}

// showStaying writes which servers stay in a file, and why.
func showStaying(page *terminal.Page, e *edit) {
	for i := range e.servers {
		s := &e.servers[i]
		switch {
		case s.Stays != "":
			page.Line("  "+cleartext.Printable(s.Name)+" stays: ", s.Stays)
		case s.Same == "":
			page.Line("  "+cleartext.Printable(s.Name)+" stays: ", "it is not in the toolpost.json")
		}
	}
}
