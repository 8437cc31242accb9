package gateway

import (
	"cmp"
	"log/slog"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dialect"
)

// A dialectChooser chooses the dialect of each client by one configuration.
type dialectChooser struct {
	book   *dialect.Book
	always string // "" to look at the client
	server string // the name by which clients know us

	mu    sync.RWMutex
	known map[Client]string
}

// newDialectChooser returns the chooser of a configuration; opts take precedence.
func newDialectChooser(cfg *config.Config, opts *ViewOptions) *dialectChooser {
	c := &dialectChooser{book: cfg.Dialects, always: cfg.Dialect, server: cfg.Name, known: map[Client]string{}}
	if opts != nil {
		c.always, c.server = cmp.Or(opts.Dialect, c.always), cmp.Or(opts.Name, c.server)
	}
	if c.book == nil {
		c.book, _ = dialect.NewBook(nil) // only overlays can be wrong
	}
	return c
}

// dialectOf returns the id of the dialect for a client.
func (c *dialectChooser) dialectOf(r Client, log *slog.Logger) (string, error) {
	switch {
	case r.View != "":
		return r.View, config.CheckDialect(c.book, r.View)
	case c.always != "":
		return c.always, nil
	}
	return c.choose(Client{Name: short(r.Name), Version: short(r.Version), UserAgent: short(r.UserAgent)}, log), nil
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

// maxClients is how many clients are remembered.
const maxClients = 1000

// choose selects a dialect by what the client claims, and remembers it.
func (c *dialectChooser) choose(r Client, log *slog.Logger) string {
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
	if len(c.known) >= maxClients {
		clear(c.known)
	}
	c.known[r] = id
	return id
}
