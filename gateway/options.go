package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/store"
)

// Options are the optional parts of [Start]. Those up to Adapted are for [NewViews] too; Name,
// Profile and Dialect take precedence over what a configuration says.
type Options struct {
	Logger  *slog.Logger // slog.Default() if nil
	Name    string       // the server's name for clients; some count it in the length of tool names
	Profile string       // for all clients; no other profile is served
	Dialect string       // for all clients whose address names no dialect

	// Adapted is called after each listing of a view. Calls for one view do not
	// overlap. It must not call the methods of the Views.
	Adapted func(*dialect.Adapted)

	// Store keeps the outputs that clients are shown only in part, as
	// [config.Config].Output defines. If it is nil, all outputs are passed on in full.
	Store store.Store

	// Spool is the folder for long results until they are passed on, or are in
	// Store; [os.TempDir] if empty.
	Spool string

	// OpenSource opens a server whose tools run in this process; its Transport is the type
	// that the configuration says, such as "redmine". It does not wait for the server. If
	// what it returns has a method Check(context.Context) error, Check says now and then
	// why the server cannot be used; the tools are listed even then, and return the reason.
	// With nil, such servers fail.
	OpenSource func(*config.Server) (toolpost.Toolset, error)

	Pins *Pins // nil lets servers change the definitions of their tools

	// Catalog stores what servers list, so that the next gateway lists it before
	// they have connected. Nil remembers until the gateway is closed.
	Catalog *Catalog

	// OnDemand reports whether a server is started only when a request needs it: until
	// then it lists what Catalog has of it. Tried means that its lists are stored, or that
	// it took long at an earlier start and did not list. Nil starts all servers.
	OnDemand func(server string, tried bool) bool

	// Reported has what another gateway of the same configuration reported of servers. Those
	// that are ready there are listed with the state and the lists of their report, and are
	// not started unless a request needs them. It may be nil.
	Reported []ServerReport

	// Middleware runs around every call of a tool, get of a prompt, read of a
	// resource, completion and request of an extension, such as an audit log. Call.Name is the name that
	// clients use, and the result is the server's whole one. Nil does nothing.
	Middleware toolpost.Middleware

	// Ask asks the user whether a call may run that needs an approval. Nil asks the
	// caller, with an elicitation.
	Ask func(ctx context.Context, question string) (bool, error)

	// Limits returns the steps that limit requests to servers under a configuration. Admit
	// runs before the approval rules, so a refused request asks nobody. Around runs after
	// them and before Options.Around. A nil step limits nothing.
	Limits func(*config.Config) (admit, around Around)

	// Around run around every request to a server, the first of them around the others: of a
	// tool, prompt, resource, completion or extension. The call has the server's own
	// names, and they may change its Params. A client's request is observed by the
	// option Observe of mcpserver.
	Around []Around

	// Credentials returns what is used in the place of the Wrap of a server over HTTP, such
	// as a layer that adds the token of a login, over that Wrap. It is called with what the
	// values of the server refer to, again when that has changed. Nil adds none; then a
	// server with an Auth needs a Wrap.
	Credentials func(*config.Server) func(base *http.Transport) http.RoundTripper

	// Login logs in to a server over HTTP for a call that needs it, which began at a time.
	// It is called for calls of clients that declared that they can show the page of a
	// login (URL mode elicitation). Nil, or an error, leaves such calls with the error that
	// names the command.
	Login func(ctx context.Context, s *config.Server, call *toolpost.Call, began time.Time) error

	// Starting is how long a server at an address that cannot be reached counts as one
	// that starts; see [upstream.Options].
	Starting time.Duration

	// Resolve reads the secrets that values of servers refer to; see
	// [config.Reference]. With nil, servers that have such a value fail.
	Resolve func(ctx context.Context, r config.Reference) (secret string, err error)

	// Applied names the keys of the configuration file that the program applies itself:
	// access, audit, limits, token, newTools, lock, output. Start refuses a configuration
	// that sets one of the first five if nothing applies it.
	Applied []string
}

// An Around returns a handler that runs around the requests to one target, or refuses them:
// it calls next once, or returns why not; see [Options].
type Around func(to *observe.Target, next toolpost.Handler) toolpost.Handler

// A programKey is a key of the configuration file that only a program can apply, or an
// option of the gateway.
type programKey struct {
	name     string // as [Options].Applied has it
	set      bool   // it is set, and no option applies it
	needs    string // what applies it
	security bool   // without it, more is allowed than the file says
}

// programKeys returns the keys that the gateway itself does not apply.
func (o *Options) programKeys(cfg *config.Config) []programKey {
	withholds := func(s config.Server) bool { return s.WithholdNew }
	limitsOutputs := func(s config.Server) bool { return len(s.Outputs) > 0 }
	hasToken := func(p config.Profile) bool { return p.Token != "" }
	output := cfg.Output.Lines != 0 || cfg.Output.Chars != 0 || cfg.Output.Errors != 0
	return []programKey{
		{"access", cfg.Access != nil, "a check of the tokens of requests", true},
		{"audit", cfg.Audit != nil, "the Around of its audit.Log in Options.Around", true},
		{"limits", !reflect.ValueOf(cfg.Limits).IsZero(), "Options.Limits", true},
		{"token", slices.ContainsFunc(cfg.Profiles, hasToken), "a check of the tokens of profiles in requests", true},
		{"newTools", o.Pins == nil && slices.ContainsFunc(cfg.Servers, withholds), "Options.Pins", true},
		{"lock", cfg.Lock && (o.Pins == nil || !o.Pins.Shared), "Options.Pins", false},
		{"output", o.Store == nil && (output || slices.ContainsFunc(cfg.Servers, limitsOutputs)), "Options.Store", false},
	}
}

// findUnapplied returns a finding for each key that is set and that nothing applies. For
// keys on which security depends, it returns an error.
func (o *Options) findUnapplied(cfg *config.Config) (findings []toolpost.Finding, err error) {
	var ignored []string
	for _, k := range o.programKeys(cfg) {
		switch {
		case !k.set || slices.Contains(o.Applied, k.name):
		case k.security:
			ignored = append(ignored, fmt.Sprintf("%q needs %s", k.name, k.needs))
		default:
			findings = append(findings, toolpost.Finding{Message: fmt.Sprintf("the key %q has no effect: it needs %s", k.name, k.needs)})
		}
	}
	if len(ignored) > 0 {
		err = fmt.Errorf("the program does not apply all keys of the configuration: %s; apply them and name them in Options.Applied of package gateway, or remove them", strings.Join(ignored, ", "))
	}
	return findings, err
}
