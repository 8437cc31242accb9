package gateway

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
)

// NoDialect stands for the tools as they are, in the place of a dialect's id.
const NoDialect = "none"

// A Reader is what is known of a client, all of it as the client claims.
type Reader struct {
	Name, Version string // in clientInfo
	UserAgent     string // the HTTP header
	View          string // the dialect that the address asks for
}

// ViewOptions are the optional parts of [NewViews].
type ViewOptions struct {
	Logger *slog.Logger

	// Dialect is that of all clients whose address asks for no other. It
	// comes before what a configuration says.
	Dialect string

	// Report is called after each listing of a view, by one at a time for
	// each view.
	Report func(*dialect.Adapted)
}

// Views are one toolset as different clients get it: a Live for each dialect,
// made when the first client needs it and shared by all that do.
type Views struct {
	live    *toolpost.Live
	opts    ViewOptions
	stop    func()
	choices atomic.Pointer[choices]

	mu     sync.RWMutex
	opened map[string]func() (*toolpost.Live, error) // by dialect
}

// NewViews returns the views of live; a nil configuration has the built-in
// dialects, chosen by client.
func NewViews(live *toolpost.Live, cfg *Config, opts *ViewOptions) (*Views, error) {
	v := &Views{live: live, opened: map[string]func() (*toolpost.Live, error){}}
	if opts != nil {
		v.opts = *opts
	}
	v.opts.Logger = cmp.Or(v.opts.Logger, slog.Default())
	if cfg == nil {
		cfg = &Config{}
	}
	if err := v.Configure(cfg); err != nil {
		return nil, err
	}
	v.stop = live.Watch(func(*toolpost.Set) { v.refresh() })
	return v, nil
}

// Configure applies the dialects of a configuration. The views that there are
// follow with the next change of their toolset. On error nothing changes.
func (v *Views) Configure(cfg *Config) error {
	book := cfg.Dialects
	if book == nil {
		var err error
		if book, err = dialect.NewBook(nil); err != nil {
			return err
		}
	}
	c := &choices{book: book, always: cmp.Or(v.opts.Dialect, cfg.Dialect), known: map[Reader]string{}}
	if c.always != "" {
		if err := c.check(c.always); err != nil {
			return err
		}
	}
	v.choices.Store(c)
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.opened, func(id string, _ func() (*toolpost.Live, error)) bool { return c.check(id) != nil })
	return nil
}

// View returns what a client gets. It is an error if the address asks for a
// dialect that there is not; the text names those that there are.
func (v *Views) View(r Reader) (*toolpost.Live, error) {
	c := v.choices.Load()
	if r.View != "" {
		if err := c.check(r.View); err != nil {
			return nil, err
		}
	}
	id := cmp.Or(r.View, c.always)
	if id == "" {
		id = c.choose(r, v.opts.Logger)
	}
	if id == NoDialect {
		return v.live, nil
	}
	return v.open(id)
}

// open returns the Live of a dialect.
func (v *Views) open(id string) (*toolpost.Live, error) {
	v.mu.RLock()
	open := v.opened[id]
	v.mu.RUnlock()
	if open != nil {
		return open()
	}
	v.mu.Lock()
	open = v.opened[id]
	if open == nil {
		open = sync.OnceValues(func() (*toolpost.Live, error) {
			return toolpost.NewLive(context.Background(), v.adapted(id))
		})
		v.opened[id] = open
	}
	v.mu.Unlock()
	return open()
}

// adapted is the toolset as a dialect has it at the time of a listing.
func (v *Views) adapted(id string) toolpost.Toolset {
	return toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		d, err := v.choices.Load().book.Find(id)
		if err != nil {
			return nil, err
		}
		return d.Layer(v.live.Set(), &dialect.Options{Report: v.opts.Report}).Tools(ctx)
	})
}

// refresh lists every view again.
func (v *Views) refresh() {
	v.mu.RLock()
	opened := maps.Clone(v.opened)
	v.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(opened)) {
		live, err := opened[id]()
		if err == nil {
			err = live.Refresh(context.Background())
		}
		if err != nil {
			v.opts.Logger.Error("tools not refreshed", "dialect", id, "err", err)
		}
	}
}

// Close ends the views; those that clients have stay as they are.
func (v *Views) Close() error {
	v.stop()
	return nil
}

// choices are how dialects are chosen, as one configuration has it.
type choices struct {
	book   *dialect.Book
	always string // "" to look at the client

	mu    sync.RWMutex
	known map[Reader]string
}

// Bounds of what is remembered of clients: they can make names up.
const (
	maxReaders = 1000
	maxReader  = 1000 // bytes of what one says
)

// choose looks at what the client says of itself, once.
func (c *choices) choose(r Reader, log *slog.Logger) string {
	c.mu.RLock()
	id := c.known[r]
	c.mu.RUnlock()
	if id != "" {
		return id
	}
	id = c.book.Choose(r.Name, r.Version, r.UserAgent).ID
	if len(r.Name)+len(r.Version)+len(r.UserAgent) > maxReader {
		return id
	}
	log.Debug("dialect chosen", "dialect", id, "client", r.Name, "version", r.Version, "agent", r.UserAgent)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxReaders {
		clear(c.known)
	}
	c.known[r] = id
	return id
}

// check tells what is wrong with the id of a dialect.
func (c *choices) check(id string) error {
	if id == NoDialect {
		return nil
	}
	if _, err := c.book.Find(id); err != nil {
		return fmt.Errorf("%w; %q adapts nothing", err, NoDialect)
	}
	return nil
}
