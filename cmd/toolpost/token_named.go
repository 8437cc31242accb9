package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/owner"
)

func tokenAdd() *cobra.Command {
	var (
		profile, expires string
		change           *cli.Change
	)
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token for one caller, and print it once",
		Long: `Make a token for one caller, and print it. It is stored only as a hash and
cannot be printed again. A running serve accepts it at once.

The caller sends it as "Authorization: Bearer TOKEN". It is known by NAME in
limits and in the audit log, and shares no session, output or process with
others. With --profile it gets this profile of the configuration and nothing
else.`,
		Example: `  toolpost token add ci --profile reading --expires 30d
  toolpost token add alice --expires 2027-01-01`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := expiryTime(expires, time.Now())
			if err != nil {
				return err
			}
			tokens, err := owner.NamedTokens()
			if err != nil {
				return err
			}
			secret, err := tokens.Add(cmd.Context(), args[0], profile, at)
			if err != nil {
				return cli.WrapUsage(err)
			}
			if change.Done(args[0]); cmd.Flags().Changed("json") {
				change.Token = secret
				return nil
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "This token is not shown again. The caller sends it as Authorization: Bearer TOKEN.")
			_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
			return err
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "the caller gets only the profile `NAME` of the configuration")
	cmd.Flags().StringVar(&expires, "expires", "", "refuse the token from `TIME` on: 12h, 30d, 2027-01-01 or 2027-01-01T08:00:00Z (default: never)")
	change = cli.AddChangeFlag(cmd)
	return cmd
}

// expiryTime returns the time in the future that a person means, zero for "".
func expiryTime(s string, now time.Time) (at time.Time, err error) {
	if s == "" {
		return time.Time{}, nil
	}
	past, err := cli.ParseSince(s, now)
	if err != nil {
		return time.Time{}, cli.Usagef("--expires %q is not a time; write 12h, 30d, 2027-01-01 or 2027-01-01T08:00:00Z", s)
	}
	at = past
	if s[len(s)-1] == 'd' || isDuration(s) { // which ParseSince counts backwards
		at = now.Add(now.Sub(past))
	}
	if !at.After(now) {
		return time.Time{}, cli.Usagef("--expires %q is not in the future", s)
	}
	return at, nil
}

func isDuration(s string) bool {
	_, err := time.ParseDuration(s)
	return err == nil
}

func tokenRevoke() *cobra.Command {
	var change *cli.Change
	cmd := &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Refuse a caller's token from now on",
		Long:    "Refuse a caller's token from now on. A running serve ends the caller's sessions\nand calls at once.",
		Example: `  toolpost token revoke ci`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			tokens, err := owner.NamedTokens()
			if err != nil {
				return err
			}
			if err := tokens.Revoke(cmd.Context(), args[0]); err != nil {
				return cli.WrapUsage(err)
			}
			change.Done(args[0])
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Revoked %s.\n", args[0])
			return err
		},
	}
	change = cli.AddChangeFlag(cmd)
	return cmd
}

// A listedToken is one token of "token list --json".
type listedToken struct {
	Name    string    `json:"name"`
	Profile string    `json:"profile,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Expired bool      `json:"expired"`
}

func tokenList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens of callers",
		Long:    "List the tokens of callers: their names, and what they are good for. The tokens\nthemselves are not known.",
		Example: `  toolpost token list --json`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tokens, err := owner.NamedTokens()
			if err != nil {
				return err
			}
			all, err := tokens.List()
			if err != nil {
				return err
			}
			if asJSON {
				listed := []listedToken{}
				for _, t := range all {
					listed = append(listed, listedToken{t.Name, t.Profile, t.Created, t.Expires, t.Expired()})
				}
				return cli.WriteJSON(cmd.OutOrStdout(), listed)
			}
			return writeTokens(cmd.OutOrStdout(), all)
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

func writeTokens(w io.Writer, all []callers.Token) error {
	if len(all) == 0 {
		_, err := io.WriteString(w, "There are no tokens of callers; \"toolpost token add NAME\" makes one.\n")
		return err
	}
	rows := [][]string{{"NAME", "PROFILE", "CREATED", "EXPIRES"}}
	for _, t := range all {
		profile, expires := t.Profile, "never"
		if profile == "" {
			profile = "everything"
		}
		if !t.Expires.IsZero() {
			expires = t.Expires.Local().Format("2006-01-02 15:04")
		}
		if t.Expired() {
			expires += " (expired)"
		}
		rows = append(rows, []string{t.Name, profile, t.Created.Local().Format("2006-01-02 15:04"), expires})
	}
	text, _ := cli.Columns(rows, nil, 0, 0)
	_, err := io.WriteString(w, text)
	return err
}
