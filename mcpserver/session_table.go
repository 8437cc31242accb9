package mcpserver

import (
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

const (
	// unusedTime is how long a session lives that was opened and then made no request.
	unusedTime = 5 * time.Minute
	// A session was idle for usedKeep, or for unusedKeep if it never made a
	// request, before it is ended to make room for another one.
	usedKeep   = time.Minute
	unusedKeep = 10 * time.Second
)

// use is how much a session is used; it is guarded by sessionTable.mu.
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

// idle reports whether a session has been idle for a time, or for the other one
// if it never made a request.
func (u *use) idle(used, unused time.Duration) bool {
	limit := used
	if !u.used {
		limit = min(used, unused)
	}
	return u.busy == 0 && time.Since(u.recent) >= limit
}

// A sessionTable holds the open sessions over HTTP. Their number is limited in
// all and for each holder: an authenticated caller, else an address. At a limit, a new
// session ends one that has been idle for some time, first one that was never used; if
// there is none, it is refused. At the limit in all, the holder of most sessions gives
// way to one who has fewer. One timer ends idle sessions.
type sessionTable struct {
	most, maxOfOne int
	idle           time.Duration // see Limits

	mu       sync.Mutex
	all      map[string]*session // by id
	ofHolder map[quotaHolder]int
	sweeper  *time.Timer // nil while there are no sessions
	closed   bool
}

func newSessionTable(o *Options) *sessionTable {
	idle := o.Limits.SessionTimeout
	if idle < 0 {
		idle = math.MaxInt64
	}
	return &sessionTable{most: o.Limits.Sessions, maxOfOne: o.Limits.ClientSessions, idle: idle, all: map[string]*session{}, ofHolder: map[quotaHolder]int{}}
}

// add adds a session with one open request; leave must follow.
func (t *sessionTable) add(s *session) *wire.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return wire.Errorf(wire.CodeInternal, "%v", errClosed)
	}
	if !t.makeRoom(s.quotaHolder()) {
		return wire.Errorf(wire.CodeInternal, "too many sessions are open, and all were in use a moment ago; end sessions that are done with DELETE, and try again in a minute")
	}
	s.busy, s.recent = 1, time.Now()
	t.all[s.id] = s
	t.ofHolder[s.quotaHolder()]++
	if t.sweeper == nil {
		t.schedule()
	}
	return nil
}

// makeRoom reports whether there is room for a session of a holder. It ends the
// least used session if that makes room. The lock is held.
func (t *sessionTable) makeRoom(holder quotaHolder) bool {
	full := t.ofHolder[holder] >= t.maxOfOne
	if !full && len(t.all) < t.most {
		return true
	}
	least := t.leastUsed(func(s *session) bool {
		return (!full || s.quotaHolder() == holder) && s.idle(usedKeep, unusedKeep)
	})
	if least == nil && !full {
		least = t.ofLargest(holder)
	}
	if least == nil {
		return false
	}
	t.drop(least)
	go least.end(errEnded)
	return true
}

// leastUsed returns the session that is used least of some, nil if there is none. The
// lock is held.
func (t *sessionTable) leastUsed(some func(*session) bool) (least *session) {
	for _, s := range t.all {
		if some(s) && (least == nil || s.less(&least.use)) {
			least = s
		}
	}
	return least
}

// ofLargest returns a session without an open request of the holder who has most, if
// that are more than another one will have; else nil. The lock is held.
func (t *sessionTable) ofLargest(other quotaHolder) *session {
	largest, most := quotaHolder{}, t.ofHolder[other]+1
	for holder, n := range t.ofHolder {
		if n > most {
			largest, most = holder, n
		}
	}
	return t.leastUsed(func(s *session) bool { return s.quotaHolder() == largest && s.busy == 0 })
}

// find returns the session with an id, with one more open request; leave must
// follow. Requests that use the session keep it from being ended soon. The
// session is nil if there is none, or with an error.
func (t *sessionTable) find(id string, uses bool) (*session, *wire.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.all[id]
	switch {
	case s == nil:
		return nil, nil
	case s.idle(t.idle, unusedTime):
		t.drop(s)
		go s.end(errEnded)
		return nil, nil
	case uses && s.busy >= maxCalls: // answers to what calls ask have room
		return nil, wire.Errorf(wire.CodeInvalidRequest, "the session has %d requests under way; wait for some of them", s.busy)
	}
	s.busy++
	s.used = s.used || uses
	return s, nil
}

// has reports whether there is a session with an id.
func (t *sessionTable) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[id] != nil
}

// leave ends an open request of a session.
func (t *sessionTable) leave(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.busy--
	s.recent = time.Now()
}

// remove forgets a session that has ended.
func (t *sessionTable) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(s)
}

// drop forgets a session. The lock is held.
func (t *sessionTable) drop(s *session) {
	if t.all[s.id] != s {
		return
	}
	delete(t.all, s.id)
	holder := s.quotaHolder()
	if t.ofHolder[holder]--; t.ofHolder[holder] == 0 {
		delete(t.ofHolder, holder)
	}
}

// schedule has idle sessions ended after a while. The lock is held.
func (t *sessionTable) schedule() { t.sweeper = time.AfterFunc(min(unusedTime, t.idle)/4, t.sweep) }

// sweep ends the sessions that have been idle for too long.
func (t *sessionTable) sweep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.all {
		if s.idle(t.idle, unusedTime) {
			t.drop(s)
			go s.end(errEnded)
		}
	}
	if t.sweeper = nil; len(t.all) > 0 && !t.closed {
		t.schedule()
	}
}

// close ends all sessions, and refuses others.
func (t *sessionTable) close() {
	t.mu.Lock()
	t.closed = true
	if t.sweeper != nil {
		t.sweeper.Stop()
	}
	t.mu.Unlock()
	t.end(func(*session) bool { return true }, errClosed)
}

// end ends the sessions for which which reports true.
func (t *sessionTable) end(which func(*session) bool, cause error) {
	t.mu.Lock()
	var all []*session
	for _, s := range t.all {
		if which(s) {
			all = append(all, s)
		}
	}
	t.mu.Unlock()
	for _, s := range all {
		s.end(cause)
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
