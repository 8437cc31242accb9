package gateway

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
)

// noDialect is used instead of a dialect's id for tools that are not adapted.
const noDialect = "none"

// A viewKey names a view: a profile in a dialect.
type viewKey struct {
	profile string        // "" for all that is served
	dialect string        // may be noDialect
	lists   *sessionLists // nil for those of all clients
}

// A viewChooser chooses the view of each client by one configuration.
type viewChooser struct {
	own      *dialect.Book // the dialects of the configuration; nil for the built-in ones
	profiles map[string]*profile
	rules    []*profile // those with rules for clients, in the order of the file
	opts     *Options
	always   string // the dialect of the configuration; "" to look at the client
	server   string // the name by which clients know us
	search   config.Search

	mu    sync.RWMutex
	known map[observe.Client]claimedView
}

// book returns the dialects. The built-in ones are read when they are first needed:
// commands such as list need none.
func (c *viewChooser) book() *dialect.Book {
	if c.own != nil {
		return c.own
	}
	book, _ := dialect.NewBook(nil) // only overlays can be wrong
	return book
}

// A claimedView is what a client gets because of what it claims.
type claimedView struct{ profile, dialect string }

// newViewChooser returns the chooser of a configuration; opts take precedence.
// Profiles that are the same as before stay the same.
func newViewChooser(cfg *config.Config, opts *Options, before *viewChooser) (*viewChooser, error) {
	c := &viewChooser{own: cfg.Dialects, opts: opts, always: cfg.Dialect, server: cmp.Or(opts.Name, cfg.Name), search: cfg.Search, known: map[observe.Client]claimedView{}, profiles: map[string]*profile{}}
	for _, id := range []string{opts.Dialect, cfg.Dialect} {
		if id != "" {
			if err := c.book().Check(id); err != nil {
				return nil, err
			}
		}
	}
	for i := range cfg.Profiles {
		p, err := newProfile(&cfg.Profiles[i], before)
		if err != nil {
			return nil, err
		}
		c.profiles[p.Name] = p
		if len(p.rules) > 0 {
			c.rules = append(c.rules, p)
		}
	}
	if opts.Profile != "" && c.profiles[opts.Profile] == nil {
		return nil, c.unknownProfile(opts.Profile)
	}
	return c, nil
}

// viewOf returns the view of a client. The address decides, then the options,
// then the configuration, then what the client claims to be.
func (c *viewChooser) viewOf(r observe.Client, log *slog.Logger) (key viewKey, err error) {
	if key, err = c.parseAddress(r.View); err != nil {
		return key, err
	}
	if c.opts.Profile != "" {
		key.profile = c.opts.Profile
	}
	var chosen claimedView
	if key.profile == "" || key.dialect == "" {
		chosen = c.choose(observe.Client{Name: clipClaim(r.Name), Version: clipClaim(r.Version), UserAgent: clipClaim(r.UserAgent)}, log)
	}
	key.profile = cmp.Or(key.profile, chosen.profile)
	p := c.profiles[key.profile]
	if p != nil && p.Err != nil {
		return key, fmt.Errorf("%w; ask whoever runs toolpost to correct it", p.Err)
	}
	own := ""
	if p != nil {
		own = p.Dialect
	}
	key.dialect = cmp.Or(key.dialect, c.opts.Dialect, own, c.always, chosen.dialect)
	return key, nil
}

// parseAddress returns what an address names: a profile, a dialect, or both as
// PROFILE/DIALECT.
func (c *viewChooser) parseAddress(address string) (key viewKey, err error) {
	if address == "" {
		return key, nil
	}
	first, second, both := strings.Cut(address, "/")
	p := c.profiles[first]
	switch {
	case p != nil && c.opts.Profile != "" && c.opts.Profile != first:
		return key, fmt.Errorf("this address serves the profile %q only; leave out /%s", c.opts.Profile, first)
	case p != nil && !both:
		return viewKey{profile: first}, nil
	case p != nil:
		return viewKey{profile: first, dialect: second}, c.book().Check(second)
	case both:
		return key, c.unknownProfile(first)
	case c.book().Check(first) != nil:
		return key, c.unknownAddress(first)
	}
	return viewKey{dialect: first}, nil
}

// unknownAddress returns the error for an address that names no profile and no dialect.
func (c *viewChooser) unknownAddress(name string) error {
	profiles, dialects := c.profileNames(), c.dialects()
	if near := suggest.Nearest(name, append(slices.Clone(profiles), dialects...)); near != "" {
		return fmt.Errorf("unknown profile or dialect %.80q; did you mean %q?", name, near)
	}
	text := "there are no profiles"
	if len(profiles) > 0 {
		text = "it may have been removed from the configuration; the profiles are " + strings.Join(profiles, ", ")
	}
	return fmt.Errorf("unknown profile or dialect %.80q; %s; the dialects are %s; %q adapts nothing", name, text, strings.Join(dialects, ", "), noDialect)
}

// unknownProfile returns the error for a name that is not that of a profile.
func (c *viewChooser) unknownProfile(name string) error {
	names := c.profileNames()
	if len(names) == 0 {
		return fmt.Errorf("there is no profile %.80q: the configuration has no profiles", name)
	}
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("unknown profile %.80q; did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown profile %.80q; the profiles are %s", name, strings.Join(names, ", "))
}

func (c *viewChooser) profileNames() []string { return slices.Sorted(maps.Keys(c.profiles)) }

func (c *viewChooser) dialects() []string { return append(c.book().IDs(), noDialect) }

// exists reports whether there still is such a view.
func (c *viewChooser) exists(key viewKey) bool {
	return (key.profile == "" || c.profiles[key.profile] != nil) && c.book().Check(key.dialect) == nil
}

// maxClaim is how many bytes of a name, version or user agent count: clients
// can make them up.
const maxClaim = 256

func clipClaim(claim string) string {
	if len(claim) > maxClaim {
		return strings.Clone(claim[:maxClaim])
	}
	return claim
}

// maxClients is how many clients are remembered.
const maxClients = 1000

// choose selects a profile and a dialect by what the client claims, and
// remembers them.
func (c *viewChooser) choose(r observe.Client, log *slog.Logger) claimedView {
	c.mu.RLock()
	chosen, known := c.known[r]
	c.mu.RUnlock()
	if known {
		return chosen
	}
	chosen.dialect = c.book().Choose(r.Name, r.Version, r.UserAgent).ID
	for _, p := range c.rules {
		if p.isFor(r) {
			chosen.profile = p.Name
			break
		}
	}
	log.Debug("dialect chosen", "dialect", chosen.dialect, "client", r.Name, "version", r.Version, "agent", r.UserAgent, "profile", chosen.profile)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxClients {
		clear(c.known)
	}
	c.known[r] = chosen
	return chosen
}
