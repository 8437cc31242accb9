package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/store"
)

// Options are the optional parts of [Open] and [OpenTools]. Errors name the flags of
// "toolpost serve" that are called as they are.
type Options struct {
	// Addr is the HOST:PORT to listen on, 127.0.0.1:7717 if empty. Without HOST it is a
	// loopback address; port 0 takes a free port.
	Addr string

	// Stdio listens nowhere: the one client is that of ServeStdio, which has started this
	// program and needs no token.
	Stdio bool

	// MetricsAddr is the HOST:PORT of /metrics for Prometheus, /healthz and /readyz; none
	// if empty. If a token is needed for the tools, /metrics needs the owner's. Beyond
	// loopback it always does, but with Insecure.
	MetricsAddr string

	// TokenFile is the file with the token of the owner. If it is empty, the token is the
	// value of the variable TOOLPOST_TOKEN, otherwise the one that "toolpost token" prints.
	// It is needed if the tools can do harm, beyond loopback, and with RequireToken.
	// Insecure serves everybody who reaches the port, without a token.
	TokenFile              string
	RequireToken, Insecure bool

	// Authenticate decides who sent a request over HTTP, such as by the cookie of a session
	// of a web application. It replaces the tokens and logins of serve: a configuration
	// with "access", or with tokens of profiles, is refused. It returns the name of the user
	// and the profile that the user is served; "" leaves that to the address, Profile and
	// the configuration. The audit log, limits, and the sessions and stored outputs of the
	// user know it as "user NAME". An error or a panic is logged, and answered with the
	// status 401 and no reason. It is called for each request but probes, after Hosts and Origins are
	// checked, concurrently, and must not read the body. A stream that only listens ends after an
	// hour; see also [Endpoint.EndSessions]. A user reaches MCP only: /status, and /metrics
	// beyond loopback, need the token of the owner, which there is with RequireToken or
	// TokenFile alone.
	Authenticate func(r *http.Request) (user, profile string, err error)

	// Hosts and Origins are accepted in requests besides those of the address: the names
	// by which a proxy addresses the endpoint, and the origins of web pages.
	Hosts, Origins []string

	Name    string // what clients see; if empty, that of the configuration, or toolpost
	Version string // of the program, for clients and metrics
	Commit  string // it was built from, for metrics

	Profile string // the only profile that is served, to all clients
	Dialect string // for all clients; if empty, it is chosen for each client

	// Limits bound what clients may use.
	Limits mcpserver.Limits

	// OpenSource opens a server of the configuration whose tools run in this process; see
	// [gateway.Options].
	OpenSource func(*config.Server) (toolpost.Toolset, error)

	// Record returns what records the lists, calls and results of a configuration; nil
	// records nothing. Open calls it once, and OpenTools refuses it. What hide returns has
	// none of the secrets that are known by then.
	Record func(hide func(text string) string, log *slog.Logger) (Recorder, error)

	Fresh bool // do not list what servers listed before, and do not store what they list

	// TrustChanges applies every change of the file at once and without approval, even new
	// programs and addresses.
	TrustChanges bool

	// Bridge serves the one server of the configuration as it is: clients see its name and
	// instructions, and wait for it to start.
	Bridge bool

	// Risk describes what a caller could do with the tools of this program, such as
	// "change your files", in which case the token is needed on loopback too. If it is
	// empty, OpenTools asks for the token if any tool is not read-only. If no token is
	// needed, a tool that is listed later and is not read-only is withheld.
	Risk string

	// Outputs keeps long outputs of the tools of OpenTools. Its size is one of the metrics.
	Outputs store.Store

	// SessionEnded is called when a session of a client is over; see [mcpserver.Options].
	SessionEnded func(session string)

	// LoginCommand returns the command that logs in to a server. Nil returns "toolpost
	// login" with its name and the file of the configuration.
	LoginCommand func(*config.Server) string

	Logger    *slog.Logger         // slog.Default() if nil. Known secrets do not reach it
	View      View                 // that of NewLogView if nil
	Connected func(observe.Client) // is called whenever the toolset of a client is chosen
}

// A Recorder records what a configuration serves, before it is adapted to a client. Its
// methods may be called concurrently.
type Recorder interface {
	// Middleware records the calls that a handler answers, and their results.
	Middleware(next toolpost.Handler) toolpost.Handler

	// SetCatalogue records what is listed, after every change. Tools for which own
	// returns true are those of the endpoint itself, and of no server.
	SetCatalogue(set *toolpost.Set, own func(tool string) bool)

	Close() error // when the endpoint is closed
}

// A View shows people what an endpoint does. Its methods return quickly, and may be called
// concurrently with each other, but not each with itself.
type View interface {
	Serving(*Access)           // once, before the others
	Updated(*gateway.Snapshot) // after every change; never with OpenTools
	Settled()                  // once every server has connected or failed
	Adapted(*dialect.Adapted)  // once for each dialect that clients get, and after its changes
}

// Load reads the configuration at path, or if path is empty the first of: the variable
// MCP_URLS, ./toolpost.json, the user's toolpost.json. A file of the current folder starts
// programs, so the user must have approved it with "toolpost trust"; one that is named
// needs no approval.
func Load(ctx context.Context, path string) (*config.Config, error) {
	cfg, err := owner.Find(ctx, path, func(_ context.Context, r *owner.Review) error {
		return usagef("%s %s; read it, then run: toolpost trust %s", r.File, r.State(), cleartext.ShellWord(r.File))
	})
	if err == nil && cfg == nil {
		err = usagef("there is no configuration; name a file, or write %s", owner.ConfigName)
	}
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err)
	}
	return cfg, nil
}

// usagef returns the error of a mistake in the options, the configuration or the
// environment, which the command ends with another code for.
func usagef(format string, args ...any) error {
	return owner.UsageError{Err: fmt.Errorf(format, args...)}
}

func wrapUsage(err error) error { return owner.UsageError{Err: err} }
