// Package limit limits how many requests servers get: of one client, for one tool
// and for one server, at once and in a time.
package limit

import (
	"context"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

// longestWait is how long a request waits for its turn before it is refused.
const longestWait = 10 * time.Second

const (
	// maxIdle is how many clients, tools and servers are remembered before those
	// that are not limited now are forgotten.
	maxIdle = 1000

	// maxStates is how many are remembered at all. Further ones share one state of
	// their kind, so that a crowd neither fills the memory nor escapes its limit.
	maxStates = 10_000
)

// A Rule limits requests; zero members limit nothing.
type Rule struct {
	Requests   int           // in the time Per; those of one second may come at once
	Per        time.Duration // a second, minute or hour
	Concurrent int           // requests under way
}

// perSecond returns the rate, 0 for no limit.
func (r Rule) perSecond() float64 {
	if r.Per <= 0 || r.Requests <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Per.Seconds()
}

// Options say what is limited.
type Options struct {
	PerClient, PerTool, PerServer Rule
	Servers                       map[string]Rule // by name; replaces PerServer
}

// ofServer returns the rule of a server.
func (o *Options) ofServer(name string) Rule {
	if r, ok := o.Servers[name]; ok {
		return r
	}
	return o.PerServer
}

// Limits apply the options. They are safe for concurrent use.
type Limits struct {
	opts atomic.Pointer[Options]
	mu   sync.Mutex
	all  map[key]*state
	most int       // forget when so many are remembered
	full time.Time // when all were looked at last, and too many were in use
}

// A key is a client, a tool or a server.
type key struct{ kind, name string }

// rest is the name of the state that clients, tools or servers share when too many
// are remembered. No key has it, because names of keys do not begin with NUL.
const rest = "\x00rest"

// A state is what a key has used.
type state struct {
	rate  *rate.Limiter // nil for no limit
	slots chan struct{} // full when no more requests may run; nil for no limit
	users int           // requests under way and waiting
}

// New returns limits of which nothing is used.
func New(o Options) *Limits {
	l := &Limits{all: map[key]*state{}, most: maxIdle}
	l.Set(o)
	return l
}

// Set replaces the options for the requests that begin from now on. Requests that were
// counted for an earlier rate still count. Those under way do not, if their number has
// another limit now.
func (l *Limits) Set(o Options) { l.opts.Store(&o) }

// Admit is the Admit of package gateway: it runs before the user is asked about a
// request. It applies all rates, and the number of requests of a client under way, so
// that a client cannot flood the user with questions.
func (l *Limits) Admit(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		for _, limited := range l.limitsOf(ctx, to, call) {
			if limited.kind != kindClient {
				limited.Concurrent = 0 // Around applies it
			}
			leave, err := l.acquire(ctx, limited)
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		return next(ctx, call)
	}
}

// Around is what the option Limits of package gateway returns second. It applies the number of requests of a
// server and of a tool under way. Requests that wait for an answer of the user do not
// count: they would keep other clients from the server.
func (l *Limits) Around(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		for _, limited := range l.limitsOf(ctx, to, call) {
			if limited.kind == kindClient {
				continue
			}
			limited.Requests = 0 // Admit has applied it
			leave, err := l.acquire(ctx, limited)
			if err != nil {
				return nil, err
			}
			defer leave()
		}
		return next(ctx, call)
	}
}

// The kinds of keys, as a refused client reads them.
const (
	kindClient = "client"
	kindServer = "server"
	kindTool   = "tool"
)

// A limitOf is a rule and what it limits.
type limitOf struct {
	Rule
	key
}

// limitsOf returns the rules that limit a request.
func (l *Limits) limitsOf(ctx context.Context, to *observe.Target, call *toolpost.Call) (all []limitOf) {
	opts := l.opts.Load()
	if r := opts.PerClient; r != (Rule{}) {
		all = append(all, limitOf{r, key{kindClient, client(ctx, call)}})
	}
	if r := opts.ofServer(to.Server); r != (Rule{}) {
		all = append(all, limitOf{r, key{kindServer, to.Server}})
	}
	if r := opts.PerTool; r != (Rule{}) {
		all = append(all, limitOf{r, key{kindTool, to.Server + "\x00" + to.Method + "\x00" + to.Name}})
	}
	return all
}

// client identifies the client by what it cannot choose: the user that it was
// authenticated as, otherwise its session, whose id the gateway made, or its address
// if it has no session. Over stdio, and without an observed request, it is the session.
func client(ctx context.Context, call *toolpost.Call) string {
	r := observe.From(ctx)
	switch {
	case r == nil || r.Client.Address == "":
		return "session " + call.Session
	case r.Client.Identity != "":
		return "user " + r.Client.Identity
	case r.InSession:
		return "session " + r.Session
	}
	return "address " + network(r.Client.Address)
}

