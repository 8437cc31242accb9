package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/folder"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/owner"
	"github.com/toolpost/toolpost/internal/policy/breaker"
	"github.com/toolpost/toolpost/internal/policy/limit"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/upstream"
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
			if cmd.Flags().Changed("tools") && len(o.folder.Tools) == 0 {
				return cli.Usagef("--tools is empty; want %s", folder.Choices)
			}
			tuneMemory()
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
	f.StringVar(&o.addr, "addr", cli.DefaultAddress, "listen on `HOST:PORT`; port 0 takes a free port")
	f.BoolVar(&o.watchTrusted, "watch-trusted", false, "apply every change of the configuration file at once and without approval, even new programs and addresses")
	f.BoolVar(&o.fresh, "fresh", false, "do not list what servers listed at the last start, and do not store what they list")
	f.StringVar(&o.record, "record", "", "record the lists, calls and results in a new `FILE`, for toolpost replay and diff")
	f.BoolVar(&o.stdio, "stdio", false, "speak MCP on standard input and output, for clients that start toolpost")
	cli.Exclusive(cmd, "stdio", "addr")
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
	o.access.flags(cmd)
	o.caps.flags(cmd)
}

// A service is a running serve.
type service struct {
	mcp     *mcpserver.Server
	live    *toolpost.Live
	views   *gateway.Views
	status  func() []upstream.Status // nil for a folder
	log     *slog.Logger
	view    view
	access  *access
	clients roster

	withheld  func() []gateway.WithheldTool // nil for a folder
	instances func() string                 // the value of [upstream.InstanceHeader]; nil for a folder

	closer []func() error // last first
	observing
}

// serve serves what was found until ctx is done or the input ends, nil for a folder.
func (o *serveOptions) serve(ctx context.Context, in io.Reader, out, stderr io.Writer, levelGiven bool, found *config.Config) error {
	if o.logFormat != "text" && o.logFormat != "json" {
		return cli.Usagef("--log-format is %q; want text or json", o.logFormat)
	}
	if err := o.caps.check(); err != nil {
		return err
	}
	var l *listener
	if !o.stdio {
		var err error
		if l, err = listen(o.addr); err != nil {
			return err
		}
		defer l.Close()
	}
	s := o.newService(stderr, levelGiven)
	// The signal that asks the server to stop does not cut off requests under way.
	running, end := toolpost.OpenScope(toolpost.Logger.With(context.WithoutCancel(ctx), s.log), toolpost.PerProcess)
	s.closer = append(s.closer, end)
	defer s.close()
	admin, err := s.startTelemetry(running, o)
	if err != nil {
		return err
	}
	if err := errors.Join(s.openAudit(found), s.openRecorder(o.record, found)); err != nil {
		return err
	}
	if err := s.open(running, ctx, found, o, l); err != nil {
		return err
	}
	if !o.stdio {
		s.followTokens(running) // before a listener asks who may call
	}
	if err := s.serveAdmin(running, admin, o); err != nil {
		return err
	}
	if o.stdio {
		return s.serveStdio(ctx, running, in, out)
	}
	return s.serveHTTP(ctx, running, l)
}

// configuration returns what is to be served, nil for a folder.
func (o *serveOptions) configuration(cmd *cobra.Command, args []string) (*config.Config, error) {
	if found, err := o.bridged(args, cmd.ArgsLenAtDash()); found != nil || err != nil {
		return found, err
	}
	if o.folder.Chosen() {
		return nil, nil
	}
	p := cli.NewPrompter(cmd)
	p.Terminal = p.Terminal && !o.stdio // the input is the client's
	return cli.FindConfiguration(cmd.Context(), o.config, p)
}

// open starts the servers of a configuration, or opens a folder.
func (s *service) open(running, ctx context.Context, found *config.Config, o *serveOptions, l *listener) error {
	g := &guide{url: l.url()}
	if found == nil {
		return s.openFolder(running, o, l, g)
	}
	return s.openServers(running, ctx, found, o, l, g)
}

// openFolder serves the tools of a folder.
func (s *service) openFolder(running context.Context, o *serveOptions, l *listener, g *guide) error {
	kept, _ := owner.OutputStore(s.log)
	s.addCacheBytes(kept)
	f, err := folder.Open(running, outputs.New(kept, &outputs.Options{Logger: s.log}), &o.folder)
	if err != nil {
		return err
	}
	s.closer = append(s.closer, f.Close)
	if g.access, err = o.access.decide(l, f.Risk(o.folder.Tools)); err != nil {
		return err
	}
	s.admit(g.access)
	s.live, g.folder, g.chosen = f.Live, f.Describe(), o.folder.Chosen()
	if s.views, err = gateway.NewViews(f.Live, nil, &gateway.ViewOptions{Logger: s.log, Name: o.name, Profile: o.profile, Dialect: o.dialect, Report: s.adapted()}); err != nil {
		return cli.WrapUsage(err)
	}
	s.closer = append(s.closer, s.views.Close)
	options := o.serverOptions(s, l, o.name)
	options.SessionEnded = f.EndSession
	if err := s.start(options); err != nil {
		return err
	}
	s.view.begin(g)
	s.view.settle()
	return nil
}

