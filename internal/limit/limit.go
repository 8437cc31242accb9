// Package limit limits how many requests servers get: of one client, for one tool
// and for one server, at once and in a time.
package limit

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
)

// longestWait is how long a request waits for its turn before it is refused.
const longestWait = 10 * time.Second

// mostIdle is how many clients, tools and servers without requests are remembered.
const mostIdle = 1000

// A Rule limits requests; zero members limit nothing.
type Rule struct {
	Requests   int           // in the time Per; those of one second may come at once
	Per        time.Duration // a second, minute or hour
	Concurrent int           // requests under way
}

// perSecond returns the rate, 0 for no limit.
func (r Rule) perSecond() float64 {
	if r.Per <= 0 {
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
	opts Options
	mu   sync.Mutex
	all  map[key]*state
}

// A key is a client, a tool or a server.
type key struct{ kind, name string }

// A state is what a key has used.
type state struct {
	rate  *rate.Limiter // nil for no limit
	slots chan struct{} // full when no more requests may run; nil for no limit
	users int           // requests under way and waiting
}

// New returns limits of which nothing is used.
func New(o Options) *Limits { return &Limits{opts: o, all: map[key]*state{}} }

// Around is an Around of package gateway.
func (l *Limits) Around(ctx context.Context, to *observe.Target, call *toolpost.Call, next toolpost.Handler) (*toolpost.Result, error) {
	for _, limited := range []struct {
		Rule
		key
	}{
		{l.opts.PerClient, key{"client", client(ctx, call)}},
		{l.opts.ofServer(to.Server), key{"server", to.Server}},
		{l.opts.PerTool, key{"tool", to.Server + "\x00" + to.Method + "\x00" + to.Name}},
	} {
		if limited.Rule == (Rule{}) {
			continue
		}
		s := l.enter(limited.key, limited.Rule)
		defer l.leave(s)
		if err := s.acquire(ctx, limited.Rule, limited.kind); err != nil {
			if ctx.Err() == nil {
				observe.From(ctx).Note(observe.Limited)
			}
			return nil, err
		}
		if s.slots != nil {
			defer func() { <-s.slots }()
		}
	}
	return next(ctx, call)
}

// client identifies the client in all of its sessions: the user, otherwise its host
// and name. Over stdio, and without an observed request, it is the session.
func client(ctx context.Context, call *toolpost.Call) string {
	if r := observe.From(ctx); r != nil && r.Client.Address != "" {
		return cmp.Or(r.Client.Identity, r.Client.Address+" "+r.Client.Name)
	}
	return call.Session
}

func (l *Limits) enter(k key, r Rule) *state {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.all[k]
	if s == nil {
		l.forgetIdle()
		s = &state{}
		if n := r.perSecond(); n > 0 {
			s.rate = rate.NewLimiter(rate.Limit(n), int(max(1, math.Ceil(n))))
		}
		if r.Concurrent > 0 {
			s.slots = make(chan struct{}, r.Concurrent)
		}
		l.all[k] = s
	}
	s.users++
	return s
}

func (l *Limits) leave(s *state) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
}

// forgetIdle forgets what is as if it had never been used. The lock is held.
func (l *Limits) forgetIdle() {
	if len(l.all) < mostIdle {
		return
	}
	for k, s := range l.all {
		if s.users == 0 && (s.rate == nil || s.rate.Tokens() >= float64(s.rate.Burst())) {
			delete(l.all, k)
		}
	}
}

// acquire waits for the turn of a request, and takes a slot if there are any.
func (s *state) acquire(ctx context.Context, r Rule, kind string) error {
	if s.slots != nil {
		if err := s.takeSlot(ctx, r, kind); err != nil {
			return err
		}
	}
	if s.rate == nil {
		return nil
	}
	turn := s.rate.Reserve()
	wait := turn.Delay()
	if wait > longestWait {
		turn.Cancel()
		s.giveSlot()
		return toolpost.Failed("this %s may have %d requests in %v, and too many wait already; the call was not carried out. Call again in %v.",
			kind, r.Requests, r.Per, (wait + time.Second - 1).Truncate(time.Second))
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		turn.Cancel()
		s.giveSlot()
		return context.Cause(ctx)
	}
}

func (s *state) takeSlot(ctx context.Context, r Rule, kind string) error {
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-time.After(longestWait):
		return toolpost.Failed("this %s may have %d requests under way, and they took longer than %v; the call was not carried out. Call again when some of them are done.",
			kind, r.Concurrent, longestWait)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *state) giveSlot() {
	if s.slots != nil {
		<-s.slots
	}
}