// network returns the address, or of one of IPv6 its network: a host chooses its
// addresses in a network of 64 bits.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is4() || ip.Is4In6() {
		return address
	}
	if p, err := ip.WithZone("").Prefix(64); err == nil {
		return p.String()
	}
	return address
}

// A turn is what one request uses of a state: a change of the rule gives later requests
// other slots.
type turn struct {
	rate  *rate.Limiter
	slots chan struct{}
}

// enter returns the state of a key for one more user of it, as the rule is now.
func (l *Limits) enter(k key, r Rule) (*state, turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[k]
	if s == nil && !l.makeRoom() {
		k.name = rest
		s = l.all[k]
	}
	if s == nil {
		s = &state{}
		l.all[k] = s
	}
	if n := r.perSecond(); n > 0 {
		burst := int(max(1, math.Ceil(n)))
		if s.rate == nil {
			s.rate = rate.NewLimiter(rate.Limit(n), burst)
		} else if s.rate.Limit() != rate.Limit(n) {
			s.rate.SetLimit(rate.Limit(n))
			s.rate.SetBurst(burst)
		}
	}
	if r.Concurrent > 0 && cap(s.slots) != r.Concurrent {
		s.slots = make(chan struct{}, r.Concurrent)
	}
	s.users++
	return s, turn{s.rate, s.slots}
}

func (l *Limits) leave(s *state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
}

// makeRoom reports whether one more key may be remembered. It forgets what is as if it
// had never been used, when twice as much is remembered as was in use the last time,
// so that it seldom has to look at all. The lock is held.
func (l *Limits) makeRoom() bool {
	if len(l.all) < l.most {
		return true
	}
	if l.most == maxStates && time.Since(l.full) < time.Second {
		return false
	}
	for k, s := range l.all {
		if s.users == 0 && (s.rate == nil || s.rate.Tokens() >= float64(s.rate.Burst())) {
			delete(l.all, k)
		}
	}
	l.most = min(max(maxIdle, 2*len(l.all)), maxStates)
	if len(l.all) < l.most {
		return true
	}
	l.full = time.Now()
	return false
}

// acquire waits for the turn of a request. Leave must be called when it has ended; it
// is nil if the request is refused.
func (l *Limits) acquire(ctx context.Context, limited limitOf) (leave func(), err error) {
	if limited.perSecond() == 0 && limited.Concurrent == 0 {
		return func() {}, nil
	}
	s, t := l.enter(limited.key, limited.Rule)
	if err := t.acquire(ctx, limited.Rule, limited.kind); err != nil {
		l.leave(s)
		if ctx.Err() == nil {
			observe.From(ctx).Note(observe.Limited)
		}
		return nil, err
	}
	return func() {
		if limited.Concurrent > 0 {
			t.giveSlot()
		}
		l.leave(s)
	}, nil
}

// acquire waits for the turn of a request, and takes a slot if the rule has any.
func (t turn) acquire(ctx context.Context, r Rule, kind string) error {
	if r.Concurrent > 0 {
		if err := t.takeSlot(ctx, r, kind); err != nil {
			return err
		}
	}
	if r.perSecond() == 0 {
		return nil
	}
	err := t.awaitTurn(ctx, r, kind)
	if err != nil && r.Concurrent > 0 {
		t.giveSlot()
	}
	return err
}

// awaitTurn waits until the rate allows a request.
func (t turn) awaitTurn(ctx context.Context, r Rule, kind string) error {
	reserved := t.rate.Reserve()
	wait := reserved.Delay()
	if wait > longestWait {
		reserved.Cancel()
		return toolpost.Failed.Errorf("this %s may have %d requests in %v, and too many wait already; the call was not carried out. Call again in %v.",
			kind, r.Requests, r.Per, (wait + time.Second - 1).Truncate(time.Second))
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		reserved.Cancel()
		return context.Cause(ctx)
	}
}

func (t turn) takeSlot(ctx context.Context, r Rule, kind string) error {
	select {
	case t.slots <- struct{}{}:
		return nil
	case <-time.After(longestWait):
		return toolpost.Failed.Errorf("this %s may have %d requests under way, and they took longer than %v; the call was not carried out. Call again when some of them are done.",
			kind, r.Concurrent, longestWait)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) giveSlot() { <-t.slots }