// openServers serves the servers of a configuration.
func (s *service) openServers(running, ctx context.Context, found *config.Config, o *serveOptions, l *listener, g *guide) error {
	s.secrets.Learn(found)
	ready, err := found.CompleteCallers(ctx, s.secrets.Complete)
	if err != nil {
		return err
	}
	if g.access, err = o.access.decideLogin(l, ready); err != nil {
		return err
	}
	s.admit(g.access)
	s.access.useProfiles(ready)
	owner.UseToken(found)
	s.limits = limit.New(found.Limits)
	s.around = append([]gateway.Around{s.limits.Around, breaker.New(s.connection).Around}, s.around...) // a refused call is not a request to a server
	kept, spool := owner.OutputStore(s.log)
	s.addCacheBytes(kept)
	logins := owner.Logins(s.log)
	logins.Secrets = s.secrets.Known
	gw, err := gateway.Open(running, found, &gateway.Options{
		Logger:     s.log,
		Name:       o.name,
		Profile:    o.profile,
		Dialect:    o.dialect,
		Adapted:    s.adapted(),
		Store:      kept,
		Spool:      spool,
		Pins:       owner.Pins(found),
		Admit:      s.limits.Admit,
		Around:     gateway.Arounds(s.around...),
		Middleware: s.recorded(),
		Catalog:    o.catalog(found, s.log),

		Credentials: owner.Credentials(logins, owner.LoginCommand(o.config, found.File != "")),
		Login:       o.loginFor(s, l, logins),
		Complete:    s.secrets.Complete,
		Secrets:     s.secrets.Known,
		Starting:    o.bridge.starting(),
		Applied:     []string{"access", "audit", "limits", "token", "lock"},
	})
	if err != nil {
		return cli.WrapUsage(err)
	}
	s.closer = append(s.closer, gw.Close)
	s.recordLists(gw)
	s.live, s.views, s.status, s.instances = gw.Live(), gw.Views(), gw.Status, gw.Instances
	s.withheld = func() (withheld []gateway.WithheldTool) {
		gw.Watch(func(snapshot *gateway.Snapshot) { withheld = snapshot.Withheld })()
		return withheld
	}
	options := o.serverOptions(s, l, cmp.Or(o.name, found.Name))
	options.Bridge = o.bridge.used
	joinClients(options, gw)
	if err := s.start(options); err != nil {
		return err
	}
	g.none = len(found.Servers) == 0
	s.view.begin(g)
	s.follow(running, ctx, gw, found, o.watchTrusted)
	return nil
}

// catalog returns where what servers list is stored, nil for nowhere.
func (o *serveOptions) catalog(found *config.Config, log *slog.Logger) *gateway.Catalog {
	if o.fresh {
		return nil
	}
	return owner.Catalog(found, log)
}

// starting is how long a server that cannot be reached counts as one that starts.
func (o *bridgeOptions) starting() time.Duration {
	if o.used {
		return bridgeStart
	}
	return 0
}

// joinClients has the gateway notified of what clients do.
func joinClients(options *mcpserver.Options, gw *gateway.Gateway) {
	options.RootsChanged, options.SessionEnded = gw.RootsChanged, gw.SessionEnded
	options.Relist = func(ctx context.Context, c mcpserver.Client, tool string) bool {
		return gw.Relist(ctx, gateway.Client(c), tool)
	}
	options.Missing = func(c mcpserver.Client, tool string) error { return gw.Missing(gateway.Client(c), tool) }
}

func (o *serveOptions) serverOptions(s *service, l *listener, name string) *mcpserver.Options {
	return &mcpserver.Options{
		Name:    name,
		Version: cli.ReadBuild().Version,
		Logger:  s.log,
		View: func(c mcpserver.Client) (*toolpost.Live, error) {
			s.clients.add(c)
			return s.views.View(gateway.Client(c))
		},
		SessionTimeout: o.caps.timeout, MaxSessions: o.caps.sessions, MaxClientSessions: o.caps.ofClient,
		Observe:  observe.All(s.observers...),
		Identity: identity,
		Hosts:    slices.Concat(l.hosts(), s.access.hosts(), o.hosts),
		Origins:  o.origins,
	}
}

// follow passes changes on: to clients, to the view, and from the file.
func (s *service) follow(running, ctx context.Context, gw *gateway.Gateway, found *config.Config, trusted bool) {
	stop := gw.Watch(func(snapshot *gateway.Snapshot) {
		s.mcp.ViewsChanged()
		s.view.update(snapshot)
	})
	s.closer = append(s.closer, func() error { stop(); return nil })
	go func() {
		if gw.Ready(ctx) == nil {
			s.view.settle()
		}
	}()
	if found.File != "" {
		s.reloadOnChange(running, gw, found, trusted)
	}
}

func (s *service) serveStdio(ctx, running context.Context, in io.Reader, out io.Writer) error {
	session, cancel := context.WithCancel(running)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	if err := s.mcp.ServeStdio(session, in, out); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve standard input and output: %w", err)
	}
	return nil
}

func (s *service) close() {
	for i := len(s.closer) - 1; i >= 0; i-- {
		if err := s.closer[i](); err != nil {
			s.log.Warn("cannot close cleanly", "err", err)
		}
	}
}
