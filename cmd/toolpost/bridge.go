package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// bridgeOptions are the flags of serve that describe the one server of the command
// line.
type bridgeOptions struct {
	headers   []string
	env       []string
	share     string
	transport string

	used bool // there is such a server, which clients see as it is
}

func (o *bridgeOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVarP(&o.headers, "header", "H", nil, connect.HeaderUsage)
	f.StringArrayVarP(&o.env, "env", "e", nil, "`NAME=VALUE` to add to the environment of COMMAND, with ${VARIABLES}; may be repeated")
	f.StringVar(&o.share, "share", "", "`WHO` shares the process of COMMAND: always (all clients), per-session or auto (all, until it asks one of them; the default)")
	f.StringVar(&o.transport, "transport", "", "`TRANSPORT` of ADDRESS: http or sse (default: found by trying)")
	cli.CompleteFlag(cmd, "share", cli.Values("always", "per-session", "auto"))
	cli.CompleteFlag(cmd, "transport", cli.Values("http", "sse"))
}

// checkBridge refuses arguments of serve that name no server.
func checkBridge(cmd *cobra.Command, args []string) error {
	before := args
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		before = args[:dash]
	}
	if len(before) > 0 && cli.IsAddress(before[0]) {
		before = before[1:]
	}
	if len(before) > 0 {
		return cobra.NoArgs(cmd, before)
	}
	return nil
}

// bridgeConfig returns the configuration of the one server that the command line
// names, nil if it names none.
func (o *serveOptions) bridgeConfig(args []string, dash int) (*config.Config, error) {
	b := &o.bridge
	if len(args) == 0 && dash < 0 {
		if len(b.headers)+len(b.env)+len(b.share)+len(b.transport) > 0 {
			return nil, cli.Usagef("--header, --env, --share and --transport describe a server on the command line; give an address, or a command after --")
		}
		return nil, nil
	}
	if o.folder.Chosen() {
		return nil, cli.Usagef("give a server or --tools and --root, not both; a configuration can join them")
	}
	t := connect.Target{Config: o.config, Headers: b.headers}
	cfg, _, err := t.Split(args, dash)
	if err != nil {
		return nil, err
	}
	cfg.Output.Off = true
	server := &cfg.Servers[0]
	if err := b.describe(server); err != nil {
		return nil, err
	}
	b.used = true
	return cfg, nil
}

// describe sets what the flags say about the server.
func (o *bridgeOptions) describe(server *config.Server) error {
	server.Share, server.Transport = o.share, upstream.Transport(o.transport)
	switch {
	case server.Command == "" && len(o.env) > 0:
		return cli.Usagef("--env needs a command after --")
	case server.Command == "" && o.share != "":
		return cli.Usagef("--share needs a command after --")
	case server.URL == "" && o.transport != "":
		return cli.Usagef("--transport needs an address")
	case o.transport != "" && o.transport != string(upstream.HTTP) && o.transport != string(upstream.SSE):
		return cli.Usagef("--transport is %q; want http or sse", o.transport)
	case o.share != "" && !slices.Contains([]string{"auto", "always", "per-session"}, o.share):
		return cli.Usagef("--share is %q; want %s, %s or %s", o.share, "auto", "always", "per-session")
	}
	return o.setEnv(server)
}

// setEnv adds the variables of --env to the environment of the command.
func (o *bridgeOptions) setEnv(server *config.Server) error {
	for _, e := range o.env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return cli.Usagef("an --env is not NAME=VALUE")
		}
		value, err := config.Expand(value, os.LookupEnv)
		if err != nil {
			return cli.Usagef("--env %s: %w", name, err)
		}
		server.Env[name] = value
	}
	return nil
}
