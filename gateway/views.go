package gateway

import (
	"cmp"
	"context"
	"errors"
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

// A Client describes a client, as far as known. All of it is the client's own
// claim.
type Client struct {
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
	// overlap. It must not call the methods of the Views.
	Report func(*dialect.Adapted)
}

// Views provide one toolset in the form for each client: one Live for each
// dialect, derived when the first client needs it and shared by all clients
// with that dialect.
type Views struct {
	live    *toolpost.Live
	opts    ViewOptions
	chooser atomic.Pointer[dialectChooser] // is set under mu

	mu     sync.RWMutex
	opened map[string]*adapted // by dialect
}

// NewViews returns the views of live, which follow it until Close. If the
// configuration is nil, the dialects are the built-in ones and are chosen by
// client.
func NewViews(live *toolpost.Live, cfg *config.Config, opts *ViewOptions) (*Views, error) {
	v := &Views{live: live, opened: map[string]*adapted{}}
	if opts != nil {
		v.opts = *opts
	}
	v.opts.Logger = cmp.Or(v.opts.Logger, slog.Default())
	if cfg == nil {
		cfg = &config.Config{}
	}
	return v, v.Configure(cfg)
}

// Configure applies the dialects of a configuration. New clients use them at
// once; existing views use them after the next [Views.Refresh] or change of the
// toolset. On error nothing changes.
func (v *Views) Configure(cfg *config.Config) error {
	c := newDialectChooser(cfg, &v.opts)
	if c.always != "" {
		if err := config.CheckDialect(c.book, c.always); err != nil {
			return err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.chooser.Store(c)
	for id, a := range v.opened {
		if config.CheckDialect(c.book, id) != nil {
			delete(v.opened, id)
			a.close()
		}
	}
	return nil
}

// View returns the view for a client. If the address names an unknown dialect,
// the error suggests similar ones.
func (v *Views) View(r Client) (*toolpost.Live, error) {
	for {
		c := v.chooser.Load()
		id, err := c.dialectOf(r, v.opts.Logger)
		if err != nil {
			return nil, err
		}
		if id == config.NoDialect {
			return v.live, nil
		}
		live, err := v.open(c, id)
		if live != nil || c == v.chooser.Load() {
			return live, err
		}
	}
}

// open returns the view of a dialect that c chose. It returns nil if c has been
// replaced, because the dialect may no longer exist.
func (v *Views) open(c *dialectChooser, id string) (*toolpost.Live, error) {
	v.mu.RLock()
	a := v.opened[id]
	v.mu.RUnlock()
	if a == nil {
		if a = v.add(c, id); a == nil {
			return nil, nil
		}
	}
	return a.open()
}

func (v *Views) add(c *dialectChooser, id string) *adapted {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case c != v.chooser.Load():
		return nil
	case v.opened[id] == nil:
		v.opened[id] = &adapted{Source: v.live, id: id, views: v}
	}
	return v.opened[id]
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

// An adapted toolset is the view of one dialect.
type adapted struct {
	toolpost.Source // what is adapted

	id    string
	views *Views
	live  atomic.Pointer[toolpost.Live] // nil until it was listed

	opening sync.Mutex
	closed  bool

	// The layer, and what it was made for. One listing runs at a time.
	dialect *dialect.Dialect
	server  string
	layer   toolpost.Toolset
}

func (a *adapted) open() (*toolpost.Live, error) {
	if live := a.live.Load(); live != nil {
		return live, nil
	}
	a.opening.Lock()
	defer a.opening.Unlock()
	if live := a.live.Load(); live != nil {
		return live, nil
	}
	if a.closed {
		return nil, errors.New("the gateway is closed")
	}
	live, err := toolpost.NewLive(context.Background(), a)
	if err != nil {
		return nil, err
	}
	a.live.Store(live)
	return live, nil
}

func (a *adapted) close() {
	a.opening.Lock()
	defer a.opening.Unlock()
	a.closed = true
	if live := a.live.Load(); live != nil {
		live.Close()
	}
}

// Tools adapts the tools, unless nothing has changed. A defect that one tool
// reveals must not end the clients of other views.
func (a *adapted) Tools(ctx context.Context) (tools []*toolpost.Tool, err error) {
	log := a.views.opts.Logger
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "dialect", a.id, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("adapt tools to %s: internal error; the log has the details", a.id)
		}
	}()
	c := a.views.chooser.Load()
	d, err := c.book.Find(a.id)
	if err != nil {
		return nil, err // the dialect is gone, and so is this view
	}
	if d != a.dialect || c.server != a.server {
		a.layer = d.Layer(a.Source, &dialect.Options{Server: c.server, Report: a.views.opts.Report})
		a.dialect, a.server = d, c.server
	}
	if tools, err = a.layer.Tools(ctx); err != nil {
		log.Error("cannot refresh the tools", "dialect", a.id, "err", err)
	}
	return tools, err
}
