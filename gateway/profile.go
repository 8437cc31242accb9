package gateway

import (
	"fmt"
	"reflect"
	"regexp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/policy/approval"
)

// A profile is a [config.Profile] that is ready to be asked.
type profile struct {
	*config.Profile

	rules                     []*dialect.ClientMatcher
	servers, include, exclude *regexp.Regexp // nil for none
	approvals                 approval.Policy
}

// newProfile returns the profile of a configuration: the one before if that says
// the same.
func newProfile(cfg *config.Profile, before *viewChooser) (*profile, error) {
	if before != nil {
		if old := before.profiles[cfg.Name]; old != nil && reflect.DeepEqual(old.Profile, cfg) {
			return old, nil
		}
	}
	p := &profile{Profile: cfg, servers: globs(cfg.Servers), include: globs(cfg.Include), exclude: globs(cfg.Exclude)}
	var err error
	if p.approvals, err = approval.Compile(cfg.Approvals); err != nil {
		return nil, fmt.Errorf("profile %q: %w", cfg.Name, err)
	}
	for _, c := range cfg.Clients {
		m, err := c.Matcher()
		if err != nil {
			return nil, fmt.Errorf("profile %q: its clients: %w", cfg.Name, err)
		}
		p.rules = append(p.rules, m)
	}
	return p, nil
}

// isFor reports whether the profile is for a client by what the client claims.
func (p *profile) isFor(r Client) bool {
	for _, m := range p.rules {
		if m.Match(r.Name, r.Version, r.UserAgent) {
			return true
		}
	}
	return false
}

// passes reports whether a tool or prompt of that name is in the profile, as far
// as its name decides.
func (p *profile) passes(name string) bool {
	return (p.include == nil || match(p.include, name)) && !match(p.exclude, name)
}

// admits reports whether the profile names a server, or names none.
func (p *profile) admits(server string) bool {
	return p.servers == nil || match(p.servers, server)
}

// has reports whether a tool or prompt of a server is in the profile.
func (p *profile) has(name, server string) bool { return p.passes(name) && p.admits(server) }

// permits reports whether the profile lets clients call a tool that claims this.
func (p *profile) permits(a toolpost.Annotations) bool {
	return !p.ReadOnly || a.ReadOnly != nil && *a.ReadOnly
}
