package upstream

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// A watch holds the resources that are subscribed to. It outlives sessions.
type watch struct {
	mu      sync.Mutex
	uris    map[string]bool
	changed chan struct{} // holds one value when uris changed
}

func newWatch() *watch { return &watch{uris: map[string]bool{}, changed: make(chan struct{}, 1)} }

func (w *watch) set(uri string, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on {
		w.uris[uri] = true
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
		s, err := u.await(ctx)
		if err != nil {
			return err
		}
		if !s.modern() {
			method := "resources/subscribe"
			if !on {
				method = "resources/unsubscribe"
			}
			if _, err := s.ask(ctx, method, object{{"uri", quote(uri)}}); err != nil {
				return u.dial.problem(err)
			}
		}
		u.watch.set(uri, on)
		return nil
	}
}

// run keeps the subscriptions of one session until ctx is done or it ends.
func (w *watch) run(ctx context.Context, s *session) {
	if s.modern() {
		w.listen(ctx, s)
		return
	}
	for _, uri := range w.list() {
		_, _ = s.ask(ctx, "resources/subscribe", object{{"uri", quote(uri)}}) // a resource may be gone
	}
}

// listen keeps one stream of notifications open (MCP 2026-07-28,
// subscriptions/listen). After a gap everything is listed again.
func (w *watch) listen(ctx context.Context, s *session) {
	delay := time.Second / 4
	for first := true; ctx.Err() == nil && !s.over(); first = false {
		select {
		case <-w.changed: // what comes next is the current set
		default:
		}
		if !first {
			s.changed()
		}
		wanted := w.wanted(s)
		if wanted == nil {
			select {
			case <-w.changed:
				continue
			case <-s.ended:
			case <-ctx.Done():
			}
			return
		}
		began := time.Now()
		if w.stream(ctx, s, wanted) {
			continue
		}
		if time.Since(began) > longestBackoff {
			delay = time.Second / 4
		}
		s.sleep(ctx, delay)
		delay = min(2*delay, longestBackoff)
	}
}

// stream reads one stream; true means that the set changed under it.
func (w *watch) stream(ctx context.Context, s *session, wanted object) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.ask(ctx, "subscriptions/listen", object{{"notifications", wanted.encode()}})
	}()
	select {
	case <-w.changed:
		cancel()
		<-done
		return true
	case <-done:
		return false
	}
}

// wanted is the notifications to ask for; nil for none.
func (w *watch) wanted(s *session) object {
	var o object
	can := s.capabilities()
	yes := json.RawMessage("true")
	if can.Tools != nil && can.Tools.ListChanged {
		o = o.set("toolsListChanged", yes)
	}
	if can.Prompts != nil && can.Prompts.ListChanged {
		o = o.set("promptsListChanged", yes)
	}
	if can.Resources != nil && can.Resources.ListChanged {
		o = o.set("resourcesListChanged", yes)
	}
	if uris := w.list(); len(uris) > 0 {
		raw, _ := json.Marshal(uris)
		o = o.set("resourceSubscriptions", raw)
	}
	return o
}
