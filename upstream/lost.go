package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

// errSessionMissing answers a request that was not carried out, because the
// server forgot our session; errSessionLost is what that is for all others.
var (
	errSessionLost    = errors.New("the server no longer knows our session; it was restarted")
	errSessionMissing = fmt.Errorf("the request was refused: %w", errSessionLost)
)

// Words of servers that do not know a session, or wait for an initialize.
var (
	aboutSession   = lazyregexp.New(`(?i)session|initiali[sz]`)
	aboutHandshake = lazyregexp.New(`(?i)initiali[sz]`)
)

// A refusal is how a server refused a request.
type refusal struct {
	status int    // of HTTP; 200 for an error that only JSON-RPC says
	code   int64  // of JSON-RPC, 0 for none
	text   string // what the server says
}

// refusalOf returns the refusal that an error is, false if it is none.
func refusalOf(err error) (r refusal, ok bool) {
	status, overHTTP := errors.AsType[*statusError](err)
	rpc, isRPC := errors.AsType[*wire.Error](err)
	if isRPC {
		r = refusal{http.StatusOK, rpc.Code, rpc.Message + " " + string(rpc.Data)}
	}
	if overHTTP {
		r.status = status.status
		r.text += " " + status.body
	}
	return r, overHTTP || isRPC
}

// byHTTP reports whether the status alone refuses a request. One of too many
// requests does not concern the request.
func (r *refusal) byHTTP() bool {
	return r.status >= 400 && r.status < 500 && r.status != http.StatusTooManyRequests && r.code != wire.CodeMethodNotFound
}

// hasSession reports whether the server may forget our session while the connection
// lasts.
func (p *peer) hasSession() bool {
	switch c := p.conn.(type) {
	case *streamable:
		return c.sessionID() != ""
	case *sse: // its session is part of the address
		return true
	}
	return false
}

// namesSession reports whether a refusal is about our session.
func (p *peer) namesSession(r *refusal) bool {
	if p.hasSession() {
		return aboutSession.MatchString(r.text)
	}
	return aboutHandshake.MatchString(r.text)
}

// forgot reports whether the server refused a request because it no longer knows our
// session, which it then ends. MCP wants status 404 for that, but servers use many
// others, and all of them for other reasons too. So other requests, which worked
// before, have to confirm it: those of calls under way would be lost for nothing.
func (p *peer) forgot(ctx context.Context, x *exchange, err error) bool {
	r, ok := refusalOf(err)
	if !ok || p.meta != nil || x.handshake() {
		return false
	}
	named := p.namesSession(&r)
	if !named && !(r.byHTTP() && p.hasSession()) {
		return false
	}
	p.mu.Lock()
	worked := p.worked
	p.mu.Unlock()
	if worked == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	p.checking.Lock()
	defer p.checking.Unlock()
	if p.ctx.Err() != nil {
		return errors.Is(p.failure(), errSessionLost)
	}
	switch {
	case p.refuses(ctx, "ping", nil, nil) && p.refuses(ctx, worked, nil, nil):
	case named && p.refuses(ctx, x.method, json.RawMessage(nowhere), &r):
	default:
		return false
	}
	p.fail(errSessionLost)
	return true
}

// noteWorked records a request that the server carried out.
func (p *peer) noteWorked(method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.worked == "" {
		p.worked = method
	}
}

// nowhere are the params of a request that no server carries out.
const nowhere = `{"name":"toolpost-check","uri":"toolpost:check","arguments":{}}`

// refuses reports whether the server refuses a request as one of an unknown session:
// in the same way as another one, if that is not nil.
func (p *peer) refuses(ctx context.Context, method string, params json.RawMessage, like *refusal) bool {
	if method == "" {
		return false
	}
	_, err := p.exchange(ctx, &exchange{content: content{method: method, params: params}})
	r, ok := refusalOf(err)
	switch {
	case !ok:
		return false
	case like != nil:
		return p.namesSession(&r) && r.status == like.status && r.code == like.code
	}
	return r.byHTTP() || p.namesSession(&r)
}
