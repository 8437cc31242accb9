package gateway

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// Limits of the processes that one server has for single clients.
const (
	maxProcesses = 32
	maxOfClient  = maxProcesses / 2 // with calls under way
	idleProcess  = 30 * time.Minute // without a call, unless the configuration sets another time
	idleOfAuto   = 10 * time.Minute // where the configuration does not ask for processes of single clients
)

// Values of Share of [config.Server].
const (
	shareAuto       = "auto"
	shareAlways     = "always"
	sharePerSession = "per-session"
	sharePerClient  = "per-client"
)

// A pool is a server with one process or more. One is home: it lists what the server
// offers, and serves all clients until the server sends something that is for one
// client alone. From then on (asks)
//
//   - a session keeps the process that it uses, and another session gets another one;
//   - a call of a client without sessions has a process to itself while it runs, which
//     then waits for the next call of that client;
//   - a process whose session has ended serves no other client: it is spent. Nothing
//     that it sends later can be taken for another client's. A home that is spent is
//     replaced, so that the next client finds one that is ready.
//
// With "per-session" and "per-client", home serves no client.
type pool struct {
	server   *config.Server
	start    starter
	opts     upstream.Options
	idle     time.Duration
	events   toolpost.Base // what home reports
	checkPin pinCheck
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	closing  sync.WaitGroup

	mu      sync.Mutex
	home    *process
	next    *process // takes the place of home when it is ready; nil if home is to stay
	all     map[*process]bool
	bound   map[clientKey]*process
	asks    bool
	watched map[string]bool // resources that home is subscribed to
	freed   chan struct{}   // closed when a process may have become free; nil if no call waits for that
	closed  bool
	take    func(*process, toolpost.Event) // takes notifications and changes of resources; may be nil
	works   func(*process) bool            // whether a process has open tasks; may be nil
	noted   *upstream.Known                // home's, with asks
	notedOf *upstream.Known
}

// A clientKey identifies a client of a server.
type clientKey struct{ session, party string }

// clientOf identifies the client of a call, also among calls that share it with others.
func clientOf(call *toolpost.Call) clientKey {
	return clientKey{session: call.Session}
}

// isStateless reports whether the client of a call has no session that ends.
func isStateless(call *toolpost.Call) bool { return hidden.OwnerOf(call).Shared || call.Session == "" }

// newPool starts home.
func newPool(s *config.Server, start starter, opts *upstream.Options, checkPin pinCheck) (connection, error) {
	p := &pool{
		server: s, start: start, opts: *opts, checkPin: checkPin, idle: cmp.Or(s.Idle, idleProcess),
		all: map[*process]bool{}, bound: map[clientKey]*process{}, watched: map[string]bool{},
		asks: opts.Known != nil && opts.Known.Asks,
	}
	if s.Idle == 0 && p.isAuto() {
		p.idle = idleOfAuto
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.mu.Lock() // for what the process may send at once
	defer p.mu.Unlock()
	var err error
	if p.home, err = p.newProcess(*opts, nil); err != nil {
		p.cancel()
		return nil, err
	}
	return p, nil
}

func (p *pool) isAuto() bool {
	return p.server.Share != sharePerSession && p.server.Share != sharePerClient
}

// isApart reports whether clients have processes of their own. The mutex is held.
func (p *pool) isApart() bool { return p.asks || p.server.Share == sharePerSession }

func (p *pool) isHome(own *process) bool { return own == p.home || own == p.next }

// runs reports whether a process is one of the pool.
func (p *pool) runs(own *process) bool { return p.isHome(own) || p.all[own] }

// each iterates over all processes. The mutex is held.
func (p *pool) each(yield func(*process) bool) {
	for _, own := range []*process{p.home, p.next} {
		if own != nil && !yield(own) {
			return
		}
	}
	for own := range p.all {
		if !yield(own) {
			return
		}
	}
}

// processOf returns the process of the client of a call, nil if it has none.
func (p *pool) processOf(call *toolpost.Call) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.bound[p.keyOf(call)]
	if own == nil && p.isAuto() && !p.isApart() {
		own = p.home
	}
	return own
}

// noteAsks records that the server has sent something that is for one client alone.
// Where several may be meant, their next calls go to processes of their own.
func (p *pool) noteAsks(own *process, refused bool) {
	p.mu.Lock()
	first := !p.asks
	p.asks = true
	if refused && p.server.Share != sharePerClient {
		own.spent = true
	}
	p.settle(own)
	p.mu.Unlock()
	if first {
		p.events.Notify(toolpost.Event{}) // so that it is stored
	}
}

