// Package uninstall is the command "uninstall": it lists and removes everything that
// Toolpost keeps for the user, but not the program.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/service"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/upgrade"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Command returns the command "uninstall".
func Command() *cobra.Command {
	var u uninstalling
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "List and remove everything that Toolpost keeps for you",
		Long: `List everything that Toolpost keeps for you on this machine, ask once, and
remove it: the service, the entries in the files of linked clients, secrets and
logins, settings with your own toolpost.json, approvals and pins, the audit log,
sessions and caches. The files of clients become what they were, as by "toolpost
link --undo".

The toolpost.json of your projects stay. So does the program: the last line says
how to remove it. Logins are not ended at their servers: "toolpost logout" does
that before. Links are not followed, and files that Toolpost has not made stay.

It refuses to run while "toolpost serve" runs. End clients that have started it.`,
		Example: `  toolpost uninstall --dry-run
  toolpost uninstall`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return u.run(cmd) },
	}
	f := cmd.Flags()
	f.BoolVar(&u.dry, "dry-run", false, "only list")
	f.BoolVarP(&u.yes, "yes", "y", false, "remove without asking")
	cli.AddJSONFlag(cmd, &u.json)
	cli.Exclusive(cmd, "dry-run", "yes")
	return cmd
}

// uninstalling is one run of the command.
type uninstalling struct{ dry, yes, json bool }

// A result is what the command writes as JSON.
type result struct {
	Removed bool    `json:"removed"` // otherwise, the items are only listed
	Items   []*item `json:"items"`
	Kept    []*item `json:"kept"`    // with the reasons
	Program string  `json:"program"` // the command that removes the program
}

func (u *uninstalling) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if err := refuseRuns(service.Installed() == ""); err != nil && !u.dry {
		return err
	}
	items, kept, err := collect()
	if err != nil {
		return err
	}
	r := &result{Items: items, Kept: kept, Program: removeProgram()}
	if !u.json {
		u.list(cmd.OutOrStdout(), r)
	}
	if yes, err := u.agreed(cmd, r); err != nil || !yes {
		return err
	}
	if len(items) > 0 && !u.dry {
		err = r.remove(ctx)
	}
	if u.json {
		return errors.Join(cli.WriteJSON(cmd.OutOrStdout(), r), err)
	}
	if r.Removed {
		fmt.Fprintf(cmd.ErrOrStderr(), "Removed %s.\n", terminal.Count(len(r.Items), "item"))
	}
	return err
}

// removeProgram returns the command that removes this program.
func removeProgram() string {
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return upgrade.Remover(program)
}

// refuseRuns returns an error if toolpost serve runs, unless it may be the service, which
// ends first.
func refuseRuns(all bool) error {
	runs := owner.Runs()
	if len(runs) == 0 || !all && len(runs) == 1 {
		return nil
	}
	return fmt.Errorf("toolpost serve runs at %s (process %d); end it first", runs[0].URL, runs[0].PID)
}

// list shows what will be removed, and what stays.
func (u *uninstalling) list(w io.Writer, r *result) {
	if len(r.Items) == 0 {
		fmt.Fprintln(w, "Toolpost keeps nothing for you on this machine.")
	} else {
		fmt.Fprintln(w, "To be removed:")
	}
	for _, one := range r.Items {
		fmt.Fprintln(w, "  "+one.String())
	}
	if len(r.Kept) > 0 {
		fmt.Fprintln(w, "\nStays:")
	}
	for _, one := range r.Kept {
		fmt.Fprintln(w, "  "+one.String())
	}
	fmt.Fprintf(w, "\nTo remove the program: %s\n", cleartext.Printable(r.Program))
}

// agreed asks the user, if there is something to remove.
func (u *uninstalling) agreed(cmd *cobra.Command, r *result) (bool, error) {
	if u.dry || u.yes || len(r.Items) == 0 {
		return true, nil
	}
	p := cli.NewPrompter(cmd)
	if !p.Terminal || u.json {
		return false, cli.Usagef("nothing is removed; add --yes to remove it, or --dry-run to list it")
	}
	return p.Ask(cmd.Context(), fmt.Sprintf("Remove %s?", terminal.Count(len(r.Items), "item")))
}

// remove removes the items in their order. What cannot be removed is kept, with the reason.
func (r *result) remove(ctx context.Context) error {
	var failed []error
	var removed []*item
	for _, one := range r.Items {
		if err := one.remove(ctx); err != nil {
			one.Why = err.Error()
			r.Kept = append(r.Kept, one)
			failed = append(failed, fmt.Errorf("%s: %w", one.Path, err))
			if one.Kind != "file" && one.Kind != "folder" {
				break // the folders have what is needed to try again
			}
			continue
		}
		removed = append(removed, one)
		if one.Kind == "service" {
			if err := refuseRuns(true); err != nil {
				failed = append(failed, err)
				break
			}
		}
	}
	r.Removed, r.Items = true, removed
	return errors.Join(failed...)
}
