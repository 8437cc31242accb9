package mcpserver

import (
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// unusedTime is how long a session lives that was opened and then made no request.
const unusedTime = 5 * time.Minute

// use is how much a session is used; it is guarded by table.mu.
type use struct {
	busy   int       // requests and streams that are open
	used   bool      // it has made a request
	recent time.Time // when a request or stream ended last
}

// less reports whether a session is used less than another one.
func (u *use) less(o *use) bool {
	if u.used != o.used {
		return o.used
	}
	return u.recent.Before(o.recent)
}

// A table holds the sessions over HTTP that are open. There are limits, in all
// and for each address. A client that opens too many ends the ones that are
// idle, first those that were never used. One timer ends idle sessions.
type table struct {
	most, mostOfOne int
	idle            time.Duration // see Options.SessionTimeout

	mu        sync.Mutex
	all       map[string]*session // by id
	ofAddress map[string]int
	sweeper   *time.Timer // nil while there are no sessions
	closed    bool
}

func newTable(o *Options) *table {
	idle := o.SessionTimeout
	if idle < 0 {
		idle = math.MaxInt64
	}
	return &table{most: o.MaxSessions, mostOfOne: o.MaxClientSessions, idle: idle, all: map[string]*session{}, ofAddress: map[string]int{}}
}

// add adds a session with one open request; leave must follow. It ends the
// least used session if there are too many.
func (t *table) add(s *session) *wire.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return wire.Errorf(wire.CodeInternal, "%v", errClosed)
	}
	var least []*session
	if t.ofAddress[s.address] >= t.mostOfOne {
		least = append(least, t.least(s.address))
	} else if len(t.all) >= t.most {
		least = append(least, t.least(""))
	}
	for _, l := range least {
		if l == nil {
			return wire.Errorf(wire.CodeInternal, "too many sessions are open, and all are busy; end one with DELETE, or try again later")
		}
		t.drop(l)
		go l.end(errEnded)
	}
	s.busy, s.recent = 1, time.Now()
	t.all[s.id] = s
	t.ofAddress[s.address]++
	if t.sweeper == nil {
		t.sweeper = time.AfterFunc(t.shortest(), t.sweep)
	}
	return nil
}

// least returns the session of an address, or of all for "", that is used
// least. It returns nil if all are busy. The lock is held.
func (t *table) least(address string) (least *session) {
	for _, s := range t.all {
		if s.busy == 0 && (address == "" || s.address == address) && (least == nil || s.less(&least.use)) {
			least = s
		}
	}
	return least
}

// find returns the session with an id, with one more open request; leave must
// follow. Requests that use the session keep it from being ended soon. The
// session is nil if there is none, or with an error.
func (t *table) find(id string, uses bool) (*session, *wire.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.all[id]
	switch {
	case s == nil:
		return nil, nil
	case t.expired(s):
		t.drop(s)
		go s.end(errEnded)
		return nil, nil
	case s.busy >= maxCalls:
		return nil, wire.Errorf(wire.CodeInvalidRequest, "the session has %d requests under way; wait for some of them", s.busy)
	}
	s.busy++
	s.used = s.used || uses
	return s, nil
}

// leave ends an open request of a session.
func (t *table) leave(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.busy--
	s.recent = time.Now()
}

// remove forgets a session that has ended.
func (t *table) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(s)
}

// drop forgets a session. The lock is held.
func (t *table) drop(s *session) {
	if t.all[s.id] != s {
		return
	}
	delete(t.all, s.id)
	if t.ofAddress[s.address]--; t.ofAddress[s.address] == 0 {
		delete(t.ofAddress, s.address)
	}
}

// timeout returns how long a session may be idle.
func (t *table) timeout(s *session) time.Duration {
	if s.used {
		return t.idle
	}
	return t.shortest()
}

func (t *table) shortest() time.Duration { return min(unusedTime, t.idle) }

// expired reports whether a session has been idle for too long. The lock is held.
func (t *table) expired(s *session) bool {
	return s.busy == 0 && time.Since(s.recent) >= t.timeout(s)
}

// sweep ends the sessions that have been idle for too long. The next sweep is
// when the first of the others may have been, and not too soon.
func (t *table) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := t.shortest()
	for _, s := range t.all {
		if t.expired(s) {
			t.drop(s)
			go s.end(errEnded)
		} else if s.busy == 0 {
			next = min(next, time.Until(s.recent.Add(t.timeout(s))))
		}
	}
	if len(t.all) == 0 || t.closed {
		t.sweeper = nil
		return
	}
	t.sweeper = time.AfterFunc(max(next, t.shortest()/20), t.sweep)
}

// close ends all sessions, and refuses others.
func (t *table) close() {
	t.mu.Lock()
	t.closed = true
	if t.sweeper != nil {
		t.sweeper.Stop()
	}
	var all []*session
	for _, s := range t.all {
		all = append(all, s)
	}
	t.mu.Unlock()
	for _, s := range all {
		s.end(errClosed)
	}
}

// addressOf returns the host that a request came from.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
