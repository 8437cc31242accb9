package login

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// A transport adds the token of a login to requests.
type transport struct {
	source *source
	origin *url.URL
	base   http.RoundTripper
}

// maxSends bounds how often one request is sent: with the token that is held, with a
// renewed one, and with one of more scopes.
const maxSends = 3

// RoundTrip sends a request with the token. If the server refuses the token, it
// sends the request again with a new one.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !t.isFor(req) {
		return t.base.RoundTrip(req)
	}
	held, err := t.source.token(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	resp, err := t.source.send(t.base, req, held)
	for sent := 1; sent < maxSends && err == nil && isRefusal(resp); sent++ {
		next, problem := t.nextToken(req.Context(), held, resp)
		if problem != nil {
			drop(resp)
			return nil, problem
		}
		again, ok := rewound(req)
		if next == nil || !ok {
			return resp, nil
		}
		drop(resp)
		held = next
		if resp, err = t.source.send(t.base, again, held); err == nil && resp.StatusCode == http.StatusUnauthorized {
			drop(resp)
			return nil, t.source.refusedAgainError()
		}
	}
	return resp, err
}

// A passer is a layer that leaves some requests as they are; see [upstream.Config].Wrap.
type passer interface {
	Passes(ctx context.Context, req *http.Request) bool
}

// Passes reports whether requests may be sent without the layer. A login that another process has just stored may
// count a little later.
func (t *transport) Passes(ctx context.Context, req *http.Request) bool {
	if t.isFor(req) && !t.source.hasNone(ctx) {
		return false
	}
	inner, ok := t.base.(passer)
	_, isLast := t.base.(*http.Transport)
	return isLast || ok && inner.Passes(ctx, req)
}

// isFor reports whether the token may be sent with a request.
func (t *transport) isFor(req *http.Request) bool {
	return netaddr.SameOrigin(req.URL, t.origin) && (t.source.cfg().Auth != nil || !hasAuthorization(req.Header))
}

func isRefusal(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// CloseIdleConnections is called by the method of [http.Client].
func (t *transport) CloseIdleConnections() {
	(&http.Client{Transport: t.base}).CloseIdleConnections()
}

// nextToken returns the token to try next, nil if the refusal is the answer.
func (t *transport) nextToken(ctx context.Context, held *record, resp *http.Response) (*record, error) {
	c := readChallenge(resp.Header)
	switch {
	case resp.StatusCode == http.StatusForbidden && c.code == "insufficient_scope":
		return t.source.stepUp(ctx, held, c)
	case resp.StatusCode == http.StatusForbidden:
		return nil, nil
	case held != nil:
		return t.source.renew(ctx, held.Access)
	}
	next, err := t.source.renew(ctx, "") // another process may have logged in
	switch {
	case err == nil || ctx.Err() != nil:
		return next, err
	case !t.wantsLogin(ctx, c):
		return nil, nil
	case isLogin(err) || t.source.isAutomatic():
		return nil, err
	}
	return nil, t.source.needsLogin(err.Error()) // the vault is unusable
}

// wantsLogin reports whether a server that refuses a request has an authorization
// server, and does not only want a header.
func (t *transport) wantsLogin(ctx context.Context, c challenge) bool {
	if c.metadata != "" || t.source.cfg().Auth != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	places := append(wellKnown(t.source.server, oauth.ProtectedResource), oauth.MetadataAddress(origin(t.source.server), oauth.AuthorizationServer))
	for _, place := range places {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
		if err != nil {
			continue
		}
		resp, err := t.base.RoundTrip(req)
		if err != nil {
			continue
		}
		data, _ := io.ReadAll(io.LimitReader(resp.Body, longestAnswer)) // a part is not a document
		resp.Body.Close()
		if d, err := readDocument(data); err == nil && resp.StatusCode == http.StatusOK && (d["resource"] != nil || d["issuer"] != nil) {
			return true
		}
	}
	return false
}

// withToken returns a copy of a request with a token.
func withToken(req *http.Request, r *record) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+r.Access)
	return req
}

// rewound returns a request that can be sent again.
func rewound(req *http.Request) (*http.Request, bool) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	req = req.Clone(req.Context())
	req.Body = body
	return req, true
}

func drop(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	resp.Body.Close()
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// errNoAddress reports a server without a URL.
var errNoAddress = errors.New("it has no url: only servers that are reached over HTTP have logins")

func checkServer(cfg *config.Server) error {
	if cfg.URL == "" {
		return errNoAddress
	}
	if cfg.Auth != nil && cfg.Auth.Type != "" {
		return errors.New(`the type of its "auth" is ` + cfg.Auth.Type + ", which needs no login of a person")
	}
	return nil
}
