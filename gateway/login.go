package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
)

// A LoginFunc logs in to a server for a call that needs it, which began at a time. An
// error leaves the call with the error that names the command.
type LoginFunc func(ctx context.Context, s *config.Server, call *toolpost.Call, began time.Time) error

// maxLogins bounds how often a call is repeated after its login: the server may be
// connected again only by the second time.
const maxLogins = 3

// withLogin returns a handler that repeats a call that its server refused because it
// needs a login, after the login. A refused call was not carried out.
func (m *member) withLogin(h toolpost.Handler) toolpost.Handler {
	if m.login == nil || m.server.URL == "" {
		return h
	}
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		began := time.Now()
		result, err := h(ctx, call)
		if !needsLogin(err) || ctx.Err() != nil || !call.CallerSupports("elicitation.url") || m.login(ctx, &m.server, call, began) != nil {
			return result, err
		}
		for tries := 0; tries < maxLogins && needsLogin(err) && ctx.Err() == nil; tries++ {
			result, err = h(ctx, call)
		}
		return result, err
	}
}

func needsLogin(err error) bool {
	unavailable, ok := errors.AsType[*toolpost.UnavailableError](err)
	return ok && unavailable.Login
}
