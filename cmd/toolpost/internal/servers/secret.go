package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Secret returns the command "secret".
func Secret() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Keep secrets in the vault that you choose",
		Long: `Keep secrets outside of configuration files, in one vault: the keyring of the
system (the default), files that are encrypted with the key in TOOLPOST_KEY, or
files that only you can read. "toolpost secret use" chooses, and so does the
variable TOOLPOST_VAULT. A vault that cannot be used is an error; no other one
takes its place. Values are never printed.`,
		Example: `  toolpost secret set github
  pass show github | toolpost secret set github
  toolpost secret list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(secretSetCommand(), secretListCommand(), secretRemoveCommand(), secretUseCommand(), secretKeyCommand())
	return cmd
}

func secretSetCommand() *cobra.Command {
	var change *cli.Change
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Keep a secret, which is read without echo or from standard input",
		Long: `Keep a secret under a name. In a terminal it is asked for and not shown;
otherwise it is all of standard input, without one line end at its end.`,
		Args: cli.CheckArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := owner.OpenVault()
			if err != nil {
				return err
			}
			if err := vault.CheckName(owner.SecretPrefix + args[0]); err != nil {
				return cli.WrapUsage(err)
			}
			secret, err := readSecret(cmd, args[0])
			if err != nil {
				return err
			}
			err = v.Update(cmd.Context(), owner.SecretPrefix+args[0], func([]byte) ([]byte, error) { return secret, nil })
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: kept %q in %s\n", args[0], v.Place())
			change.Done(args[0])
			change.Place = v.Place()
			return nil
		},
	}
	change = cli.AddChangeFlag(cmd)
	return cmd
}

// maxTyped is more than a vault keeps of one secret.
const maxTyped = 128 << 10

// readSecret reads a secret from the terminal, without showing it, or from
// standard input.
func readSecret(cmd *cobra.Command, name string) ([]byte, error) {
	in := cmd.InOrStdin()
	var text []byte
	var err error
	if terminal.Is(in) {
		fmt.Fprintf(cmd.ErrOrStderr(), "Value of %s (not shown): ", cleartext.Printable(name))
		cli.BeforeExit(cmd.Context(), terminal.NewLines(in, cmd.ErrOrStderr()).Restore)
		text, err = terminal.ReadSecret(cmd.Context(), in)
		fmt.Fprintln(cmd.ErrOrStderr())
	} else {
		text, err = cli.Interruptible(cmd.Context(), func() ([]byte, error) { return io.ReadAll(io.LimitReader(in, maxTyped)) })
	}
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if value == "" || strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return nil, cli.Usagef("the secret is empty, or is not text; type it, or write it to standard input")
	}
	return []byte(value), nil
}

// A listedSecret is one secret of "secret list --json".
type listedSecret struct {
	Name  string `json:"name"`
	Place string `json:"place"`
}

func secretListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the names of your secrets, and where they are kept",
		Args:  cli.CheckArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := owner.OpenVault()
			if err != nil && owner.NoKeyring() != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: there are no secrets, and none can be kept yet: %v\n", err)
				return listSecrets(cmd, nil, "", asJSON)
			}
			if err != nil {
				return err
			}
			names, err := v.Names()
			if err != nil {
				return err
			}
			if !asJSON {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: %s\n", v.Place())
			}
			return listSecrets(cmd, names, v.Place(), asJSON)
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// listSecrets writes those of the names in a vault that a person has given.
func listSecrets(cmd *cobra.Command, names []string, place string, asJSON bool) error {
	listed := []listedSecret{}
	for _, name := range names {
		if name, ok := strings.CutPrefix(name, owner.SecretPrefix); ok {
			listed = append(listed, listedSecret{name, place})
		}
	}
	if asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), listed)
	}
	for _, secret := range listed {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), cleartext.Printable(secret.Name)); err != nil {
			return err
		}
	}
	return nil
}

func secretRemoveCommand() *cobra.Command {
	var change *cli.Change
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a secret",
		Args:  cli.CheckArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := owner.OpenVault()
			if err != nil {
				return err
			}
			if err := removeSecret(cmd.Context(), v, owner.SecretPrefix+args[0]); errors.Is(err, vault.ErrNotFound) {
				return cli.Usagef("there is no secret %q; \"toolpost secret list\" lists them", args[0])
			} else if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: removed %q\n", args[0])
			change.Done(args[0])
			return nil
		},
	}
	change = cli.AddChangeFlag(cmd)
	return cmd
}

func removeSecret(ctx context.Context, v vault.Vault, name string) error {
	listed, err := vault.Has(v, name)
	if err != nil {
		return err
	}
	return v.Update(ctx, name, func(old []byte) ([]byte, error) {
		if old == nil && !listed {
			return nil, vault.ErrNotFound
		}
		return nil, nil
	})
}

func secretUseCommand() *cobra.Command {
	var change *cli.Change
	cmd := &cobra.Command{
		Use:   "use keyring|encrypted|files",
		Short: "Choose the vault",
		Long: `Choose where secrets are kept from now on: in the keyring of the system, in
files that are encrypted with the key in TOOLPOST_KEY, or in files that only you
can read. Secrets are not moved: set them again, and log in again. The variable
TOOLPOST_VAULT takes precedence.`,
		ValidArgs: []string{string(vault.Keyring), string(vault.Encrypted), string(vault.Files)},
		Args:      cli.CheckArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := owner.SettingsDir()
			if err != nil {
				return err
			}
			if err := vault.Choose(dir, vault.Kind(args[0])); err != nil {
				return cli.WrapUsage(err)
			}
			v, err := owner.OpenVault()
			if err != nil {
				return fmt.Errorf("%s is chosen, but: %w", args[0], err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: secrets are kept in %s\n", v.Place())
			change.Done(args[0])
			change.Place = v.Place()
			return nil
		},
	}
	change = cli.AddChangeFlag(cmd)
	return cmd
}

func secretKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "key",
		Short: "Print a new random key for TOOLPOST_KEY",
		Args:  cli.CheckArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), vault.NewKey())
			return err
		},
	}
}
