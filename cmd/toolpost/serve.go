package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/folder"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/mcpserver"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/serve"
)

// Options of serve.
type serveOptions struct {
	config    string
	addr      string
	stdio     bool
	hosts     []string
	origins   []string
	logLevel  slog.Level
	logFormat string
	logFile   string
	name      string
	profile   string
	dialect   string
	folder    folder.Options
	access    accessOptions
	bridge    bridgeOptions
	caps      sessionCaps
	metrics   string // HOST:PORT; "" for none

	watchTrusted bool
	record       string // the file of a recording; empty for none
	fresh        bool
}

const serveHelp = `Join the servers of a configuration and serve their tools, prompts and
resources at one address: /mcp (streamable HTTP), /sse (legacy), /healthz.

With an ADDRESS, or a COMMAND after --, serve this one server as it is: another
transport, without a configuration or a prefix. See docs/clients.md.

Toolpost adapts the tools to each client's dialect. It recognises the client by
the name and version that the client sends; an address such as
/mcp/claude-desktop, or --dialect, selects a dialect explicitly.

The configuration is --config FILE, otherwise the variable MCP_URLS (addresses
separated by commas), otherwise ./toolpost.json once you have approved it
("toolpost help trust"), otherwise the user's toolpost.json. While toolpost
runs, changed filters, prefixes and limits in the file apply at once; new,
renamed and changed servers wait until you run "toolpost trust FILE".

A tool whose definition a server changes is withheld until you run "toolpost
approve SERVER"; see "toolpost help pins".

Without any configuration, or with --tools or --root, toolpost serves tools over
a folder. Separate several NAMES of --tools with commas:

  workspace        reads files (read, list, glob and grep)
  workspace-write  also changes them (write, edit, multi_edit, move)
  bash             runs any command as you (bash, bash_output, bash_kill)
  fetch            reads public web pages
  todos            keeps a plan (write_todos, read_todos)

Models see a part of a large output and read the rest with tool_output_cache and
tool_output_cache_grep; "toolpost cache" lists the stored outputs.

The lists of all servers are stored in the user's cache folder. The next start
serves them at once, while the servers connect. --fresh turns this off, and
"toolpost cache rm --catalog" removes the stored lists.

GOGC and GOMEMLIMIT are set for speed unless you set them.`

func serveCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [ADDRESS] [-- COMMAND…]",
		Short: "Serve all configured servers at one address, or bridge one",
		Long:  serveHelp,
		Example: `  toolpost serve
  toolpost serve --config tools.json --addr 127.0.0.1:9000
  toolpost serve --stdio
  toolpost serve --tools workspace --root ~/project
  toolpost serve https://mcp.example.com/mcp --stdio --header 'Authorization: Bearer ${TOKEN}'
  toolpost serve --addr 127.0.0.1:9000 -- npx -y @modelcontextprotocol/server-memory`,
		Args: checkBridge,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("addr") && o.addr == "" {
				return cli.Usagef("--addr is empty; want HOST:PORT")
			}
			if cmd.Flags().Changed("tools") && len(o.folder.Tools) == 0 {
				return cli.Usagef("--tools is empty; want %s", folder.Choices)
			}
			go giveBack(cmd.Context())
			if err := o.folder.Check(); err != nil {
				return err
			}
			found, err := o.configuration(cmd, args)
			if err != nil {
				return err
			}
			return o.serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr(), cmd.Flags().Changed("log-level"), found)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "configuration `FILE`")
	f.StringVar(&o.addr, "addr", owner.DefaultAddress, "listen on `HOST:PORT`; port 0 takes a free port")
	f.BoolVar(&o.watchTrusted, "watch-trusted", false, "apply every change of the configuration file at once and without approval, even new programs and addresses")
	f.BoolVar(&o.fresh, "fresh", false, "do not list what servers listed at the last start, and do not store what they list")
	f.StringVar(&o.record, "record", "", "record the lists, calls and results in a new `FILE`, for toolpost replay and diff")
	f.BoolVar(&o.stdio, "stdio", false, "speak MCP on standard input and output, for clients that start toolpost")
	cli.Exclusive(cmd, "stdio", "addr")
	f.StringVar(&o.logFile, "log-file", "", "write log lines to `FILE`, also in a terminal; one of 5 MB is renamed to FILE.1")
	f.StringVar(&o.metrics, "metrics-addr", "", "serve /metrics for Prometheus, /healthz and /readyz on `HOST:PORT` too")
	o.flags(cmd)
	o.folder.AddFlags(cmd)
	o.bridge.flags(cmd)
	return cmd
}

// flags are those of all commands that serve.
func (o *serveOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.hosts, "allow-host", nil, "accept requests for the host `NAME`; may be repeated")
	f.StringArrayVar(&o.origins, "allow-origin", nil, "accept requests of web pages from `ORIGIN`, such as https://example.org; may be repeated")
	f.StringVar(&o.name, "name", "", "`NAME` that clients see for this server (default \"toolpost\")")
	f.StringVar(&o.profile, "profile", "", "serve only the profile `NAME` of the configuration, to all clients")
	f.StringVar(&o.dialect, "dialect", "", "use the dialect `ID` for all clients, such as claude-desktop, or none (default: chosen for each client)")
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "`LEVEL`: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "`FORMAT` of log lines: text or json")
	cli.CompleteFlag(cmd, "dialect", func() []string { return append(cli.Dialects(), "none\ttools are not adapted") })
	cli.CompleteFlag(cmd, "log-level", cli.Values("debug", "info", "warn", "error"))
	cli.CompleteFlag(cmd, "log-format", cli.Values("text", "json"))
	o.access.flags(cmd)
	o.caps.flags(cmd)
}

