package upstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/toolpost/toolpost"

	"github.com/toolpost/toolpost/internal/httpconn"
)

const (
	longestBackoff = 30 * time.Second
	stableAfter    = 5 * time.Second        // a session this old makes the next loss a fresh start
	installNotice  = 5 * time.Second        // to wait for a package runner before it is said to install
	relistLeast    = 250 * time.Millisecond // between listings
	relistMax      = time.Second            // of a server that sends changes all the time
)

var errClosed = errors.New("it was closed")

// run keeps the server connected until Close.
func (u *Upstream) run() {
	defer close(u.done)
	delay, logged := u.opts.Backoff, ""
	u.awaitStart()
	began := time.Now()
	for u.ctx.Err() == nil {
		up, err := u.connectOnce()
		if u.ctx.Err() != nil {
			break
		}
		soon := time.Since(began) < u.opts.Starting && isNotThereYet(err)
		if up > stableAfter || soon {
			delay = u.opts.Backoff
		}
		if up > 0 {
			logged = ""
		}
		if errors.Is(err, errSessionLost) && up > u.opts.Backoff {
			continue // the server restarted and is there: no reason to wait
		}
		wait, least := u.pauseAfter(err, up > 0, delay)
		starts := soon && u.opts.Known == nil && time.Since(began)+wait < u.opts.Starting
		u.noteAway(err, wait, starts, err.Error() == logged)
		logged = err.Error()
		pause(u.ctx, u.nudge, wait, least)
		delay = min(2*delay, longestBackoff)
	}
	u.publish(func(v *view) {
		v.tried, v.session = true, nil
		v.status.State, v.status.Err, v.status.Retry = Closed, u.dial.problem(errClosed), time.Time{}
	})
}

// awaitStart waits until the first connection is due.
func (u *Upstream) awaitStart() {
	if !u.opts.OnDemand {
		pause(u.ctx, u.nudge, u.opts.ofGateway.StartDelay, 0)
		return
	}
	select {
	case <-u.nudge:
	case <-u.ctx.Done():
	}
}

// pauseAfter returns how long to wait until the server is tried again, and for how long
// no call ends that pause.
func (u *Upstream) pauseAfter(err error, worked bool, delay time.Duration) (wait, least time.Duration) {
	wait, least = delay/2+rand.N(delay), u.opts.Backoff
	if worked && delay == u.opts.Backoff {
		wait = 0 // the first loss of a server that worked: it may be there again
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		wait, least = max(wait, status.retryAfter), max(least, min(status.retryAfter, longestBackoff))
	}
	return wait, least
}

// noteAway shows why the server is not there, and when it is tried again. One that starts
// has not been tried yet.
func (u *Upstream) noteAway(err error, wait time.Duration, starts, known bool) {
	level := slog.LevelWarn
	if known {
		level = slog.LevelDebug
	}
	u.log.Log(u.ctx, level, "server unavailable", "err", err, "retry", wait.Round(time.Millisecond))
	u.publish(func(v *view) {
		v.tried = v.tried || !starts
		v.status.State, v.status.Err, v.status.Retry = failedState(err), err, time.Now().Add(wait)
	})
}

// isNotThereYet reports whether a server at an address may be one that is still to be
// started: nothing answers there, or only the proxy before it. One that closes the
// connection is there, and speaks another protocol.
func isNotThereYet(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status == http.StatusBadGateway || status.status == http.StatusServiceUnavailable || status.status == http.StatusGatewayTimeout
	}
	return errors.Is(err, httpconn.ErrRefused) || errors.Is(err, hostUnreachable) || isA[*net.DNSError](err)
}

func failedState(err error) State {
	if isA[*LoginError](err) {
		return NeedsLogin
	}
	return Failed
}

// pause waits. A call that wants the server ends the pause early, but not before
// least has passed.
func pause(ctx context.Context, nudge <-chan struct{}, wait, least time.Duration) {
	select {
	case <-time.After(min(wait, least)):
	case <-ctx.Done():
		return
	}
	select {
	case <-nudge:
	case <-time.After(wait - least):
	case <-ctx.Done():
	}
}

// connectOnce connects, lists and serves until the session ends. It returns
// how long the session was ready, and why it ended.
func (u *Upstream) connectOnce() (up time.Duration, err error) {
	select {
	case <-u.nudge:
	default:
	}
	defer recoverPanic(u.log, "serve", func(failure error) { up, err = 0, u.dial.problem(failure) })
	began := time.Now()
	u.publish(func(v *view) {
		v.attempts++
		v.status.State, v.status.Retry, v.status.Output = Connecting, time.Time{}, ""
	})
	installs := u.noteInstall()
	s, err := u.dial.connect(u.ctx)
	installs()
	if err != nil {
		return 0, err
	}
	defer s.close()
	if v, _ := u.view(); u.opts.ofGateway.Eager && u.opts.Known != nil && v.status.Connects == 0 { // calls of what is known need not wait for the lists
		u.publish(func(v *view) { v.session = s })
		defer u.publish(func(v *view) { v.session = nil })
	}
	defer u.watch.begin(u.ctx, s)()
	l, complete, err := u.list(s, slowList)
	if err != nil {
		return 0, u.dial.problem(fmt.Errorf("list its tools: %w", err))
	}
	s.noteWorked("ping") // if it has no lists
	ready := time.Now()
	u.publish(func(v *view) {
		v.tried, v.session = true, s
		v.status = Status{
			Name: u.cfg.Name, State: Ready, Transport: s.transport, Version: s.version, Server: s.server,
			Took: ready.Sub(began), Connects: v.status.Connects + 1,
		}
		v.adopt(l)
	})
	u.log.Info("server is ready", "transport", s.transport, "version", s.version, "tools", len(l.tools), "took", ready.Sub(began).Round(time.Millisecond))
	if !complete {
		s.markChanged() // its other lists are slow: they must not keep its tools away
	}
	err = u.serve(s)
	u.publish(func(v *view) { v.session = nil })
	return time.Since(ready), u.dial.problem(err)
}

