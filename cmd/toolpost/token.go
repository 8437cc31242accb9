package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/access/owner"
)

func tokenCommand() *cobra.Command {
	var rotate bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token of serve, or make tokens of callers",
		Long: `Print the token that clients must send in the header "Authorization: Bearer
TOKEN" if serve requires one. The first call generates the token and stores it
in the user's configuration folder, in a file that only its owner may read. It
stays the same until --rotate replaces it.

The variable ` + owner.TokenVariable + `, or serve --token-file FILE, takes its place.

This token is the owner's: it is good for everything that is served. "toolpost
token add NAME" makes a token for one caller, which can be limited to a profile,
expire, and be revoked without a restart.`,
		Example: `  toolpost token
  curl -H "Authorization: Bearer $(toolpost token)" http://127.0.0.1:7717/healthz
  toolpost token --rotate
  toolpost token add ci --profile reading --expires 30d
  toolpost token list
  toolpost token revoke ci`,
		Args: cli.RejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, err := owner.GivenToken("")
			if err == nil && token == "" && !rotate {
				token, err = owner.StoredToken()
			}
			if err == nil && rotate {
				token, err = owner.RotateToken(token != "")
				if err == nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "This is a new token. Restart toolpost serve, and give the token to its clients.")
				}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.AddCommand(tokenAdd(), tokenList(), tokenRevoke())
	for _, c := range cmd.Commands() {
		c.Args = cli.CheckArgs(c.Args)
	}
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the stored token; serve rejects the old one after a restart")
	return cmd
}
