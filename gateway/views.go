package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dialect"
)

// A Reader describes a client, as far as known. All of it is the client's own
// claim.
type Reader struct {
	Name, Version string // in clientInfo
	UserAgent     string // the HTTP header
	View          string // the dialect that the address names
}

// ViewOptions are the optional parts of [NewViews]. Name and Dialect take
// precedence over those of a configuration.
type ViewOptions struct {
	Logger  *slog.Logger
	Name    string // the server's name for clients; some count it in the length of tool names
	Dialect string // for all clients whose address names no dialect

	// Report is called after each listing of a view. Calls for one view do not
	// overlap.
	Report func(*dialect.Adapted)
}

// Views provide one toolset in the form for each client: one Live for each
// dialect, created when the first client needs it and shared by all clients
// with that dialect.
type Views struct {
	live    *toolpost.Live
	opts    ViewOptions
	choices atomic.Pointer[choices] // is set under mu
	wake    bell                    // the toolset changed
	end     func()

	mu     sync.RWMutex
	opened map[string]*adapted // by dialect
}

// An adapted toolset is the view of one dialect.
type adapted struct {
	live atomic.Pointer[toolpost.Live] // nil until it was listed

	listing sync.Mutex // held while it is
	basis   atomic.Pointer[basis]
}

// Tools returns what is to be adapted.
func (a *adapted) Tools(context.Context) ([]*toolpost.Tool, error) { return a.basis.Load().tools, nil }

// A basis is what a view is made of.
type basis struct {
	dialect *dialect.Dialect
	server  string
	tools   toolpost.Tools
	layer   toolpost.Toolset // the view; it remembers what it has adapted
}

func (b *basis) equal(other *basis) bool {
	return b.alike(other) && slices.Equal(b.tools, other.tools)
}

// alike reports whether both adapt tools in the same way.
func (b *basis) alike(other *basis) bool {
	return other != nil && b.dialect == other.dialect && b.server == other.server
}

// NewViews returns the views of live. If the configuration is nil, the dialects
// are the built-in ones and are chosen by client. The views follow live in the
// background.
func NewViews(live *toolpost.Live, cfg *config.Config, opts *ViewOptions) (*Views, error) {
	v := &Views{live: live, wake: newBell(), opened: map[string]*adapted{}}
	if opts != nil {
		v.opts = *opts
	}
	v.opts.Logger = cmp.Or(v.opts.Logger, slog.Default())
	if cfg == nil {
		cfg = &config.Config{}
	}
	if err := v.Configure(cfg); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { v.follow(ctx) })
	stop := live.Watch(func(*toolpost.Set) { v.wake.ring() })
	v.end = func() {
		stop()
		cancel()
		following.Wait()
	}
	return v, nil
}

// Configure applies the dialects of a configuration. New clients use them at
// once; existing views use them after the next [Views.Refresh] or change of the
// toolset. On error nothing changes.
func (v *Views) Configure(cfg *config.Config) error {
	c := newChoices(cfg, &v.opts)
	if c.always != "" {
		if err := config.CheckDialect(c.book, c.always); err != nil {
			return err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.choices.Store(c)
	maps.DeleteFunc(v.opened, func(id string, _ *adapted) bool { return config.CheckDialect(c.book, id) != nil })
	return nil
}

// View returns the view for a client. If the address names an unknown dialect,
// the error suggests similar ones.
func (v *Views) View(r Reader) (*toolpost.Live, error) {
	for {
		c := v.choices.Load()
		id, err := c.of(r, v.opts.Logger)
		if err != nil {
			return nil, err
		}
		if id == config.NoDialect {
			return v.live, nil
		}
		live, err := v.open(c, id)
		if live != nil || c == v.choices.Load() {
			return live, err
		}
	}
}

// open returns the view of a dialect that was chosen by c.
func (v *Views) open(c *choices, id string) (*toolpost.Live, error) {
	v.mu.RLock()
	a := v.opened[id]
	v.mu.RUnlock()
	if a == nil {
		if a = v.add(c, id); a == nil {
			return nil, nil
		}
	}
	if live := a.live.Load(); live != nil {
		return live, nil
	}
	err := v.update(id, a)
	return a.live.Load(), err
}

// add adds the view of a dialect, unless the choices are others by now: it may
// be of those that are gone.
func (v *Views) add(c *choices, id string) *adapted {
	v.mu.Lock()
	defer v.mu.Unlock()
	if c != v.choices.Load() {
		return nil
	}
	if v.opened[id] == nil {
		v.opened[id] = &adapted{}
	}
	return v.opened[id]
}

// update lists a view, unless what it is made of is the same as before.
func (v *Views) update(id string, a *adapted) error {
	a.listing.Lock()
	defer a.listing.Unlock()
	c := v.choices.Load()
	d, err := c.book.Find(id)
	if err != nil {
		return err
	}
	tools, err := v.live.Set().Tools(context.Background())
	if err != nil {
		return err
	}
	before, now := a.basis.Load(), &basis{dialect: d, server: c.server, tools: tools}
	switch {
	case now.equal(before):
		return nil
	case now.alike(before):
		now.layer = before.layer
	default:
		now.layer = d.Layer(a, &dialect.Options{Server: c.server, Report: v.opts.Report})
	}
	a.basis.Store(now)
	if err := v.list(id, a); err != nil {
		a.basis.Store(before)
		return err
	}
	return nil
}

// list lists a view. A defect that one tool brings to light must not end
// those who are served others.
func (v *Views) list(id string, a *adapted) (err error) {
	defer func() {
		if p := recover(); p != nil {
			v.opts.Logger.Error("panic", "dialect", id, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("adapt tools to %s: internal error; the log has the details", id)
		}
	}()
	if live := a.live.Load(); live != nil {
		return live.Refresh(context.Background())
	}
	live, err := toolpost.NewLive(context.Background(), toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		return a.basis.Load().layer.Tools(ctx)
	}))
	if err == nil {
		a.live.Store(live)
	}
	return err
}

// follow refreshes after changes, until ctx is done.
func (v *Views) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
			v.refresh(ctx)
		}
	}
}

// Refresh returns when the views contain all changes made before the call.
func (v *Views) Refresh() { v.refresh(context.Background()) }

func (v *Views) refresh(ctx context.Context) {
	v.mu.RLock()
	opened := maps.Clone(v.opened)
	v.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(opened)) {
		if ctx.Err() != nil {
			return
		}
		err := v.update(id, opened[id])
		if err != nil && config.CheckDialect(v.choices.Load().book, id) == nil { // else its dialect is gone, and that is told
			v.opts.Logger.Error("cannot refresh the tools", "dialect", id, "err", err)
		}
	}
}

// Close stops the views; the lists that clients already have remain as they
// are.
func (v *Views) Close() error {
	v.end()
	return nil
}
