package servers

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/install"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// Remove returns the command "remove".
func Remove() *cobra.Command {
	var t configurationEdit
	cmd := &cobra.Command{
		Use:     "remove NAME…",
		Aliases: []string{"rm"},
		Short:   "Remove servers from toolpost.json",
		Long: `Remove servers from the configuration that serve uses. Show the difference of
the file, whose comments stay, and write it if you give --yes or answer yes in a
terminal. A running serve then stops the servers at once. The folder of a bundle
is removed with its server.`,
		Example: `  toolpost remove memory
  toolpost remove files web --yes`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error { return t.remove(cmd, names) },
	}
	t.flags(cmd)
	t.change = cli.AddChangeFlag(cmd)
	return cmd
}

func (t *configurationEdit) remove(cmd *cobra.Command, names []string) error {
	if err := t.read(); err != nil {
		return err
	}
	if t.before == nil {
		return cli.Usagef("there is no %s to remove a server from; name one with --config", t.file)
	}
	after, err := configfile.Remove(t.file, t.before, names...)
	if err != nil {
		return cli.WrapUsage(err)
	}
	page := terminal.NewPage(cmd.OutOrStdout())
	configfile.Show(page, t.file, t.before, after)
	_ = page.Flush() // a reader that is gone has no use for the rest either
	list := cleartext.Printable(strings.Join(names, ", "))
	yes, err := t.confirm(cmd, fmt.Sprintf("Remove %s from %s?", list, t.file))
	if !yes || err != nil {
		return err
	}
	if err := saveConfiguration(cmd.Context(), cmd.ErrOrStderr(), t.file, t.before, after, fmt.Sprintf("Removed %s from %s.", list, t.file)); err != nil {
		return err
	}
	t.change.Done(names...)
	return removeBundles(t.file, t.before, after)
}

// A configurationEdit is a change of the toolpost.json that serve uses.
type configurationEdit struct {
	file   string
	yes    bool   // write without asking
	before []byte // nil if the file does not exist
	change *cli.Change
}

func (t *configurationEdit) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.file, "config", "", "configuration `FILE` (default: the one that serve uses)")
	cmd.Flags().BoolVarP(&t.yes, "yes", "y", false, "write without asking")
}

// read finds the file and reads it.
func (t *configurationEdit) read() error {
	if t.file == "" {
		file, _, err := owner.DefaultFile()
		if err != nil {
			return err
		}
		if t.file = file; file == "" {
			t.file = owner.ConfigName
		}
	}
	t.change.File = t.file
	var err error
	if t.before, err = config.Read(t.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.WrapUsage(err)
	}
	return nil
}

// confirm reports whether the file is to be written.
func (t *configurationEdit) confirm(cmd *cobra.Command, question string) (bool, error) {
	p := cli.NewPrompter(cmd)
	switch {
	case t.yes:
		return true, nil
	case !p.Terminal:
		fmt.Fprintf(p.Out, "Nothing is written yet; add --yes to write %s.\n", cleartext.Printable(t.file))
		return false, nil
	}
	return p.Ask(cmd.Context(), question)
}

// removeBundles removes the folders of bundles that no server uses any more, neither of
// this file nor of another one that the user has approved.
func removeBundles(file string, before, after []byte) error {
	folder, err := bundleFolder()
	if err != nil {
		return nil // there are none without it
	}
	used := map[string]bool{}
	for _, dir := range configfile.Folders(file, after) {
		used[dir] = true
	}
	var failed []error
	for _, dir := range configfile.Folders(file, before) {
		if !used[dir] && filepath.Dir(dir) == folder && !usedByOthers(file, dir) {
			failed = append(failed, install.Remove(dir))
		}
	}
	return errors.Join(failed...)
}

// usedByOthers reports whether another configuration that was approved names a folder of
// a bundle. Nothing is known of those that cannot be read, so they count if they exist.
func usedByOthers(file, dir string) bool {
	store, err := trust.Open()
	if err != nil {
		return true
	}
	approvals, err := store.List()
	if err != nil {
		return true
	}
	own, _ := trust.Locate(file)
	for _, a := range approvals {
		data, err := os.ReadFile(a.File)
		if a.File != own && (err == nil && bytes.Contains(data, []byte(filepath.Base(dir))) || err != nil && !errors.Is(err, fs.ErrNotExist)) {
			return true
		}
	}
	return false
}
