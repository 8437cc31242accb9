package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/observe"
)

// Views provide one toolset in the form for each client: one Live for each
// profile in each dialect, derived when the first client needs it and shared by
// all clients that get the same. They are the Views of package mcpserver. All methods may
// be called concurrently.
type Views struct {
	live    *toolpost.Live
	opts    Options
	gateway *Gateway                    // whose live is; nil if there is none
	changes toolpost.Base               // of what View returns
	servers *lists                      // behind live; nil if there are none
	noted   func()                      // is called when the findings of a view differ
	chooser atomic.Pointer[viewChooser] // is set under mu

	ofSessions atomic.Pointer[sessionTable] // is set under moving
	moving     sync.RWMutex                 // held for reading while an event goes to one session

	mu     sync.RWMutex
	opened map[viewKey]*view
}

// NewViews returns the views of live, which follow it until Close. If the
// configuration is nil, the dialects are the built-in ones and are chosen by
// client. Of the options, Logger, Name, Profile, Dialect and Adapted are used.
func NewViews(live *toolpost.Live, cfg *config.Config, opts *Options) (*Views, error) {
	v := &Views{live: live, opened: map[viewKey]*view{}, noted: func() {}}
	if opts != nil {
		v.opts = *opts
	}
	v.opts.Logger = cmp.Or(v.opts.Logger, slog.Default())
	if cfg == nil {
		cfg = &config.Config{}
	}
	return v, v.Configure(cfg)
}

// Configure applies the profiles and dialects of a configuration. New clients use
// them at once; existing views use them after the next [Views.Refresh] or change
// of the toolset. On error nothing changes.
func (v *Views) Configure(cfg *config.Config) error {
	c, err := newViewChooser(cfg, &v.opts, v.chooser.Load())
	if err != nil {
		return err
	}
	v.use(c)
	v.changes.Notify(toolpost.Event{})
	return nil
}

// Watch has changed called when [Views.View] may return another view for a client than
// before, until stop is called.
func (v *Views) Watch(changed func()) (stop func()) {
	return v.changes.Watch(func(toolpost.Event) { changed() })
}

// use replaces the chooser, and ends the views that it does not have.
func (v *Views) use(c *viewChooser) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.chooser.Store(c)
	for key, a := range v.opened {
		if !c.exists(key) {
			delete(v.opened, key)
			a.close()
		}
	}
}

// View returns the view for a client. If the address names an unknown profile or
// dialect, the error suggests similar ones.
func (v *Views) View(r observe.Client) (*toolpost.Live, error) {
	for {
		c := v.chooser.Load()
		key, err := c.viewOf(r, v.opts.Logger)
		if err != nil {
			return nil, err
		}
		s := v.session(r.Session)
		if key == (viewKey{dialect: noDialect}) {
			return v.source(s), nil
		}
		key.lists = s
		live, err := v.open(c, key)
		if live != nil || err != nil && c == v.chooser.Load() && s == v.session(r.Session) {
			return live, err
		}
	}
}

// Profile returns the name of the profile that a view is of, which View has returned; ""
// if it is of all that is served.
func (v *Views) Profile(view *toolpost.Live) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for key, a := range v.opened {
		if a.live.Load() == view {
			return key.profile
		}
	}
	return ""
}

// sessions returns the sessions that have lists of their own.
func (v *Views) sessions() *sessionTable {
	if t := v.ofSessions.Load(); t != nil {
		return t
	}
	return &sessionTable{}
}

// session returns the lists of a session, nil if it has none of its own.
func (v *Views) session(name string) *sessionLists { return v.sessions().of[name] }

// source returns what views are made of: the lists of a session, or of all clients.
func (v *Views) source(s *sessionLists) *toolpost.Live {
	if s != nil {
		return s.live
	}
	return v.live
}

// setSessions sets the sessions that have lists of their own, and ends the views of lists
// that no session has any more.
func (v *Views) setSessions(t *sessionTable) {
	v.moving.Lock()
	v.ofSessions.Store(t) // before mu is held, for which a watcher of events may wait
	v.moving.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	for key, a := range v.opened {
		if key.lists != nil && !t.all[key.lists] {
			delete(v.opened, key)
			a.close()
		}
	}
}

// open returns the view that c chose. It returns nil if c or the lists have been
// replaced, because the view may no longer exist, or if the view has just ended.
func (v *Views) open(c *viewChooser, key viewKey) (*toolpost.Live, error) {
	v.mu.RLock()
	a := v.opened[key]
	v.mu.RUnlock()
	if a == nil {
		if a = v.add(c, key); a == nil {
			return nil, nil
		}
	}
	live, err := a.open()
	if errors.Is(err, errClosed) {
		v.mu.RLock()
		defer v.mu.RUnlock()
		if v.opened[key] != a { // another took its place
			return nil, nil
		}
	}
	return live, err
}

// maxViews is how many views of the same lists are kept: clients choose them by their
// addresses.
const maxViews = 256

func (v *Views) add(c *viewChooser, key viewKey) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c != v.chooser.Load() || key.lists != nil && !v.sessions().all[key.lists] {
		return nil
	}
	if v.opened[key] == nil {
		v.makeRoom(key.lists)
		a := &view{Toolset: v.source(key.lists), servers: v.servers, key: key, views: v}
		if key.lists != nil {
			a.servers = &key.lists.lists
		}
		v.opened[key] = a
	}
	return v.opened[key]
}

// makeRoom ends views of lists, any of them, if they are too many: the next request of its
// clients makes one again. The mutex is held.
func (v *Views) makeRoom(of *sessionLists) {
	n := 0
	for key := range v.opened {
		if key.lists == of {
			n++
		}
	}
	for key, a := range v.opened {
		if n < maxViews {
			return
		}
		if key.lists == of {
			delete(v.opened, key)
			a.close()
			n--
		}
	}
}

// Refresh returns when the views contain all changes made before the call.
func (v *Views) Refresh() {
	v.mu.RLock()
	opened := slices.Collect(maps.Values(v.opened))
	v.mu.RUnlock()
	for _, a := range opened {
		a.opening.Lock() // one that is being opened may have listed before the change
		live := a.live.Load()
		a.opening.Unlock()
		if live != nil {
			_ = live.Refresh(context.Background()) // it is logged
		}
	}
}

// findings returns what of profiles cannot be applied, as far as clients have
// asked for them.
func (v *Views) findings() (all []toolpost.Finding) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, a := range v.opened {
		a.noting.Lock()
		all = append(all, a.findings...)
		a.noting.Unlock()
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Tool, b.Tool)) < 0
	})
	return slices.Compact(all)
}

// Close stops the views; the lists that clients already have remain as they
// are.
func (v *Views) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range v.opened {
		a.close()
	}
	return nil
}
