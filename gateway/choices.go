package gateway

import (
	"cmp"
	"log/slog"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dialect"
)

// choices are how dialects are chosen, as one configuration has it.
type choices struct {
	book   *dialect.Book
	always string // "" to look at the client
	server string // the name by which clients know us

	mu    sync.RWMutex
	known map[Reader]string
}

// newChoices returns the choices of a configuration; opts come before it.
func newChoices(cfg *config.Config, opts *ViewOptions) *choices {
	c := &choices{book: cfg.Dialects, always: cfg.Dialect, server: cfg.Name, known: map[Reader]string{}}
	if opts != nil {
		c.always, c.server = cmp.Or(opts.Dialect, c.always), cmp.Or(opts.Name, c.server)
	}
	if c.book == nil {
		c.book, _ = dialect.NewBook(nil) // only overlays can be wrong
	}
	return c
}

// of returns the id of the dialect for a client.
func (c *choices) of(r Reader, log *slog.Logger) (string, error) {
	switch {
	case r.View != "":
		return r.View, config.CheckDialect(c.book, r.View)
	case c.always != "":
		return c.always, nil
	}
	return c.choose(Reader{Name: short(r.Name), Version: short(r.Version), UserAgent: short(r.UserAgent)}, log), nil
}

// maxClaim is how many bytes of a name, version or user agent count: clients
// can make them up.
const maxClaim = 256

func short(claim string) string {
	if len(claim) > maxClaim {
		return strings.Clone(claim[:maxClaim])
	}
	return claim
}

// maxReaders is how many clients are remembered.
const maxReaders = 1000

// choose looks at what the client says of itself, once.
func (c *choices) choose(r Reader, log *slog.Logger) string {
	c.mu.RLock()
	id := c.known[r]
	c.mu.RUnlock()
	if id != "" {
		return id
	}
	id = c.book.Choose(r.Name, r.Version, r.UserAgent).ID
	log.Debug("dialect chosen", "dialect", id, "client", r.Name, "version", r.Version, "agent", r.UserAgent)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxReaders {
		clear(c.known)
	}
	c.known[r] = id
	return id
}
