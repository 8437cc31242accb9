package upstream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A rootsState is what a session's server knows about roots. Servers such as
// the reference file system server ask for roots right after the handshake, when
// no client has made a call yet, and again when the roots have changed. Before
// the first call of a client they get a notification that the roots have
// changed, so that they ask when a client can answer.
type rootsState struct {
	asked   bool            // the server asks for roots
	stale   bool            // the client's roots have changed
	current json.RawMessage // the answer of the only client; nil before there is one
	renewed chan struct{}   // holds one value when a question asked since current was set is answered
}

const (
	noRoots     = `{"roots":[]}`
	maxRoots    = 1 << 20               // bytes of the answer that is kept
	rootsAnswer = 10 * time.Second      // for the client to say which it has
	rootsTime   = 2 * time.Second       // to ask again after the roots have changed
	rootsPause  = 50 * time.Millisecond // for the server to look at them
)

// hasRoots reports whether a client of the server may have roots. If none has, the
// answer to a question about them is the same for all: it is not refused to anybody.
func (p *peer) hasRoots() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.haveRoots
}

// knownRoots returns the roots of the only client of the server. If there is
// none, or more than one, there are no roots.
func (p *peer) knownRoots() json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.several || p.roots.current == nil {
		return json.RawMessage(noRoots)
	}
	return p.roots.current
}

// needsRoots reports whether the server asks for roots and does not know
// those of this client, its only one, yet.
func (p *peer) needsRoots(whose *hidden.Owner) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.roots
	if !r.asked || p.several || p.last != nil && p.last.Session != whose.Session || r.current != nil && !r.stale {
		return false
	}
	r.stale, r.current = false, json.RawMessage(noRoots) // other calls do not ask too
	return true
}

// noteRootsAsked records that the server asks for roots. It returns what must be called when
// the question is answered.
func (p *peer) noteRootsAsked() (answered func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.roots.asked = true
	renewed := p.roots.renewed
	return func() {
		select {
		case renewed <- struct{}{}:
		default:
		}
	}
}

// noteRoots records which roots a client gave the server during a call.
func (p *peer) noteRoots(roots json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.several && len(roots) <= maxRoots {
		p.roots.current = roots
	}
}

// shareRoots gives the server the roots of a client before its call.
func (s *session) shareRoots(ctx context.Context, r *request) {
	if s.modern() || r.caller == nil || r.owner == nil || !s.needsRoots(r.owner) {
		return
	}
	asking, stop := context.WithTimeout(ctx, rootsAnswer)
	defer stop()
	roots, err := question(asking, r.caller, "roots/list", json.RawMessage("{}"))
	if err != nil || len(roots) > maxRoots {
		return // a client without roots, or one that does not answer
	}
	renewed := make(chan struct{}, 1)
	s.mu.Lock()
	s.roots.current, s.roots.renewed = roots, renewed
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, rootsTime)
	defer cancel()
	const changed = "notifications/roots/list_changed"
	if s.sendOneWay(ctx, changed, wire.AppendRequest(nil, nil, changed, json.RawMessage("{}"))) != nil {
		return
	}
	if s.waitFor(ctx, renewed) {
		s.sleep(ctx, rootsPause)
	}
}

// Settled reports whether the server has answered all calls of clients that it got
// over its present connection: nothing that it sends now can belong to one that was
// canceled.
func (u *Upstream) Settled() bool {
	v, _ := u.view()
	if v.session == nil {
		return true
	}
	p := v.session.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.forgotten && !p.hasCall()
}

// AsksForRoots reports whether the server has asked for roots over its present
// connection.
func (u *Upstream) AsksForRoots() bool {
	v, _ := u.view()
	if v.session == nil {
		return false
	}
	p := v.session.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roots.asked
}

// RootsChanged records that the client of a session has other roots than before.
// A server that asked for them is notified before the client's next call.
func (u *Upstream) RootsChanged(session string) {
	v, _ := u.view()
	if v.session == nil {
		return
	}
	p := v.session.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil && !p.several && p.last.Session == session {
		p.roots.stale = true
	}
}
