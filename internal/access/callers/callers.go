// Package callers authenticates the callers of the endpoint: by the named tokens of
// its owner, and by the access tokens of an OAuth authorization server.
//
//	request ─▶ token ─┬▶ Tokens: toolpost_…, stored as a hash ─┬▶ Caller
//	                  └▶ Resource: JWT or introspection ────────┘  or Refusal
package callers

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Caller is who sent a request, as its token proves.
type Caller struct {
	// Identity names the caller in limits, the audit log, and as the owner of
	// sessions and outputs: "token NAME" or SUBJECT@ISSUER.
	Identity string

	// Profiles are those that the caller may use; the first one is served where
	// the address names none. Nil allows everything.
	Profiles []string

	// Ended is done when the token is revoked or has expired; nil for never.
	Ended context.Context

	Expires time.Time // when a stream that only listens ends; zero for never
}

// A Refusal is why a request is not served.
type Refusal struct {
	Status  int
	Code    string // the error of RFC 6750; "" if the request had no token
	Message string // what is wrong and what to do, without quotes and backslashes
	Scope   string // what a token needs for the request; "" if that is not known

	RetryAfter time.Duration // when the same request may be served; 0 if that is not known
}

func (r *Refusal) Error() string { return r.Message }

func invalidToken(message string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "invalid_token", Message: message}
}

// Bound returns a context that ends with the caller's token: at once when it is
// revoked, and for streams that only listen when it expires. The caller goes on
// with a new token; calls that have begun may end.
func (c *Caller) Bound(ctx context.Context, listens bool) (context.Context, context.CancelFunc) {
	var cancel context.CancelFunc
	if listens && !c.Expires.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, c.Expires)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	stop := func() bool { return true }
	if c.Ended != nil {
		stop = context.AfterFunc(c.Ended, cancel)
	}
	if !listens || c.Expires.IsZero() {
		return ctx, func() { stop(); cancel() }
	}
	expiry := afterDeadline(c.Expires, time.Now, cancel)
	return ctx, func() { expiry.stop(); stop(); cancel() }
}

// isName reports whether a token may have the name, or be for a profile of it.
func isName(name string) bool {
	odd := strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	})
	return name != "" && len(name) <= 64 && !odd && !slices.Contains([]byte("._-"), name[0])
}
