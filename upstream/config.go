// Package upstream makes one MCP server a toolset, over any transport and protocol
// version: it connects, lists, calls, and connects again after a loss.
//
//	Upstream ── dial ──▶ session ── exchange ──▶ peer ──▶ stdio, streamable or sse
//	   ▲                    │ handshake           │ ids, who a message belongs to
//	   └──── listing ◀──────┘                     └──▶ the caller of the call
//
// A call is an exchange: one request and its answer. Its params are those that
// came, with the members replaced that must differ for this server. Over
// streamable HTTP, the answer is read where the call is made; for a process and
// SSE one goroutine reads, and gives each answer to the call that waits for it.
// Definitions, arguments and results stay the bytes that came, unless they are
// unsafe to pass on.
package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// A Config says how to reach one server: Command, or URL.
type Config struct {
	Name string // names the server in errors and logs

	// A server that is started here and spoken to over stdio.
	Command string
	Args    []string
	Env     map[string]string // added to a small, safe part of our own environment
	Dir     string

	// A server that is reached over HTTP.
	URL       string
	Headers   map[string]string
	Transport Transport // found by trying if empty

	// Wrap returns what sends requests over base, such as a layer that adds the token of a
	// login; nil sends them as they are. The headers are set before. A layer may have the
	// method Passes(context.Context, *http.Request) bool, for requests that it would leave as
	// they are, with all responses to them that succeed: such a request may be sent without it,
	// and it gets only a response that does not succeed, when it sends the request.
	Wrap func(base *http.Transport) http.RoundTripper `json:"-"`

	ProtocolVersion string        // pins the MCP version, such as "2025-11-25"; negotiated if empty
	ConnectTimeout  time.Duration // of one attempt; if 0, 5 min for commands that install packages first, else 60 s
	ProbeTimeout    time.Duration // of the modern handshake, before the classic one; 5 s if 0
	CallTimeout     time.Duration // of one call, from its begin or its last progress; 30 min if 0
	MaxMessage      int           // bytes of one message; 64 MiB if 0

	spawn func(cfg *Config, grace time.Duration) (*process, error) // startProcess if nil

	// pingAfter is how long an HTTP/2 connection may be silent before it is pinged, and
	// pingTimeout how long the answer may take; 15 s and 5 min if 0. A server that
	// computes in the thread that also reads answers late. Where nothing acknowledges what
	// was sent, the system ends the connection sooner: after 30 s, or 3 min if that is more
	// than 32 KiB.
	pingAfter   time.Duration
	pingTimeout time.Duration
}

// A Transport is a way to speak MCP.
type Transport string

// The transports (MCP 2026-07-28, Transports; SSE is that of 2024-11-05).
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
	SSE   Transport = "sse"
)

// Protocol versions that divide the eras: modern servers have no sessions and
// no initialize handshake.
const (
	modernVersion  = wire.Stateless
	classicVersion = wire.LastSession
)

func (c *Config) check() error {
	switch {
	case c.Command == "" && c.URL == "":
		return errors.New(`it has neither a command nor a url; give one of them`)
	case c.Command != "" && c.URL != "":
		return errors.New(`it has a command and a url; give only one of them`)
	case c.ProtocolVersion != "" && !slices.Contains(wire.Versions, c.ProtocolVersion):
		return fmt.Errorf("protocol version %q is not known; use one of %v", c.ProtocolVersion, wire.Versions)
	case !slices.Contains(c.transports(), c.Transport):
		return fmt.Errorf("transport %q does not fit; use one of %q, or leave it out to detect it", c.Transport, c.transports()[1:])
	case c.Command != "":
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New(`its url is not an address such as "http://127.0.0.1:8000/mcp"`)
	}
	return nil
}

// address returns the URL, which check has parsed.
func (c *Config) address() *url.URL {
	u, _ := url.Parse(c.URL)
	return u
}

// transports returns what Transport may be.
func (c *Config) transports() []Transport {
	if c.Command != "" {
		return []Transport{"", Stdio}
	}
	return []Transport{"", HTTP, SSE}
}

// withDefaults returns a copy with every zero value replaced.
func (c *Config) withDefaults() Config {
	d := *c
	patience := 60 * time.Second
	if d.installs() {
		patience = 5 * time.Minute
	}
	d.ConnectTimeout = orDefault(d.ConnectTimeout, patience)
	d.ProbeTimeout = orDefault(d.ProbeTimeout, 5*time.Second)
	d.CallTimeout = orDefault(d.CallTimeout, defaultCallTimeout)
	d.pingAfter, d.pingTimeout = orDefault(d.pingAfter, 15*time.Second), orDefault(d.pingTimeout, 5*time.Minute)
	d.MaxMessage = orDefault(d.MaxMessage, 64<<20)
	if d.spawn == nil {
		d.spawn = startProcess
	}
	if d.Name == "" {
		d.Name = "server"
	}
	return d
}

// installers are the commands that install packages before they start them.
const installers = " npx npm pnpm pnpx yarn bunx bun uvx uv pipx docker podman deno "

// installs reports whether the first start of the command may take long.
func (c *Config) installs() bool {
	name := strings.ToLower(filepath.Base(c.Command))
	name, _, _ = strings.Cut(name, ".") // npx.cmd
	return c.Command != "" && strings.Contains(installers, " "+name+" ")
}

// installed returns the package that the command installs, "" if its arguments do not
// begin with one.
func (c *Config) installed() string {
	if !c.installs() {
		return ""
	}
	for _, arg := range c.Args {
		switch {
		case slices.Contains(beforePackages, arg):
		case strings.HasPrefix(arg, "-"), arg == "run":
			return ""
		default:
			return arg
		}
	}
	return ""
}

// beforePackages are the arguments of installers that a package may follow.
var beforePackages = []string{"exec", "dlx", "x", "tool", "-y", "--yes", "-q", "--quiet", "--package", "--from", "--"}

func orDefault[T time.Duration | int](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}
