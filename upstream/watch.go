package upstream

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

// A watch holds the resources that are subscribed to. It outlives sessions.
type watch struct {
	mu      sync.Mutex
	uris    map[string]bool // whether the server has agreed to send their updates
	agreed  chan struct{}   // closed when it agrees, and replaced
	changed chan struct{}   // holds one value when uris changed
	event   func(toolpost.Event)
}

func (w *watch) set(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on {
		w.uris[uri] = false
	} else {
		delete(w.uris, uri)
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watch) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.uris))
}

// subscriber returns what begins or ends updates of one resource.
func subscriber(u *Upstream) func(context.Context, string, bool) error {
	return func(ctx context.Context, uri string, on bool) error {
		var t tries
		for asked := 1; ; asked++ {
			s, err := u.await(ctx)
			if err != nil {
				return err
			}
			err = u.watch.ask(ctx, s, uri, on)
			switch {
			case err != nil && (ctx.Err() != nil || !t.again(s, err, true)):
				return u.dial.problem(err)
			case err == nil && (!on || s.ctx.Err() == nil || asked == maxSubscribe):
				return nil
			}
		}
	}
}

// maxSubscribe bounds how often a subscription is made because its session ended. The
// next session may have subscribed already to what was subscribed to until then.
const maxSubscribe = 3

// ask begins or ends updates of a resource over one session.
func (w *watch) ask(ctx context.Context, s *session, uri string, on bool) error {
	if !s.modern() {
		method := "resources/subscribe"
		if !on {
			method = "resources/unsubscribe"
		}
		if _, err := s.ask(ctx, method, uriParams(uri)); err != nil {
			return err
		}
	}
	w.set(uri, on)
	if on && s.modern() {
		w.await(ctx, s, uri)
	}
	return nil
}

// acknowledged records which updates a modern server has agreed to send.
func (w *watch) acknowledged(m *wire.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uri := range wire.Elements(wire.Get(wire.Get(m.Params, "notifications"), "resourceSubscriptions")) {
		if _, wanted := w.uris[wire.Unquote(uri)]; wanted {
			w.uris[wire.Unquote(uri)] = true
		}
	}
	close(w.agreed)
	w.agreed = make(chan struct{})
}

// agreement returns a channel that is closed when the server agrees next.
func (w *watch) agreement() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.agreed
}

// await waits until the server sends the updates of a resource. A client that
// has subscribed misses none.
func (w *watch) await(ctx context.Context, s *session, uri string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second) // the server need not say so
	defer cancel()
	for waits := true; waits; {
		w.mu.Lock()
		done, agreed := w.uris[uri], w.agreed
		w.mu.Unlock()
		waits = !done && s.waitFor(ctx, agreed)
	}
}

func uriParams(uri string) json.RawMessage {
	return wire.Append(nil, `"uri":`+string(wire.Quote(uri)))
}

// begin keeps the subscriptions of one session until end. It returns when the
// server sends changes, so that what is listed next misses none.
func (w *watch) begin(ctx context.Context, s *session) (end func()) {
	w.mu.Lock()
	for uri := range w.uris {
		w.uris[uri] = false // this server has yet to agree
	}
	agreed := w.agreed
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, s)
	}()
	if s.modern() && w.wantedNotifications(s) != nil {
		soon, cancel := context.WithTimeout(ctx, time.Second) // it need not say so
		defer cancel()
		s.waitFor(soon, agreed)
		select {
		case <-s.relist: // all lists are read next
		default:
		}
	}
	return func() {
		cancel()
		<-done
	}
}

func (w *watch) run(ctx context.Context, s *session) {
	if s.modern() {
		w.listen(ctx, s)
		return
	}
	for _, uri := range w.list() {
		_, _ = s.ask(ctx, "resources/subscribe", uriParams(uri)) // a resource may be gone
		w.event(toolpost.Event{Resource: uri})                   // or have changed while there was no session
	}
}

// listen keeps one stream of notifications open (MCP 2026-07-28,
// subscriptions/listen).
func (w *watch) listen(ctx context.Context, s *session) {
	const least = time.Second / 4
	ctx, cancel := s.bind(ctx)
	defer cancel()
	delay := least
	missed := len(w.list()) > 0 // while there was no session
	offered := false            // the server gave the stream once
	for ctx.Err() == nil {
		select {
		case <-w.changed: // what is read next is the current set
		default:
		}
		wanted := w.wantedNotifications(s)
		if wanted == nil {
			s.waitFor(ctx, w.changed)
			continue
		}
		began, agreed := time.Now(), w.agreement()
		changed, err := w.stream(ctx, s, wanted, &missed)
		offered = offered || wasOffered(agreed, err, time.Since(began))
		switch {
		case changed || ctx.Err() != nil:
		case isA[*toolpost.ProtocolError](err): // the server refuses this set
			s.waitFor(ctx, w.changed)
		case err != nil && s.failsBy(err):
		default:
			if time.Since(began) > longestBackoff {
				delay = least
			}
			most := maxPause(err, offered)
			s.sleep(ctx, min(delay, most))
			delay = min(2*delay, most)
		}
	}
}

// wasOffered reports whether a server gave a stream: it agreed, or what it answered
// lasted.
func wasOffered(agreed <-chan struct{}, err error, took time.Duration) bool {
	select {
	case <-agreed:
		return true
	default:
		return isA[*cutError](err) && !wasRefused(err) && took >= lasting
	}
}

// stream reads one stream to its end, or until the set changes under it. Missed
// reports whether there may be changes that no stream brought.
func (w *watch) stream(ctx context.Context, s *session, wanted json.RawMessage, missed *bool) (changed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var agreed <-chan struct{}
	var late <-chan time.Time
	if *missed {
		agreed = w.agreement()
		late = time.After(time.Second) // the server need not say so
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err = s.ask(ctx, "subscriptions/listen", wire.Append(nil, `"notifications":`+string(wanted)))
	}()
	for {
		select {
		case <-agreed:
		case <-late:
		case <-w.changed:
			cancel()
			<-done
			return true, nil
		case <-done:
			*missed = true
			return false, err
		}
		agreed, late, *missed = nil, nil, false
		s.markAllChanged()
	}
}

// wantedNotifications returns the notifications to ask for; nil for none.
func (w *watch) wantedNotifications(s *session) json.RawMessage {
	var members []string
	for _, list := range []string{"tools", "prompts", "resources"} {
		if s.canDo(list, "listChanged") {
			members = append(members, `"`+list+`ListChanged":true`)
		}
	}
	if uris := w.list(); len(uris) > 0 {
		raw, _ := json.Marshal(uris)
		members = append(members, `"resourceSubscriptions":`+string(raw))
	}
	if members == nil {
		return nil
	}
	return wire.Append(nil, members...)
}
