package upstream

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost/internal/wire"
)

// unnamedErrors records what an error without an id may answer. JSON-RPC lets a
// server answer so what it could not read, and some servers refuse
// notifications so. A call would wait for its whole limit if the error was for
// it, and is lost if the error was not.
type unnamedErrors struct {
	sent    int  // messages that have no answer: notifications, answers of ours, and a handshake that is ignored
	settled int  // of them, those that came before a request which the server has answered
	stray   bool // the server sent such an error while no call, or several, could be meant; or may send one for a request that is forgotten
}

// sendOneWay sends a message that has no answer.
func (p *peer) sendOneWay(ctx context.Context, method string, message []byte) error {
	p.mu.Lock()
	p.unnamed.sent++
	p.mu.Unlock()
	return p.conn.send(ctx, method, message)
}

// handleUnnamedError takes an error without an id: from is the call whose stream brought it,
// nil if there is none.
func (p *peer) handleUnnamedError(m *wire.Message, from *exchange) {
	x := from
	if x == nil {
		x = p.refusedCall(m.Err)
	}
	if x == nil {
		p.log.Debug("the server sent an error that names no call", "err", wire.ReadError(m.Err))
		return
	}
	m.ID = strconv.AppendInt(nil, x.number, 10)
	p.noteAnswer(m.ID, from)
	p.calls.Answer(m)
}

// refusedCall returns the call that an error without an id answers: the only one that
// the server has to answer, if nothing else that we sent can be meant.
func (p *peer) refusedCall(failure json.RawMessage) *exchange {
	code := wire.ReadError(failure).Code
	aboutNotification := code == wire.CodeMethodNotFound || code == wire.CodeInvalidParams || code == wire.CodeInvalidRequest
	p.mu.Lock()
	defer p.mu.Unlock()
	u := &p.unnamed
	if u.stray || len(p.open) != 1 || u.settled < u.sent || aboutNotification && u.sent > 0 {
		u.stray = u.stray || u.sent > 0
		return nil
	}
	for _, x := range p.open {
		if !x.abandoned {
			return x
		}
	}
	return nil
}
