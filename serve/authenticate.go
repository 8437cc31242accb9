package serve

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
)

// loginTime is how long a stream that only listens goes on before its client has to send a
// request again, which Options.Authenticate then decides about.
const loginTime = time.Hour

// hasOwnLogin reports whether Options.Authenticate decides who calls. Over standard input
// and output, the client is who started us.
func (o *Options) hasOwnLogin() bool { return o.Authenticate != nil && !o.Stdio }

// checkOwnLogin refuses a configuration that itself says who may call.
func checkOwnLogin(cfg *config.Config) error {
	if cfg.Access != nil {
		return errors.New(`"access" of the configuration lets callers log in, but this program has a login of its own; leave "access" out`)
	}
	for i := range cfg.Profiles {
		if p := &cfg.Profiles[i]; p.Token != "" {
			return fmt.Errorf("the profile %q has a token, but this program has a login of its own; leave the token out", p.Name)
		}
	}
	return nil
}

// ask has Options.Authenticate decide who sent a request. What it says of a refusal is for
// the log: it may describe accounts.
func (e *Endpoint) ask(r *http.Request) (*callers.Caller, *callers.Refusal) {
	user, profile, err := e.callAuthenticate(r)
	if err == nil && user == "" {
		err = errors.New("Options.Authenticate returned neither a user nor an error")
	}
	if err != nil {
		e.log.Info("a request was refused", "address", r.RemoteAddr, "path", r.URL.Path, "err", err)
		return nil, &callers.Refusal{Status: http.StatusUnauthorized, Message: "you are not logged in: log in to the service that runs this server, and send the request again"}
	}
	caller := &callers.Caller{Identity: "user " + user, Expires: time.Now().Add(loginTime)}
	if profile != "" {
		caller.Profiles = []string{profile}
	}
	return caller, nil
}

// callAuthenticate calls Options.Authenticate. A panic in it refuses the request.
func (e *Endpoint) callAuthenticate(r *http.Request) (user, profile string, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("panic in Options.Authenticate", "panic", p, "stack", string(debug.Stack()))
			err = errors.New("Options.Authenticate panicked")
		}
	}()
	return e.options.Authenticate(r)
}

// EndSessions ends the sessions of a user of Options.Authenticate who has logged out or may
// call no more, the calls in them, and the streams of clients without a session (2026-07-28).
func (e *Endpoint) EndSessions(user string) {
	e.mcp.EndSessions(func(identity string) bool { return identity == "user "+user })
}
