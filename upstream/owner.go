package upstream

import (
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// Why a request or a log message of the server reaches no client.
var (
	errNoCall  = errors.New("this does not belong to any running call")
	errUnclear = errors.New("this server is used by more than one client, and it is unclear to which call this belongs; " +
		`to keep clients apart, set "share": "per-session" for this server in the configuration`)
	errOnce = errors.New("this server was used by more than one client, and it is unclear to which call this belongs; " +
		"from its next call on, each client has a process or connection of its own, which may ask")
	errNoSessions = errors.New("clients without sessions (MCP 2026-07-28) that have the same name cannot be distinguished, and several of their calls " +
		"are under way or were canceled without an answer; make one call of this server at a time, use a client with sessions, or restart this server")
)

// maxAbandoned bounds the calls that a session remembers because the server
// never answered them.
const maxAbandoned = 1000

// owners records who made calls over one session with a server.
type owners struct {
	open      map[int64]*exchange // sent and not answered, even if their callers left
	abandoned int                 // of open
	last      *hidden.Owner       // nil before the first call
	several   bool                // more than one client made calls
	forgotten bool                // there were more than maxAbandoned
	haveRoots bool                // a client that made calls may have roots
}

func (o *owners) begin(x *exchange) {
	o.open[x.number] = x
	if x.owner == nil {
		return
	}
	if o.last != nil && o.last.Session != x.owner.Session {
		o.several = true
	}
	o.haveRoots = o.haveRoots || mayHaveRoots(x.caller)
	o.last = x.owner
}

// mayHaveRoots reports whether the client of a call may have roots: it declared so, or
// did not introduce itself.
func mayHaveRoots(caller toolpost.Caller) bool {
	if caller == nil {
		return false
	}
	says := hidden.IntroductionOf(caller)
	return says == nil || wire.Get(says.Capabilities, "roots") != nil
}

// removeAnswered removes an exchange that the server answered.
func (o *owners) removeAnswered(number int64) *exchange {
	x := o.open[number]
	delete(o.open, number)
	if x != nil && x.abandoned {
		o.abandoned--
	}
	return x
}

// abandon records that no caller waits for x any more. The server may still be
// carrying x out, so what the server sends may belong to x. It reports whether x is
// forgotten.
func (o *owners) abandon(x *exchange) (forgotten bool) {
	if o.open[x.number] != x || x.abandoned {
		return false
	}
	if x.owner == nil || o.abandoned >= maxAbandoned {
		delete(o.open, x.number)
		o.forgotten = o.forgotten || x.owner != nil
		return true
	}
	// Only the owner of x stays in memory.
	o.open[x.number] = &exchange{request: &request{owner: x.owner}, number: x.number, abandoned: true}
	o.abandoned++
	return false
}

// hasCall reports whether a call of a client is under way, or was abandoned.
func (o *owners) hasCall() bool {
	for _, x := range o.open {
		if x.owner != nil {
			return true
		}
	}
	return false
}

// isUnclear reports whether a message reached no client because several may be meant.
func isUnclear(err error) bool { return errors.Is(err, errUnclear) || errors.Is(err, errNoSessions) }

// find returns the call that a message belongs to which names none. It never
// guesses: a message reaches a client only if no other client can be meant.
func (o *owners) find() (*exchange, error) {
	if o.several {
		return nil, errUnclear
	}
	var found *exchange // the latest whose caller is there
	calls := 0
	for _, x := range o.open {
		if x.owner == nil {
			continue
		}
		calls++
		if !x.abandoned && !x.deaf.Load() && x.caller != nil && (found == nil || x.number > found.number) {
			found = x
		}
	}
	switch {
	case calls == 0:
		return nil, errNoCall
	case o.last.Shared && (calls > 1 || o.forgotten):
		return nil, errNoSessions
	case found == nil:
		return nil, toolpost.ErrNoCaller
	}
	return found, nil
}