// noteInstall shows that a package runner takes long, until stop. Then it
// probably installs its packages.
func (u *Upstream) noteInstall() (stop func()) {
	if !u.cfg.installs() {
		return func() {}
	}
	t := time.AfterFunc(installNotice, func() {
		u.publish(func(v *view) {
			if v.status.State == Connecting {
				v.status.State = Installing
			}
		})
	})
	return func() { t.Stop() }
}

// noteSlowInstall reports a first start that takes longer than its limit, and
// goes on. No call waits for it any more.
func (u *Upstream) noteSlowInstall(err error) {
	u.log.Warn("server is still installing", "err", err)
	u.publish(func(v *view) {
		if v.status.State == Connecting || v.status.State == Installing {
			v.tried, v.status.State, v.status.Err = true, Installing, err
		}
	})
}

// noteStray records a line of a server that has not answered yet.
func (u *Upstream) noteStray(line string) {
	line = u.dial.secrets.Replace(line)
	u.publish(func(v *view) {
		if v.status.State == Connecting || v.status.State == Installing {
			v.status.Output = line
		}
	})
}

// adopt takes a new listing; the tools of an equal one stay the same.
func (v *view) adopt(l *listing) {
	if v.listing.sum != l.sum {
		l.reuse(v.listing)
		v.listing = l
	}
	v.status.Tools, v.status.Skipped = len(l.tools), l.skipped
}

// serve lists again when the server says so, until the session ends.
func (u *Upstream) serve(s *session) error {
	for pause := relistLeast; ; {
		var waited chan struct{}
		select {
		case <-u.ctx.Done():
			return errClosed
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-s.relist:
		case waited = <-s.refresh:
		}
		relist(u, s, waited != nil)
		if waited != nil {
			close(waited)
			continue
		}
		s.sleep(u.ctx, pause) // more changes in this time are one
		if pause = min(2*pause, relistMax); len(s.relist) == 0 {
			pause = relistLeast
		}
	}
}

// relist reads the lists again. Where only a client wanted to know, a server that does not
// answer is left alone: it may be busy with a call.
func relist(u *Upstream, s *session, refresh bool) {
	l, _, err := u.list(s, slowestList)
	switch {
	case u.ctx.Err() != nil:
		return
	case err != nil && refresh:
		u.log.Debug("cannot read the lists of the server again", "err", u.dial.problem(err))
		return
	case err != nil:
		u.log.Warn("cannot read the changed lists of the server", "err", u.dial.problem(err))
		if !s.failsBy(err) && isA[*cutError](err) { // the next session lists again
			s.fail(err)
		}
		return
	}
	if v, _ := u.view(); v.listing.sum != l.sum {
		u.noteChanges(v.listing, l)
		u.publish(func(v *view) { v.adopt(l) })
	}
}

// Retry has a server that is away tried again soon.
func (u *Upstream) Retry() {
	select {
	case u.nudge <- struct{}{}:
	default:
	}
}

// await returns the session, or waits for a new one: a little if the server is
// away, longer if it has just been started. If the server needs a login, await
// returns when the first attempt that began meanwhile has failed.
func (u *Upstream) await(ctx context.Context) (*session, error) {
	var patience <-chan time.Time // made when the call has to wait, and again when the first attempt has failed
	tried := false
	before, _ := u.view()
	for {
		v, changed := u.view()
		switch {
		case v.session != nil && v.session.ctx.Err() == nil:
			return v.session, nil
		case v.status.State == Closed:
			return nil, v.status.Err
		case v.status.State == NeedsLogin && v.attempts > before.attempts:
			return nil, v.status.Err
		case v.status.State == Failed || v.status.State == NeedsLogin || !v.tried:
			u.Retry()
		}
		if patience == nil || v.tried != tried {
			patience, tried = time.After(u.patience(&v)), v.tried
		}
		select {
		case <-changed:
		case <-patience:
			return nil, cmp.Or(v.status.Err, fmt.Errorf("server %q is not connected yet", v.status.Name))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// firstPatience is how many times [Options].Patience a call waits for a server
// that is connecting for the first time: there is no sign yet that it fails.
const firstPatience = 6

func (u *Upstream) patience(v *view) time.Duration {
	if v.tried {
		return u.opts.Patience
	}
	return firstPatience * u.opts.Patience
}

// noteChanges logs which definitions a server changed while it was connected.
// Whether clients get the new ones is decided above: the gateway withholds tools
// that are pinned.
func (u *Upstream) noteChanges(before, after *listing) {
	old := map[string]*toolpost.Tool{}
	for _, t := range before.tools {
		old[t.Name] = t
	}
	for _, t := range after.tools {
		if b := old[t.Name]; b != nil && !bytes.Equal(b.Raw, t.Raw) {
			u.log.Info("the server changed the definition of a tool", "tool", t.Name)
		}
	}
}
