package serve

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/observe"
)

// errNotOwner refuses logins for callers of their own identity. A login is the
// owner's, and serves all callers: none of them may replace it by its account.
var errNotOwner = errors.New("only the owner logs in")

// loginFor returns what logs in to servers for calls. It is nil if the browser of the
// user, which returns to a loopback address, may be on another machine.
func (e *Endpoint) loginFor(logins *login.Logins) func(context.Context, *config.Server, *toolpost.Call, time.Time) error {
	if !e.isLocal() || !browserIsHere(os.Getenv) {
		return nil
	}
	return func(ctx context.Context, server *config.Server, call *toolpost.Call, began time.Time) error {
		r := observe.From(ctx)
		if r == nil || r.Client.Identity != "" {
			return errNotOwner
		}
		resolved, err := server.ResolveLogin(ctx, e.secrets.Resolve)
		if err == nil {
			err = logins.LogInFor(ctx, resolved, call, began)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn("the login that a call needs was not finished", "server", server.Name, "err", err)
		}
		return err
	}
}

// isLocal reports whether only this machine can call: over stdio, or on loopback
// without a proxy.
func (e *Endpoint) isLocal() bool {
	return e.listener == nil || e.listener.loopback() && len(e.options.Hosts) == 0 && e.access.login == nil
}

// browserIsHere reports whether the browser of the user can reach the loopback
// addresses of this process, as far as that is known: not from a remote shell.
func browserIsHere(getenv func(string) string) bool { return getenv("SSH_CONNECTION") == "" }
