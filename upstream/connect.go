package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
)

// A resolvedConfig is a configuration with what it refers to.
type resolvedConfig struct {
	*Config  // that of the last connection
	written  *Config
	resolve  func(context.Context) (*Config, error) // nil if it refers to nothing
	resolved *Config                                // that resolve returned last
}

// A dialer connects to one server, and remembers what worked.
type dialer struct {
	cfg       resolvedConfig
	limits    *limits
	grace     time.Duration
	log       *slog.Logger
	secrets   *secret.Values // hidden in the errors of this server
	known     *secret.Values // of the process; nil if nothing else hides them
	http      *http.Client   // nil until the configuration is resolved
	transport Transport      // as configured or found; "" if neither
	stateless bool           // the server was found to have no sessions
	watch     *watch
	stray     func(string) // called with the first line of a process that is not MCP, while it has not answered
	slow      func(error)  // called when a package runner takes longer than ConnectTimeout
	installed bool         // a package runner has started its server before
	instances instances
	client    *hidden.Introduction // the only client, if there is only one
	oneClient func(refused bool)   // may be nil
	roots     bool                 // the server is known to ask for them
	budget    *budget.Budget       // of all that waits; nil for none
}

func newDialer(cfg *Config, o *Options, log *slog.Logger, secrets *secret.Values) *dialer {
	d := &dialer{cfg: resolvedConfig{Config: cfg, written: cfg, resolve: o.Resolve}, limits: &limits{max: cfg.MaxMessage, dir: o.Spool}, grace: o.Grace, log: log, secrets: secrets, known: o.ofGateway.Secrets, budget: o.ofGateway.Budget}
	d.instances.own, d.client, d.oneClient, d.roots = o.ofGateway.Instance, o.ofGateway.Client, o.ofGateway.OneClient, o.ofGateway.AsksForRoots
	d.forget()
	if cfg.URL != "" && o.Resolve == nil {
		d.http = newHTTPClient(cfg, &d.instances)
	}
	return d
}

func (d *dialer) forget() {
	d.stateless = false
	if d.transport = d.cfg.Transport; d.cfg.Command != "" {
		d.transport = Stdio
	}
}

// An attempt is one way to connect.
type attempt struct {
	transport Transport
	version   string // the newest to use
}

// attempts returns the ways to try, in order. Of a server that speaks both
// eras, the one with sessions is used: only there can it send requests to
// clients, as most servers do that ask them something.
func (d *dialer) attempts() []attempt {
	versions := []string{classicVersion, modernVersion}
	switch {
	case d.cfg.ProtocolVersion != "":
		versions = []string{d.cfg.ProtocolVersion}
	case d.stateless:
		versions = []string{modernVersion, classicVersion}
	}
	transports := []Transport{d.transport}
	switch {
	case d.transport == "":
		transports = []Transport{HTTP, SSE}
	case d.transport == SSE && d.cfg.Transport == "":
		transports = []Transport{SSE, HTTP}
	}
	var all []attempt
	for _, t := range transports {
		for _, v := range versions {
			if t != SSE || v == classicVersion || d.cfg.ProtocolVersion != "" {
				all = append(all, attempt{t, v})
			}
		}
	}
	return all
}

// lookUp resolves what the configuration refers to. A new password counts from the
// next connection on.
func (d *dialer) lookUp(ctx context.Context) error {
	if d.cfg.resolve == nil {
		return nil
	}
	resolved, err := d.cfg.resolve(ctx)
	if err != nil || resolved == d.cfg.resolved {
		return err
	}
	cfg := *d.cfg.written
	cfg.Args, cfg.Env, cfg.Headers, cfg.Wrap = resolved.Args, resolved.Env, resolved.Headers, resolved.Wrap
	d.secrets.Add("", cfg.everything()...)
	d.known.Add(d.cfg.written.Name, cfg.Secrets()...)
	if cfg.URL != "" {
		if d.http != nil {
			d.http.CloseIdleConnections()
		}
		d.http = newHTTPClient(&cfg, &d.instances)
	}
	d.cfg.Config, d.cfg.resolved = &cfg, resolved
	return nil
}

// connect makes a session.
func (d *dialer) connect(ctx context.Context) (*session, error) {
	if err := d.lookUp(ctx); err != nil {
		return nil, d.problem(err)
	}
	var first, last error
	var before attempt
	for _, a := range d.attempts() {
		if last != nil && !worthTrying(a, before, last) {
			continue
		}
		s, err := d.try(ctx, a)
		if err == nil {
			s = d.preferStateless(ctx, a, s)
			d.transport, d.stateless, d.installed = s.transport, s.modern(), true
			return s, nil
		}
		d.log.Debug("attempt to connect", "transport", a.transport, "version", a.version, "err", d.problem(err))
		if first == nil {
			first = err // the other ways are only guesses
		}
		before, last = a, err
		if ctx.Err() != nil {
			break
		}
	}
	d.forget()
	return nil, d.problem(first)
}

