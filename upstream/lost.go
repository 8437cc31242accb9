package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

// errSessionMissing answers a request that was not carried out, because the
// server forgot our session; errSessionLost is what that is for all others.
var (
	errSessionLost    = errors.New("the server no longer knows our session; it was restarted")
	errSessionMissing = fmt.Errorf("the request was refused: %w", errSessionLost)
)

// aboutSession matches words of servers that do not know a session, or wait for an
// initialize.
var aboutSession = lazyregexp.New(`(?i)session|initiali[sz]`)

// probeTime is how long one request that confirms a lost session may take.
const probeTime = 10 * time.Second

// lostTime is how long calls that were under way in a lost session may still be answered.
const lostTime = 30 * time.Second

// A refusal is how a server refused a request.
type refusal struct {
	status int    // of HTTP; 200 for an error that only JSON-RPC says
	code   int64  // of JSON-RPC, 0 for none
	text   string // what the server says
	words  string // text without what surrounds it, which may have the id of the request
}

// equals reports whether a request was refused as another one was.
func (r *refusal) equals(other *refusal) bool {
	return r.status == other.status && r.code == other.code && r.words == other.words
}

// refusalOf returns the refusal that an error is, false if it is none.
func refusalOf(err error) (r refusal, ok bool) {
	status, overHTTP := errors.AsType[*statusError](err)
	rpc, isRPC := errors.AsType[*wire.Error](err)
	if isRPC {
		text := rpc.Message + " " + string(rpc.Data)
		r = refusal{http.StatusOK, rpc.Code, text, text}
	}
	if overHTTP {
		r.status = status.status
		r.text += " " + status.body
		r.words = cmp.Or(r.words, status.body)
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

// forgot reports whether the server refused a request because it no longer knows our
// session, which it then ends. MCP wants status 404 for that, but servers use many
// others, and all of them for other reasons too. So two requests that worked before have
// to confirm it: calls under way would be lost for nothing. A server that answers one of
// them knows the session, whatever a tool's error says. One that is too slow for them is
// believed if it follows the rule.
func (p *peer) forgot(ctx context.Context, x *exchange, err error) bool {
	r, ok := refusalOf(err)
	if !ok || p.meta != nil || x.handshake() || !p.hasSession() {
		return false
	}
	byRule := r.status == http.StatusNotFound
	if !r.byHTTP() && !aboutSession.MatchString(r.text) {
		return false
	}
	p.mu.Lock()
	worked := p.worked
	p.mu.Unlock()
	if worked == "" && !byRule {
		return false
	}
	p.checking.Lock()
	defer p.checking.Unlock()
	if p.ctx.Err() != nil {
		return p.wasLost(&r)
	}
	if !p.isForgotten(ctx, worked, byRule) {
		return false
	}
	p.fail(errSessionLost)
	return true
}

// wasLost reports whether the connection ended since the server forgot our session, and
// refused a request for that: one that was under way may have failed for another reason.
func (p *peer) wasLost(r *refusal) bool {
	byRule := r.status == http.StatusNotFound && p.lostAs == refusal{}
	return errors.Is(p.failure(), errSessionLost) && (byRule || r.equals(&p.lostAs))
}

// isForgotten reports whether the server refuses a ping and a request that worked before.
// If it refused by the rule, it is enough that it answers neither.
func (p *peer) isForgotten(ctx context.Context, worked string, byRule bool) bool {
	for _, method := range []string{"ping", worked} {
		refused, answered := p.probe(ctx, method)
		if answered || refused == nil && !byRule {
			return false
		}
		if refused != nil {
			p.lostAs = *refused
		}
	}
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

// probe returns how the server refuses a request as one of an unknown session, nil if it
// does not, and reports whether it answers it.
func (p *peer) probe(ctx context.Context, method string) (refused *refusal, answered bool) {
	if method == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	_, err := p.exchange(ctx, &exchange{request: &request{method: method}})
	r, ok := refusalOf(err)
	if ok && (r.byHTTP() || aboutSession.MatchString(r.text)) {
		return &r, false
	}
	return nil, err == nil || ok
}
