package main

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/upstream"
)

func redmineCommand() *cobra.Command {
	var (
		o serveOptions
		r redmine.Options
	)
	cmd := &cobra.Command{
		Use:   "redmine",
		Short: "Serve tools for a Redmine server",
		Long: `Serve tools for the issues, projects, wiki pages and the rest of a Redmine, 5.0
or later, on standard input and output, for clients that start toolpost; or
with --http at an address: /mcp (streamable HTTP), /sse (legacy), /healthz.

Variables select the Redmine server and the user:

  REDMINE_URL (or REDMINE_HOST)    its address, with the path if it is under one
  REDMINE_API_KEY                  the key that "My account" shows in Redmine,
  REDMINE_USER, REDMINE_PASSWORD   or a login and its password,
  REDMINE_TOKEN                    or an OAuth 2 token, Redmine 6.1 or later

Without credentials, toolpost serves nothing unless you give --anonymous.

An administrator has to switch on "Enable REST web service" in Redmine. Toolpost
checks the credentials when it starts. If Redmine rejects them, standard error
and every tool say why, and toolpost tries again.

` + strings.Join(terminal.Wrap("The groups of tools are "+strings.Join(redmine.Groups(), ", ")+".", 80), "\n"),
		Example: `  REDMINE_URL=https://redmine.example.com REDMINE_API_KEY=… toolpost redmine
  toolpost redmine --group issues,wiki --read-only
  toolpost redmine --http 127.0.0.1:7718
  claude mcp add redmine -e REDMINE_URL=… -e REDMINE_API_KEY=… -- toolpost redmine`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.stdio = o.addr == ""
			found, err := redmineConfiguration(&r)
			if err != nil {
				return err
			}
			go giveBack(cmd.Context())
			return o.serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags().Changed("log-level"), found)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "http", "", "serve at `HOST:PORT`; without HOST only programs on this machine reach it")
	f.StringSliceVar(&r.Groups, "group", nil, "serve only this `GROUP` of tools; may be repeated, or separate several with commas")
	f.BoolVar(&r.ReadOnly, "read-only", false, "serve only tools that change nothing")
	f.BoolVar(&r.Anonymous, "anonymous", false, "use no credentials: serve only what is public")
	f.StringVar(&r.As, "as", "", "act as the user with this `LOGIN`; the credentials must be an administrator's")
	o.flags(cmd)
	return cmd
}

// redmineConfiguration is one server without a prefix: the Redmine of the
// environment.
func redmineConfiguration(r *redmine.Options) (*config.Config, error) {
	r.URL = cmp.Or(os.Getenv("REDMINE_URL"), os.Getenv("REDMINE_HOST"))
	r.Key, r.Token = os.Getenv("REDMINE_API_KEY"), os.Getenv("REDMINE_TOKEN")
	r.User, r.Password = os.Getenv("REDMINE_USER"), os.Getenv("REDMINE_PASSWORD")
	switch {
	case r.URL == "":
		return nil, cli.Usagef("set the variable REDMINE_URL to the address of Redmine, such as https://redmine.example.com")
	case r.Anonymous && r.Key+r.User+r.Password+r.Token != "":
		return nil, cli.Usagef("--anonymous uses no credentials, but REDMINE_API_KEY, REDMINE_USER, REDMINE_PASSWORD or REDMINE_TOKEN is set; leave out --anonymous or unset the variables")
	}
	switch _, err := redmine.New(r); {
	case errors.Is(err, secret.ErrNoCredentials):
		return nil, cli.Usagef("set the variable REDMINE_API_KEY to the key that \"My account\" shows in Redmine, or REDMINE_USER and REDMINE_PASSWORD, or REDMINE_TOKEN; or give --anonymous to serve what is public")
	case err != nil:
		return nil, cli.WrapUsage(err)
	}
	noPrefix := ""
	server := config.Server{Config: upstream.Config{Name: "redmine", Transport: "redmine"}, Source: (*config.Source)(r), Prefix: &noPrefix}
	return &config.Config{Name: "redmine", Servers: []config.Server{server}}, nil
}
