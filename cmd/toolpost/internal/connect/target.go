// Package connect opens what a command line names: an address, a command, a configuration or
// the current folder, whose tools a command then lists, calls or examines.
package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/folder"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// TargetHelp describes in the help of a command where its tools come from.
const TargetHelp = `
The tools are those of an ADDRESS (http://… or https://…), of a server that
the command after -- starts, or of the configuration: --config FILE, otherwise
the variable MCP_URLS, otherwise ./toolpost.json once you have approved it
("toolpost help trust"), otherwise the user's toolpost.json. Without any of
these, they are read, list, glob and grep over the current folder.`

// DefaultTimeout is how long commands wait for servers to connect.
const DefaultTimeout = 30 * time.Second

// A Target names the server or configuration whose tools a command uses.
type Target struct {
	Config  string
	Profile string // of the configuration; "" for all that is served
	Headers []string
	Timeout time.Duration
	Address string // of the one server, if it was named, without secrets
	Yes     bool   // calls that need an approval have it
	Tool    string // the one that is called; "" if several may be

	// RunPatience is how long a serve that runs may take to prove that it is the one that was
	// noted; half a second if 0.
	RunPatience time.Duration

	fresh  bool // all servers are started
	shared bool // those that a serve which runs has are not
	owners bool // those that may have the tool are, even if their lists are stored
	quick  bool // only those are that are needed
	stored bool // none is
	asks   bool // calls are made, and the user is asked about them

	// Confirm asks the user; nil asks at the terminal.
	Confirm func(ctx context.Context, question string) (bool, error)
}

// AddQuickFlags adds the flags of commands that take the lists of servers as they were
// stored last, and start those that they need.
func (t *Target) AddQuickFlags(cmd *cobra.Command) {
	t.AddFlags(cmd)
	t.quick = true
	t.addFreshFlag(cmd)
}

// AddSharedFlags adds the flags of commands that take servers as a serve which runs with the
// same configuration has them.
func (t *Target) AddSharedFlags(cmd *cobra.Command) {
	t.AddFlags(cmd)
	t.shared = true
	t.addFreshFlag(cmd)
}

func (t *Target) addFreshFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&t.fresh, "fresh", false, "start all servers and ask what they list now")
}

// AddCallFlags adds the flags of commands that call tools.
func (t *Target) AddCallFlags(cmd *cobra.Command) {
	t.AddQuickFlags(cmd)
	t.asks = true
	cmd.Flags().BoolVarP(&t.Yes, "yes", "y", false, "approve calls that need an approval without asking, for scripts")
}

// asker returns what asks the user at the terminal about a call.
func (t *Target) asker(cmd *cobra.Command) func(context.Context, string) (bool, error) {
	if !t.asks {
		return nil
	}
	if t.Yes {
		return func(context.Context, string) (bool, error) { return true, nil }
	}
	if t.Confirm != nil {
		return t.Confirm
	}
	p := cli.NewPrompter(cmd)
	turn := make(chan struct{}, 1) // one question at a time
	return func(ctx context.Context, question string) (bool, error) {
		if !p.Terminal {
			return false, errors.New("there is no terminal to ask you; --yes approves the calls of this command")
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		return p.Ask(ctx, question+"\n\nRun it?")
	}
}

// HeaderUsage describes the flag --header.
const HeaderUsage = "send `HEADER` to ADDRESS, such as \"X-Key: ${KEY}\"; may be repeated"

// AddFlags adds the flags of commands that read tools.
func (t *Target) AddFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.Config, "config", "", "configuration `FILE`")
	cmd.Flags().StringVar(&t.Profile, "profile", "", "use only what the profile `NAME` of the configuration has")
	cmd.Flags().StringArrayVarP(&t.Headers, "header", "H", nil, HeaderUsage)
	cmd.Flags().DurationVar(&t.Timeout, "timeout", DefaultTimeout, "how long to wait for servers to connect")
}

// Split takes an address or a command out of args. Dash is the number of
// arguments before "--", -1 if there is none.
func (t *Target) Split(args []string, dash int) (cfg *config.Config, rest []string, err error) {
	var server upstream.Config
	if dash >= 0 {
		if dash == len(args) {
			return nil, nil, cli.Usagef("there is no command after --")
		}
		command := args[dash:]
		server = upstream.Config{Name: filepath.Base(command[0]), Command: command[0], Args: command[1:], Env: environment()}
		args = args[:dash]
	}
	if len(args) > 0 && cli.IsAddress(args[0]) {
		if server.Command != "" {
			return nil, nil, cli.Usagef("give an address or a command after --, not both")
		}
		server = upstream.Config{Name: "server", URL: args[0], Headers: map[string]string{}}
		t.Address = owner.ShownAddress(args[0])
		args = args[1:]
	}
	if err := t.setHeaders(&server); err != nil {
		return nil, nil, err
	}
	if server.Name == "" {
		return nil, args, nil
	}
	if t.Profile != "" {
		return nil, nil, cli.Usagef("--profile needs a configuration; the address of a server that is toolpost may end with /%s", t.Profile)
	}
	if t.Config != "" {
		return nil, nil, cli.Usagef("give --config, an address or a command after --, only one of them")
	}
	server.ConnectTimeout = t.Timeout
	noPrefix := ""
	return &config.Config{Servers: []config.Server{{Config: server, Prefix: &noPrefix}}}, args, nil
}

func (t *Target) setHeaders(server *upstream.Config) error {
	if len(t.Headers) > 0 && server.URL == "" {
		return cli.Usagef("--header needs an address; in a configuration, write headers to the server's entry")
	}
	for _, h := range t.Headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return cli.Usagef(`a --header is not "NAME: VALUE"`)
		}
		value, err := config.Expand(strings.TrimSpace(value), os.LookupEnv)
		if err != nil {
			return cli.Usagef("--header %s: %w", strings.TrimSpace(name), err)
		}
		server.Headers[strings.TrimSpace(name)] = value
	}
	return nil
}

