package hidden

import (
	"time"

	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/secret"
)

// InstanceHeader is the response header by which a Toolpost says which instances its answers
// come from: its own, and those behind its upstreams.
const InstanceHeader = "Toolpost-Instance"

// UpstreamOptions are the options of an upstream that only package gateway sets.
type UpstreamOptions struct {
	// Instance identifies this Toolpost among others, see InstanceHeader. A server that has
	// it is refused. Empty refuses none.
	Instance string

	// Client describes the only client of the connection, nil if there may be several: then
	// the server may ask for everything, and the clients refuse.
	Client *Introduction

	// StartDelay delays the first connection, so that what is known is listed while no server
	// that starts takes the processor. A request ends the delay; Ready waits for its end.
	StartDelay time.Duration

	// Vet returns why a tool, a *toolpost.Tool, must not be called whose definition is another
	// one than what the caller was shown, because the server has listed since. Nil calls it.
	Vet func(tool any) error

	// Eager lets calls of what is known go to the server as soon as it is connected, and not
	// only when it has listed too.
	Eager bool

	// AsksForRoots means that the server is known to ask for roots: it gets those of its
	// client before the first call.
	AsksForRoots bool

	// OneClient is called when the server sends a question, or a log message that a client
	// waits for, that names no call: only the connection shows for which client it is. Refused
	// reports that a question reached no client, because it may be for one of several.
	// OneClient must return at once. Nil ignores it.
	OneClient func(refused bool)

	// Budget limits what waits to be delivered: questions of the server, their answers and
	// notifications. Several connections may share it. Nil limits each connection alone.
	Budget *budget.Budget

	// Secrets are the secrets that are known in this process. They are hidden in errors and
	// log lines. Those of the configuration are added. Nil hides only these.
	Secrets *secret.Values
}

var upstreamOptions func(any) *UpstreamOptions

// ShareUpstream gives this package the function that finds the UpstreamOptions in Options of
// package upstream, which calls it when it is initialized.
func ShareUpstream(of func(any) *UpstreamOptions) struct{} {
	upstreamOptions = of
	return struct{}{}
}

// UpstreamOptionsOf returns those in a *upstream.Options.
func UpstreamOptionsOf(options any) *UpstreamOptions { return upstreamOptions(options) }

// A CredentialsError means that a request was not sent, because its credentials cannot be had
// at the moment.
type CredentialsError struct{ Err error }

func (e *CredentialsError) Error() string { return e.Err.Error() }
func (e *CredentialsError) Unwrap() error { return e.Err }
