package mcpserver

import (
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// client returns the client that an HTTP request describes.
func (f *httpHandler) client(r *http.Request, view string) observe.Client {
	agent := r.Header.Get("User-Agent")
	return observe.Client{
		UserAgent: strings.Clone(agent[:min(len(agent), maxName)]), View: strings.Clone(view),
		Address: addressOf(r), Identity: f.core.opts.Identity(r),
	}
}

// A view is a Live with its encoded lists.
type view struct {
	live    *toolpost.Live // which holds this in turn, as a watcher
	profile string         // whose tools it has; see [Views]
	begin   sync.Once
	stop    func()

	encoding sync.Mutex // held while the Set is encoded, so that catalogs come in order
	catalog  atomic.Pointer[catalog]
}

// views are the lists that clients get: those of each Live, encoded once. A Live
// that is not used elsewhere any more is forgotten.
type views struct {
	base    *view                                        // what everyone is shown without choose
	choose  func(observe.Client) (*toolpost.Live, error) // may be nil
	profile func(*toolpost.Live) string                  // nil without choose
	log     *slog.Logger
	reports reports                     // of definitions
	event   func(toolpost.Event, *view) // is called with what is not about lists
	changed func(topic, *view)          // is called when a list differs

	features atomic.Pointer[features] // encoded last; many views have the same

	mu     sync.RWMutex
	all    map[weak.Pointer[toolpost.Live]]weak.Pointer[view]
	closed bool
}

// of returns the view of a client.
func (v *views) of(c observe.Client) (*view, *wire.Error) {
	if v.choose == nil {
		return v.base, nil
	}
	live, err := v.choose(c)
	switch {
	case err != nil:
		return nil, wire.Errorf(wire.CodeInvalidRequest, "%v", err)
	case live == nil:
		return nil, wire.Errorf(wire.CodeInternal, "the server is set up wrongly: its Options.Views give this client no toolset")
	}
	return v.show(live), nil
}

// viewOf returns the view of a client, nil if it has none or its lists could not be
// encoded.
func (v *views) viewOf(c observe.Client) *view {
	defer logPanic(v.log, "the view of a client is not known")
	if s, _ := v.of(c); s != nil && s.catalog.Load() != nil {
		return s
	}
	return nil
}

func (v *views) show(live *toolpost.Live) *view {
	key := weak.Make(live)
	v.mu.RLock()
	s := v.all[key].Value()
	v.mu.RUnlock()
	if s == nil {
		s = v.add(key, live)
	}
	if s.catalog.Load() == nil {
		s.begin.Do(func() { v.watch(s) }) // only those who are shown this Live wait
	}
	return s
}

func (v *views) add(key weak.Pointer[toolpost.Live], live *toolpost.Live) *view {
	profile := ""
	if v.profile != nil {
		profile = v.profile(live)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.all[key].Value()
	if s == nil {
		maps.DeleteFunc(v.all, func(_ weak.Pointer[toolpost.Live], s weak.Pointer[view]) bool { return s.Value() == nil })
		s = &view{live: live, profile: profile}
		v.all[key] = weak.Make(s)
	}
	return s
}

// watch encodes the lists of a Live, now and after its changes.
func (v *views) watch(s *view) {
	stop := s.live.Watch(func(e toolpost.Event) {
		if e == (toolpost.Event{}) {
			v.encode(s)
		} else {
			v.event(e, s)
		}
	})
	v.encode(s)
	v.mu.Lock()
	s.stop = stop
	closed := v.closed
	v.mu.Unlock()
	if closed {
		stop()
	}
}

// encode makes the catalog of the current Set.
func (v *views) encode(s *view) {
	defer logPanic(v.log, "tools are not listed again")
	s.encoding.Lock()
	defer s.encoding.Unlock()
	set, before := s.live.Set(), s.catalog.Load()
	f := v.features.Load()
	if before != nil && before.features.of == set.Features() {
		f = before.features
	}
	if f == nil || f.of != set.Features() {
		f = newFeatures(set.Features(), &v.reports)
		v.features.Store(f)
	}
	now := newCatalog(set, f, before, &v.reports)
	s.catalog.Store(now)
	if before == nil {
		return
	}
	for _, t := range listTopics() {
		if now.differs(before, t) {
			v.changed(t, s)
		}
	}
}

func (v *views) close() {
	var stops []func()
	v.mu.Lock()
	v.closed = true
	for _, p := range v.all {
		if s := p.Value(); s != nil && s.stop != nil {
			stops = append(stops, s.stop)
		}
	}
	v.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}