// preferStateless returns a stateless session in place of s, if the server offers
// one and s has no session id either: then the newer version can do more.
func (d *dialer) preferStateless(ctx context.Context, a attempt, s *session) *session {
	if a.transport != HTTP || d.cfg.ProtocolVersion != "" || s.modern() || s.conn.(*streamable).sessionID() != "" {
		return s
	}
	modern, err := d.try(ctx, attempt{HTTP, modernVersion})
	switch {
	case err != nil:
		return s
	case !modern.modern():
		modern.close()
		return s
	}
	s.close()
	return modern
}

// worthTrying reports whether a may work where the attempt before failed with err.
func worthTrying(a, before attempt, err error) bool {
	status, refused := errors.AsType[*statusError](err)
	versions := isA[*wire.Error](err) || errors.Is(err, errVersion)
	switch {
	case errors.Is(err, errSelf):
		return false
	case a.transport == Stdio:
		return versions
	case a.transport == before.transport:
		return versions || refused && status.status == http.StatusBadRequest
	case isA[*contentError](err):
		return true
	case !refused:
		return false
	}
	switch status.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed: // what an SSE server says to a POST, in whatever words
		return true
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return false
	}
	return status.status < 500 && status.rpc == nil
}

// open connects s to the server.
func (d *dialer) open(ctx context.Context, s *session) error {
	switch s.transport {
	case HTTP:
		s.conn = newStreamable(withCookies(d.http), d.cfg.Config, d.limits, s.peer)
		return nil
	case SSE:
		return dialSSE(ctx, withCookies(d.http), d.cfg.Config, d.limits, s.peer)
	}
	p, err := d.cfg.spawn(d.cfg.Config, d.grace)
	if err != nil {
		return err
	}
	startStdio(p, d.limits, s.peer)
	return nil
}

func (d *dialer) try(ctx context.Context, a attempt) (*session, error) {
	limit := d.cfg.ConnectTimeout
	installing := d.cfg.installs() && !d.installed
	if installing { // one that is ended midway leaves a broken copy behind, and starts again
		limit = max(limit, longestInstall)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := newSession(d, a.transport)
	if err := d.open(ctx, s); err != nil {
		return nil, err
	}
	if installing {
		defer time.AfterFunc(d.cfg.ConnectTimeout, func() {
			d.slow(d.problem(fmt.Errorf("it has not answered within %v; Toolpost goes on waiting, as its packages may still be installing%s", d.cfg.ConnectTimeout, outputHint(s.conn))))
		}).Stop()
	}
	if c, ok := s.conn.(*stdio); ok {
		defer c.notifyStray(d.stray)()
	}
	probe := d.cfg.ProbeTimeout
	if a.transport == Stdio { // a process may have to start first
		probe = 0
	}
	if err := s.handshake(ctx, a.version, probe); err != nil {
		why := s.failure()
		s.close()
		return nil, d.handshakeError(ctx, s.conn, err, why)
	}
	return s, nil
}

// handshakeError returns the best known reason why a handshake failed.
func (d *dialer) handshakeError(ctx context.Context, c connection, err, why error) error {
	if s, ok := c.(*stdio); ok && isA[*exitError](why) && s.foreign.Load() != nil {
		return fmt.Errorf("%w%s", why, outputHint(c))
	}
	if why != nil {
		return why
	}
	if ctx.Err() == nil {
		return err
	}
	if hint := outputHint(c); hint != "" {
		return errors.New(`it did not answer in time; give it more time, such as "connectTimeout": "5m"` + hint)
	}
	return context.Cause(ctx)
}

// outputHint returns the output of a process, which may explain why it does not
// answer.
func outputHint(c connection) string {
	s, ok := c.(*stdio)
	if !ok {
		return ""
	}
	if line := s.foreign.Load(); line != nil {
		return strayOutput(*line)
	}
	if text := s.proc.stderr.String(); text != "" {
		return "; its stderr ends with:\n" + text
	}
	return ""
}

// strayOutput describes a line that a process wrote in the place of a message.
func strayOutput(line string) string {
	return fmt.Sprintf("; it wrote %q to its stdout, which is not MCP: check that its command starts an MCP server on stdio", line)
}

// longestInstall bounds the first start of a package runner.
const longestInstall = time.Hour
