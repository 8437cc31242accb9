package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// keyOf identifies the client of a call. With "per-client", a client that is not known
// is a session.
func (p *pool) keyOf(call *toolpost.Call) clientKey {
	if party := hidden.OwnerOf(call).Party; p.server.Share == sharePerClient && party != "" {
		return clientKey{party: party}
	}
	return clientOf(call)
}

// acquire returns the process of the call's client, until release. The context of a
// call has ended when its session has, so that no process is started that nothing ends.
func (p *pool) acquire(ctx context.Context, call *toolpost.Call) (*process, error) {
	key := p.keyOf(call)
	p.mu.Lock()
	defer p.mu.Unlock()
	var late <-chan time.Time
	for {
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case p.closed:
			return nil, errors.New("it was closed")
		}
		own, err := p.choose(ctx, key, call)
		if err != nil {
			return nil, err
		}
		if own != nil {
			p.begin(own, key)
			p.enter(own, call)
			return own, nil
		}
		if late == nil {
			late = time.After(callTime)
		}
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		timeout := false
		select {
		case <-freed:
		case <-ctx.Done():
		case <-late:
			timeout = true
		}
		p.mu.Lock()
		if timeout {
			return nil, p.tooMany(key)
		}
	}
}

// choose returns the process for a call, nil if it has to wait for one. The mutex is
// held.
func (p *pool) choose(ctx context.Context, key clientKey, call *toolpost.Call) (own *process, err error) {
	leases := isStateless(call) && p.isApart()
	if leases {
		own = p.findLease(ctx, key)
	} else if own = p.bound[key]; own != nil && own.spent {
		own = nil
	}
	if own != nil {
		return own, nil
	}
	if own = p.spare(call); own == nil {
		if own, err = p.add(key, call); own == nil {
			return nil, err
		}
	}
	if leases || isStateless(call) && p.isHome(own) { // such a client never ends
		return own, nil
	}
	own.visited = own.visited || !isStateless(call)
	p.bound[key] = own
	return own, nil
}

// tooMany returns why a call of a client has waited in vain for a process. The mutex is
// held.
func (p *pool) tooMany(key clientKey) error {
	if n := p.busyOf(key); n >= maxOfClient {
		return fmt.Errorf("%d calls of this client are under way there, each in a process of its own, which is the limit; call again when one has ended", n)
	}
	return fmt.Errorf("it runs %d processes for its clients, which is the limit, and all have calls under way; call again later", maxProcesses)
}

// busyOf is how many processes have calls of a client under way: one that lets the
// questions of a server wait must not take the processes of all others. The mutex is
// held.
func (p *pool) busyOf(key clientKey) (n int) {
	for own := range p.all {
		if own.calls > 0 && own.first == key {
			n++
		}
	}
	return n
}

// add starts a process for the client of a call. It returns nil if there is no room for
// one, or if the client has enough of them. The mutex is held.
func (p *pool) add(key clientKey, call *toolpost.Call) (*process, error) {
	if p.busyOf(key) >= maxOfClient || len(p.all) >= maxProcesses && !p.endOldest() {
		return nil, nil
	}
	opts := p.opts
	opts.Known, opts.Starting, opts.OnDemand = p.known(), 0, false // the call waits for it
	more := hidden.UpstreamOptionsOf(&opts)
	more.StartDelay, more.Eager = 0, true
	if home, ok := p.home.connection.(interface{ AsksForRoots() bool }); ok {
		more.AsksForRoots = home.AsksForRoots()
	}
	own, err := p.newProcess(opts, hidden.IntroductionOf(call.Caller))
	if err != nil {
		return nil, err
	}
	p.all[own] = true
	return own, nil
}

// findLease returns the process that a client without sessions uses: that of the task
// which the call is about, or the one that is free. The mutex is held.
func (p *pool) findLease(ctx context.Context, key clientKey) *process {
	if own, _ := ctx.Value(preferredKey{}).(*process); own != nil && p.runs(own) && own.first == key {
		return own
	}
	return p.findFree(key)
}

// findFree returns the process that a client without sessions used last, of those that
// no other client used and that have no call under way or canceled.
func (p *pool) findFree(key clientKey) (found *process) {
	for own := range p.each {
		if own.used && own.first == key && !own.several && !own.visited && !own.spent && own.calls == 0 && own.isSettled() && (found == nil || own.last.After(found.last)) {
			found = own
		}
	}
	return found
}

// spare returns home, or what takes its place, if a client that has no process may use
// it; otherwise nil. One that asked for log messages does not share a server that has some.
func (p *pool) spare(call *toolpost.Call) *process {
	if !p.isAuto() {
		return nil
	}
	own := p.home
	if own.spent {
		own = p.next
	}
	switch {
	case own == nil || own.spent:
		return nil
	case !own.used || !p.isApart() && (isStateless(call) || !call.CallerSetLogLevel() || !logs(own)):
		return own
	}
	return nil
}

// logs reports whether a server declares that it sends log messages.
func logs(own *process) bool {
	f := featuresOf(own)
	return wire.IsObject(wire.Get(f.ServerCapabilities, "logging"))
}

// begin counts a call of a client. The mutex is held.
func (p *pool) begin(own *process, key clientKey) {
	own.several = own.several || own.used && own.first != key
	if !own.used {
		own.first, own.used = key, true
	}
	if own.calls++; p.ends(own) {
		own.idle.Stop()
	}
}

// ends reports whether a process may end when it is idle. The mutex is held.
func (p *pool) ends(own *process) bool { return p.isApart() || !p.isHome(own) }

func (p *pool) release(own *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own.last = time.Now()
	if own.calls--; own.calls > 0 || p.closed || !p.ends(own) {
		return
	}
	wait := p.idle
	if p.isApart() && !own.visited && !own.isSettled() { // the server may go on with a call that was canceled
		wait = min(wait, drainTime)
	}
	own.idle.Reset(wait)
	p.settle(own)
	p.wake()
}

// wake wakes the calls that wait for a process. The mutex is held.
func (p *pool) wake() {
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}