// environment is the whole environment: a command that was typed gets what
// it would get from the shell.
func environment() map[string]string {
	env := map[string]string{}
	for _, e := range os.Environ() {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

// A Session is an open target.
type Session struct {
	Set      *toolpost.Set
	Status   []upstream.Status
	Findings []toolpost.Finding
	Withheld []gateway.WithheldTool
	Address  string   // as in target
	Partial  bool     // some servers were not started
	Serve    string   // the address of the running serve that has the servers; "" if all were started
	Started  []string // the servers that it does not have ready
	Close    func() error

	reports []gateway.ServerReport // of the running serve
}

// Open connects to cfg, or if it is nil to the configuration that is found.
func (t *Target) Open(cmd *cobra.Command, cfg *config.Config) (*Session, error) {
	if cfg != nil {
		return t.OpenServers(cmd, cfg, nil) // the user has approved nothing about them
	}
	found, err := cli.FindConfiguration(cmd.Context(), t.Config, cli.NewPrompter(cmd))
	if err != nil {
		return nil, err
	}
	return t.OpenFound(cmd, found)
}

// OpenFound connects to a configuration, or if it is nil serves the current folder.
func (t *Target) OpenFound(cmd *cobra.Command, found *config.Config) (*Session, error) {
	if found != nil {
		return t.OpenServers(cmd, found, owner.Pins(found))
	}
	if t.Profile != "" {
		return nil, cli.Usagef("--profile needs a configuration, and there is none; see \"toolpost help serve\"")
	}
	return OpenCurrentFolder(cmd.Context())
}

// OpenCurrentFolder opens the tools that read the current folder.
func OpenCurrentFolder(ctx context.Context) (*Session, error) {
	f, err := folder.Open(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	return &Session{Set: f.Live.Set(), Close: f.Close}, nil
}

// OpenServers connects to the servers of cfg.
func (t *Target) OpenServers(cmd *cobra.Command, cfg *config.Config, pinned *gateway.Pins) (*Session, error) {
	ctx := cmd.Context()
	reports, address := t.runningServers(cmd, cfg) // before functions are added to cfg
	owner.UseToken(cfg)
	silent := slog.New(slog.DiscardHandler)
	secrets, logins := owner.NewSecrets(), owner.Logins(silent)
	secrets.Learn(cfg)
	logins.Secrets = secrets.Known
	calls, err := t.openCalls(cmd, cfg, secrets)
	if err != nil {
		return nil, err
	}
	start := t.plan(cfg, address != "")
	if pinned != nil {
		pinned.Once = !t.asks || t.Tool != ""
	}
	g, err := gateway.Start(secret.WithValues(ctx, secrets.Known), cfg, &gateway.Options{
		Catalog: start.catalog, OnDemand: start.onDemand, Reported: reports,
		Logger: silent, OpenSource: OpenSource, Pins: pinned, Profile: t.Profile, Ask: t.asker(cmd),
		Limits: owner.Limits(calls.limits), Around: calls.around(),
		Credentials: owner.Credentials(logins, owner.LoginCommand(t.Config, t.Address == "" && os.Getenv("MCP_URLS") == "")),
		Resolve:     secrets.Resolve,
		Applied:     []string{"access", "audit", "limits", "token", "output"}, // access, token and output are for clients of serve
	})
	if err != nil {
		return nil, errors.Join(cli.WrapUsage(err), calls.close())
	}
	closeAll := func() error { return errors.Join(g.Close(), calls.close()) }
	wait, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	waiting := time.AfterFunc(time.Second, func() { reportWaiting(cmd.ErrOrStderr(), g.Status(), t.Timeout) })
	err = g.AwaitServers(wait)
	waiting.Stop()
	if err != nil && ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), closeAll())
	}
	live := g.Live()
	if t.Profile != "" {
		if live, err = g.Views().View(observe.Client{View: t.Profile + "/none"}); err != nil {
			return nil, errors.Join(err, closeAll())
		}
	}
	set, err := calls.record(ctx, live.Set())
	if err != nil {
		return nil, errors.Join(err, closeAll())
	}
	s := &Session{Set: set, Status: g.Status(), Address: t.Address, Serve: address, reports: reports, Close: closeAll}
	if t.shared {
		s.Started = started(cfg, reports)
	}
	s.Partial = slices.ContainsFunc(s.Status, func(st upstream.Status) bool { return st.State == upstream.Waiting })
	now := g.Snapshot()
	s.Findings, s.Withheld = now.Findings, now.Withheld
	return s, nil
}

// reportWaiting writes to a terminal which servers have not connected yet.
func reportWaiting(w io.Writer, servers []upstream.Status, limit time.Duration) {
	var names []string
	for _, st := range servers {
		if st.State == upstream.Connecting || st.State == upstream.Installing {
			names = append(names, st.Name)
			if st.Output != "" {
				names[len(names)-1] = fmt.Sprintf("%s, which wrote %q and not MCP", st.Name, st.Output)
			}
		}
	}
	if len(names) > 0 && terminal.Is(w) {
		fmt.Fprintf(w, "toolpost: waiting up to %v for %s\n", limit, strings.Join(names, ", "))
	}
}

// UnknownTool returns the error for a tool that is not there; it suggests similar names.
func UnknownTool(name string, names []string, next string) error {
	near := suggest.Names(name, names, 3)
	if len(near) == 0 {
		return cli.Usagef("there is no tool %q; %s", name, next)
	}
	return cli.Usagef("there is no tool %q; did you mean %s?", name, strings.Join(near, " or "))
}
