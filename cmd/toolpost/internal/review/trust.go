package review

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/ownership"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// Trust returns the command "trust".
func Trust() *cobra.Command {
	var yes, list, revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Approve the configuration file of a folder",
		Long: `Show every program that a configuration file runs, every address it contacts
and what it sends there, and ask whether toolpost may use it. FILE is
./` + owner.ConfigName + ` if you name none.

A ` + owner.ConfigName + ` of the current folder is used only after you have approved it,
because anyone who can give you a folder could otherwise run programs as you.
The approval covers the content: after a change toolpost asks again. A file that
you name with --config needs no approval when toolpost starts. A running
"toolpost serve" does not use new or changed programs, addresses, variables and
headers until you approve the file, and then uses them at once.

Approvals are stored in the folder "toolpost/trusted" of your configuration
folder.`,
		Example: `  toolpost trust
  toolpost trust --yes ~/project/toolpost.json
  toolpost trust --list
  toolpost trust --revoke`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := owner.ConfigName
			if len(args) > 0 {
				file = args[0]
			}
			switch {
			case list && len(args) > 0:
				return cli.Usagef("--list lists all files; leave out %q", file)
			case list:
				return listApprovals(cmd.OutOrStdout(), asJSON)
			case asJSON:
				return cli.Usagef("--json writes the list of files; add --list")
			case revoke:
				return revokeApproval(cmd.OutOrStdout(), file)
			}
			return approveFile(cmd, file, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "approve without asking, for scripts")
	cmd.Flags().BoolVar(&list, "list", false, "list the approved files")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "forget the approval of FILE")
	cli.AddJSONFlag(cmd, &asJSON)
	cli.Exclusive(cmd, "yes", "list", "revoke")
	return cmd
}

func approveFile(cmd *cobra.Command, file string, yes bool) error {
	if err := ownership.Check(file); errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("there is no %s; name the file that you want to approve", file)
	} else if err != nil {
		return cli.WrapUsage(err)
	}
	cfg, err := owner.Load(cmd.Context(), file)
	if err != nil {
		return cli.WrapUsage(err)
	}
	r, err := owner.NewReview(cfg)
	if err != nil {
		return err
	}
	p := cli.NewPrompter(cmd)
	switch {
	case r.Approved():
		fmt.Fprintf(p.Out, "%s is approved already.\n", cleartext.Printable(r.File))
		return nil
	case yes:
		fmt.Fprint(p.Out, r.Text())
		err = r.Approve()
	case !p.Terminal:
		fmt.Fprint(p.Out, r.Text())
		return cli.Usagef("there is no terminal to ask you; add --yes to approve the file")
	default:
		err = cli.Approve(cmd.Context(), p, r)
	}
	if err == nil {
		fmt.Fprintf(p.Out, "\nApproved %s.\n", cleartext.Printable(r.File))
	}
	return err
}

func revokeApproval(w io.Writer, file string) error {
	store, err := trust.Open()
	if err != nil {
		return err
	}
	if file, err = trust.Locate(file); err != nil {
		return err
	}
	found, err := store.Revoke(file)
	if err == nil && !found {
		return cli.Usagef("%s is not approved; \"toolpost trust --list\" lists the files that are", file)
	}
	if err == nil {
		fmt.Fprintf(w, "Revoked %s. A running toolpost keeps using it until it ends.\n", cleartext.Printable(file))
	}
	return err
}

// listApprovals writes one line for each approved file, or all as JSON.
func listApprovals(w io.Writer, asJSON bool) error {
	store, err := trust.Open()
	if err != nil {
		return err
	}
	all, err := store.List()
	if asJSON && err == nil {
		return writeApprovals(w, all)
	}
	if err == nil && len(all) == 0 {
		fmt.Fprintln(w, "No file is approved.")
	}
	for _, a := range all {
		fmt.Fprintf(w, "%s  %-8s  %s\n", a.Time.Local().Format("2006-01-02 15:04"), approvalState(a), cleartext.Printable(a.File))
	}
	return err
}

// approvalState compares an approval with the file as it is now.
func approvalState(a *trust.Approval) string {
	if _, err := os.Stat(a.File); errors.Is(err, fs.ErrNotExist) {
		return "missing"
	}
	if cfg, err := config.Load(a.File); err != nil || cfg.Digest != a.Digest {
		return "changed"
	}
	return "approved"
}

// A listedApproval is one file of "trust --list --json".
type listedApproval struct {
	File     string    `json:"file"`
	State    string    `json:"state"` // approved, changed or missing
	Approved time.Time `json:"approved"`
	Servers  []string  `json:"servers"`
}

func writeApprovals(w io.Writer, all []*trust.Approval) error {
	listed := []listedApproval{}
	for _, a := range all {
		servers := append([]string{}, slices.Sorted(maps.Keys(a.Servers))...)
		listed = append(listed, listedApproval{a.File, approvalState(a), a.Time, servers})
	}
	return cli.WriteJSON(w, listed)
}