// settle ends a process that is spent, and replaces it if it is home. The mutex is held.
func (p *pool) settle(own *process) {
	if p.closed || !p.runs(own) {
		return
	}
	if p.isApart() && len(own.sessions) == 0 && (own.visited && own.first.party == "" || own.several && p.isHome(own)) {
		own.spent = true
	}
	switch {
	case !own.spent:
	case own == p.home:
		p.replace()
	case own == p.next: // settle is called again when it is home
	case own.calls == 0:
		p.end(own)
	}
}

// replace starts the process that takes the place of home, once it is ready: until
// then, home lists. The mutex is held.
func (p *pool) replace() {
	if p.next != nil {
		return
	}
	opts := p.opts
	hidden.UpstreamOptionsOf(&opts).StartDelay = 0
	opts.Known, opts.Starting, opts.OnDemand = p.known(), 0, false // home has waited for the server
	next, err := p.newProcess(opts, nil)
	if err != nil {
		return // as its configuration was right before, this does not happen
	}
	p.next = next
	p.closing.Go(func() {
		_ = next.Ready(p.ctx) // its status has the error
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return
		}
		old := p.home
		p.home, p.next = next, nil
		p.all[old] = true
		watched := slices.Collect(maps.Keys(p.watched))
		p.settle(old)
		p.settle(next)
		p.mu.Unlock()
		p.events.Notify(toolpost.Event{})
		if subscribe := featuresOf(next).Subscribe; subscribe != nil {
			for _, uri := range watched {
				_ = subscribe(p.ctx, uri, true) // a resource may be gone
			}
		}
	})
}

func (p *pool) endIdle(own *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case own.calls > 0 || p.closed || !p.runs(own):
	case p.isBusy(own):
		own.idle.Reset(p.idle)
	case !p.isHome(own):
		p.end(own)
	case p.isApart() && own.used && len(own.sessions) == 0:
		own.spent = true
		p.settle(own)
	}
}

// endOldest ends a process without calls: one that is spent, else one of a client
// without sessions, else the one that was used least recently. One with open tasks is
// ended only if all others have some too. It reports whether there
// was one. The mutex is held.
func (p *pool) endOldest() bool {
	var oldest *process
	rank := func(own *process) int {
		switch {
		case p.isBusy(own):
			return 3
		case own.spent:
			return 0
		case len(own.sessions) == 0:
			return 1
		}
		return 2
	}
	for own := range p.all {
		if own.calls == 0 && (oldest == nil || cmp.Or(rank(own)-rank(oldest), own.last.Compare(oldest.last)) < 0) {
			oldest = own
		}
	}
	if oldest != nil {
		p.end(oldest)
	}
	return oldest != nil
}

// end ends a process. The mutex is held.
func (p *pool) end(own *process) {
	delete(p.all, own)
	maps.DeleteFunc(p.bound, func(_ clientKey, other *process) bool { return other == own })
	own.idle.Stop()
	for session := range own.sessions {
		p.leave(own, session)
	}
	p.closing.Go(func() {
		own.stop()
		_ = end(own.connection) // never fails
	})
	p.wake()
}

// SessionEnded ends the process of a session. Those of clients end when they are
// idle.
func (p *pool) SessionEnded(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for own := range p.each {
		p.leave(own, session)
	}
	key := clientKey{session: session}
	own := p.bound[key]
	if own == nil || p.closed {
		return
	}
	delete(p.bound, key)
	p.settle(own)
}

// RootsChanged implements what [Views.RootsChanged] looks for.
func (p *pool) RootsChanged(session string) {
	p.mu.Lock()
	all := slices.Collect(p.each)
	p.mu.Unlock()
	for _, own := range all { // each knows whether it is that of this session
		if up, ok := own.connection.(interface{ RootsChanged(session string) }); ok {
			up.RootsChanged(session)
		}
	}
}

// event takes what a process reports. That lists have changed counts of home, and of a
// process whose sessions get its lists.
func (p *pool) event(own *process, e toolpost.Event) {
	p.mu.Lock()
	take := p.take
	changed := own == p.home || own.listsShown || p.hasOwnLists(own)
	p.mu.Unlock()
	switch {
	case e != toolpost.Event{}:
		if take != nil {
			take(own, e)
		}
	case changed:
		p.events.Notify(e)
	}
}

// onEvent sets what takes the notifications of all processes, and their changes of
// resources; and what reports whether a process has work beside calls.
func (p *pool) onEvent(take func(*process, toolpost.Event), works func(*process) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take, p.works = take, works
}

// isBusy reports whether a process has work beside calls: an open task. The mutex is
// held.
func (p *pool) isBusy(own *process) bool { return p.works != nil && p.works(own) }

// Close ends all processes.
func (p *pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.cancel()
	for _, own := range slices.Collect(p.each) {
		p.end(own)
	}
	p.mu.Unlock()
	p.closing.Wait()
	return nil
}