// serve serves what was found until ctx is done or the input ends, nil for a folder.
func (o *serveOptions) serve(ctx context.Context, in io.Reader, out, stderr io.Writer, levelGiven bool, found *config.Config) (err error) {
	if o.logFormat != "text" && o.logFormat != "json" {
		return cli.Usagef("--log-format is %q; want text or json", o.logFormat)
	}
	if err := o.caps.check(); err != nil {
		return err
	}
	if o.logFile != "" {
		if found != nil && owner.SameFile(o.logFile, found.File) {
			return cli.Usagef("--log-file is the configuration; name another file")
		}
		if stderr, err = openLogFile(o.logFile, maxLogFile); err != nil {
			return cli.WrapUsage(err)
		}
	}
	d := o.newDisplay(stderr, levelGiven)
	defer d.close()
	if o.logFile != "" {
		defer func() {
			if err != nil {
				d.log.Error("serve ended", "err", err)
			}
		}()
	}
	e, end, err := o.open(ctx, d, found)
	if err != nil {
		return err
	}
	defer end()
	defer e.Close() // it logs its error
	if o.stdio {
		return e.ServeStdio(ctx, in, out)
	}
	return e.Serve(ctx)
}

// open opens the endpoint of a configuration, or of a folder, which end closes.
func (o *serveOptions) open(ctx context.Context, d *display, found *config.Config) (e *serve.Endpoint, end func(), err error) {
	options := o.endpoint(d)
	if found != nil {
		d.about.Empty, d.about.Bridge = len(found.Servers) == 0, o.bridge.used
		options.LoginCommand = owner.LoginCommand(o.config, found.File != "")
		e, err = serve.Open(ctx, found, options)
		return e, func() {}, err
	}
	kept, _ := owner.OutputStore(d.log)
	f, err := folder.Open(dep.Logger.With(context.WithoutCancel(ctx), d.log), outputs.New(kept, &outputs.Options{Logger: d.log}), &o.folder)
	if err != nil {
		return nil, nil, err
	}
	d.about.Folder, d.about.Chosen = f.Describe(), o.folder.Chosen()
	options.Risk, options.SessionEnded, options.Outputs = f.Risk(o.folder.Tools), f.EndSession, kept
	if e, err = serve.OpenTools(ctx, f.Live, options); err != nil {
		_ = f.Close() // the error of opening is what the user can act on
		return nil, nil, err
	}
	return e, func() {
		if err := f.Close(); err != nil {
			d.log.Warn("cannot close cleanly", "err", err)
		}
	}, nil
}

// endpoint are the flags as options of the endpoint.
func (o *serveOptions) endpoint(d *display) *serve.Options {
	build := cli.ReadBuild()
	return &serve.Options{
		Addr: o.addr, Stdio: o.stdio, MetricsAddr: o.metrics,
		TokenFile: o.access.file, RequireToken: o.access.require, Insecure: o.access.insecure,
		Hosts: o.hosts, Origins: o.origins,
		Name: o.name, Version: build.Version, Commit: build.Commit, Profile: o.profile, Dialect: o.dialect,
		Limits:     mcpserver.Limits{SessionTimeout: o.caps.timeout, Sessions: o.caps.sessions, ClientSessions: o.caps.ofClient},
		OpenSource: connect.OpenSource,
		Record:     o.recorder(), Fresh: o.fresh, TrustChanges: o.watchTrusted, Bridge: o.bridge.used,
		Logger: d.log, View: d, Connected: d.clients.Add,
	}
}

// recorder returns what makes the recording that the user wants, nil for none.
func (o *serveOptions) recorder() func(hide func(string) string, log *slog.Logger) (serve.Recorder, error) {
	if o.record == "" {
		return nil
	}
	return func(hide func(string) string, log *slog.Logger) (serve.Recorder, error) {
		return recording.Create(o.record, &recording.Options{Hide: hide, Logger: log})
	}
}

// configuration returns what is to be served, nil for a folder.
func (o *serveOptions) configuration(cmd *cobra.Command, args []string) (*config.Config, error) {
	if found, err := o.bridgeConfig(args, cmd.ArgsLenAtDash()); found != nil || err != nil {
		return found, err
	}
	if o.folder.Chosen() {
		return nil, nil
	}
	p := cli.NewPrompter(cmd)
	p.Terminal = p.Terminal && !o.stdio // the input is the client's
	return cli.FindConfiguration(cmd.Context(), o.config, p)
}

// accessOptions are the flags that decide who may call what is served over HTTP.
type accessOptions struct {
	insecure bool
	require  bool
	file     string
}

func (o *accessOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.require, "require-token", false, "require the token of \"toolpost token\" from every client, even where it is optional")
	f.StringVar(&o.file, "token-file", "", "read the token that clients must send from `FILE`; or set the variable "+owner.TokenVariable)
	f.BoolVar(&o.insecure, "insecure", false, "serve anyone who can reach the port, without a token")
	cli.Exclusive(cmd, "insecure", "require-token")
	cli.Exclusive(cmd, "insecure", "token-file")
}
