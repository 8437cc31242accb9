//lint:file-ignore SA1019 older versions of the protocol have logging, sampling and roots

package upstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A dialer connects to one server, and remembers what worked.
type dialer struct {
	cfg       *Config
	limits    *limits
	grace     time.Duration
	log       *slog.Logger
	secrets   *strings.Replacer
	http      *http.Client
	transport Transport // as configured or found; "" if neither
	classic   bool      // the server was found to speak only classic versions
	updated   func(uri string)
}

func newDialer(cfg *Config, grace time.Duration, log *slog.Logger) (*dialer, error) {
	d := &dialer{cfg: cfg, limits: &limits{max: cfg.MaxMessage}, grace: grace, log: log, secrets: secretsOf(cfg)}
	d.forget()
	if cfg.URL == "" {
		return d, nil
	}
	var err error
	d.http, err = newHTTPClient(cfg)
	return d, err
}

func (d *dialer) forget() {
	d.classic = false
	if d.transport = d.cfg.Transport; d.cfg.Command != "" {
		d.transport = Stdio
	}
}

// An attempt is one way to connect.
type attempt struct {
	transport Transport
	version   string // pinned, or "" to negotiate
	timeout   time.Duration
}

// attempts returns the ways to try, in order.
func (d *dialer) attempts() []attempt {
	version := d.cfg.ProtocolVersion
	if version == "" && d.classic {
		version = classicVersion
	}
	pinned := version
	if pinned == "" {
		pinned = classicVersion
	}
	all := d.cfg.ConnectTimeout
	overHTTP, overSSE := attempt{HTTP, version, all}, attempt{SSE, pinned, all}
	switch {
	case d.transport == Stdio && version == "":
		// Some servers end or fall silent at the probe: they get a fresh start,
		// but not before a package runner had the time to install them.
		return []attempt{{Stdio, "", min(6*d.cfg.ProbeTimeout, all)}, {Stdio, pinned, all}}
	case d.transport == Stdio:
		return []attempt{{Stdio, version, all}}
	case d.cfg.Transport == HTTP:
		return []attempt{overHTTP}
	case d.cfg.Transport == SSE:
		return []attempt{overSSE}
	case d.transport == SSE:
		return []attempt{overSSE, overHTTP}
	}
	return []attempt{overHTTP, overSSE}
}

// connect makes a session.
func (d *dialer) connect(ctx context.Context) (*session, error) {
	var first error
	for _, a := range d.attempts() {
		s, err := d.try(ctx, a)
		if err == nil {
			d.transport, d.classic = s.transport, !s.modern()
			return s, nil
		}
		d.log.Debug("attempt to connect", "transport", a.transport, "version", a.version, "err", d.problem(err))
		if first == nil || a.transport == Stdio {
			first = err // the other way over HTTP is only a guess
		}
		if ctx.Err() != nil || !another(a, err) {
			break
		}
	}
	d.forget()
	return nil, d.problem(first)
}

// another says whether a different way may work where a did not.
func another(a attempt, err error) bool {
	if a.transport == Stdio {
		var command *exec.Error
		var path *fs.PathError
		return !errors.As(err, &command) && !errors.As(err, &path)
	}
	var status *statusError
	var content *contentError
	switch {
	case errors.As(err, &content):
		return true
	case !errors.As(err, &status):
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

// A connection can tell why it ended, nil if we ended it.
type connection interface {
	mcp.Connection
	failure() error
}

func (d *dialer) open(ctx context.Context, t Transport) (connection, error) {
	switch t {
	case HTTP:
		return newStreamable(d.http, d.cfg, d.limits, d.log), nil
	case SSE:
		c, err := dialSSE(ctx, d.http, d.cfg, d.limits, d.log)
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	p, err := startProcess(d.cfg, d.grace)
	if err != nil {
		return nil, err
	}
	return newLines(p, d.limits, d.log), nil
}

func (d *dialer) try(ctx context.Context, a attempt) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	c, err := d.open(ctx, a.transport)
	if err != nil {
		return nil, err
	}
	s := &session{
		transport: a.transport, relist: make(chan struct{}, 1), listens: make(chan struct{}), ended: make(chan struct{}), updated: d.updated,
	}
	s.tap = newTap(c, d.log, s.event)
	stop := context.AfterFunc(ctx, func() { c.Close() }) // whatever the SDK waits for ends with it
	s.client, err = d.client().Connect(ctx, s.tap, &mcp.ClientSessionOptions{ProtocolVersion: a.version})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		why := c.failure()
		c.Close()
		return nil, d.because(ctx, c, err, why)
	}
	result := s.client.InitializeResult()
	s.version = result.ProtocolVersion
	if info := result.ServerInfo; info != nil {
		s.server = strings.TrimSpace(info.Name + " " + info.Version)
	}
	if h, ok := c.(*streamable); ok {
		h.speak(s.version)
	}
	s.tap.ready.Store(true)
	go s.watchEnd()
	if !s.modern() && s.capabilities().Logging != nil {
		_, _ = s.ask(ctx, "logging/setLevel", object{{"level", []byte(`"info"`)}}) // logs are worth no failure
	}
	return s, nil
}

// because finds the best reason why a handshake did not succeed.
func (d *dialer) because(ctx context.Context, c connection, err, why error) error {
	if why != nil {
		return why
	}
	if ctx.Err() == nil {
		return err
	}
	if l, ok := c.(*lines); ok {
		if words := l.proc.stderr.String(); words != "" {
			return fmt.Errorf("it did not answer in time; its stderr ends with:\n%s", words)
		}
	}
	return context.Cause(ctx)
}

// client makes the SDK's client. What the server may ask of us is answered by
// the tap, so the SDK has no handlers.
func (d *dialer) client() *mcp.Client {
	client := mcp.NewClient(&mcp.Implementation{Name: "toolpost", Version: ownVersion()}, &mcp.ClientOptions{
		Logger: slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{ListChanged: true},
			Sampling:    &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	mcp.AddSendingCustomMethod[*rawParams, *rawResult](client, rawMethod)
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "server/discover" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, d.cfg.ProbeTimeout)
				defer cancel()
			}
			return next(ctx, method, req)
		}
	})
	return client
}

func ownVersion() string {
	const module = "github.com/toolpost/toolpost"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" {
			return m.Version
		}
	}
	return "unknown"
}
