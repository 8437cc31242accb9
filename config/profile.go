package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A Profile is a named part of what the gateway serves, for some of its clients.
type Profile struct {
	Name        string
	Description string

	// Clients get this profile without asking for it. The first profile of the
	// file that has a matching rule counts.
	Clients []dialect.Client

	// Servers are globs of the servers whose tools, prompts and resources are
	// served; empty means all. Include and Exclude are globs of the names that
	// the gateway gives to tools and prompts. Exclude takes precedence.
	Servers, Include, Exclude []string

	ReadOnly bool        // only tools that claim to be read-only
	Tools    ToolChanges // by the names that the gateway gives

	Budget  int      // in tokens, of all definitions that a client lists; 0 means no limit of its own
	Pin     []string // globs of tools that are listed whatever the budget
	Dialect string   // "" to choose it for each client
	Token   string   // a client that sends it gets this profile and nothing else; "" for none

	Approvals []ApprovalList // beside those of the file; of both, the stricter decision counts

	// Err is the reason why no client gets the profile, such as that the variable
	// of its token is not set.
	Err error
}

// maxProfiles is how many profiles one file may have: clients are compared with
// all of them.
const maxProfiles = 100

// profileKeys says what each key of a profile sets.
var profileKeys = map[string]func(f *file, p *Profile, v hujson.Value, path string){
	"description": func(f *file, p *Profile, v hujson.Value, path string) { p.Description = f.text(v, path) },
	"clients":     (*file).profileClients,
	"servers":     func(f *file, p *Profile, v hujson.Value, path string) { p.Servers = f.texts(v, path) },
	"include":     func(f *file, p *Profile, v hujson.Value, path string) { p.Include = f.texts(v, path) },
	"exclude":     func(f *file, p *Profile, v hujson.Value, path string) { p.Exclude = f.texts(v, path) },
	"tools":       (*file).profileTools,
	"readOnly":    func(f *file, p *Profile, v hujson.Value, path string) { p.ReadOnly = f.boolean(v, path) },
	"budget":      func(f *file, p *Profile, v hujson.Value, path string) { p.Budget = limit(f.source, v, path, 0) },
	"pin":         func(f *file, p *Profile, v hujson.Value, path string) { p.Pin = f.texts(v, path) },
	"dialect":     (*file).profileDialect,
	"token":       (*file).profileToken,
	"approvals":   (*file).profileApprovals,
}

func (f *file) profiles(v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) {
		name, at := key(m), path+"."+key(m)
		switch {
		case len(f.cfg.Profiles) == maxProfiles:
			f.fail(m.Name.StartOffset, "%s has more than %d profiles; remove some", path, maxProfiles)
			return
		case !isProfileName(name):
			f.fail(m.Name.StartOffset, "%.40q cannot be the name of a profile, which is part of an address; want at most 64 of a-z, 0-9 and . _ -, beginning with a letter or digit", name)
			return
		}
		p := Profile{Name: name}
		f.members(m.Value, at, func(m *hujson.ObjectMember) {
			if set := profileKeys[key(m)]; set != nil {
				set(f, &p, m.Value, at+"."+key(m))
				return
			}
			f.unknown(m, at, slices.Sorted(maps.Keys(profileKeys)))
		})
		f.cfg.Profiles = append(f.cfg.Profiles, p)
		f.named = append(f.named, namedProfile{name, m.Name.StartOffset})
	})
}

// isProfileName reports whether a profile may have the name. It is like the id
// of a dialect: one segment of a path that needs no escaping.
func isProfileName(name string) bool {
	rest := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789._-")
	return name != "" && len(name) <= 64 && rest == "" && !strings.ContainsAny(name[:1], "._-")
}

// profileClients reads who gets a profile without asking for it.
func (f *file) profileClients(p *Profile, v hujson.Value, path string) {
	f.each(v, path, func(v hujson.Value, path string) {
		var c dialect.Client
		fields := map[string]*string{"name": &c.Name, "userAgent": &c.UserAgent, "since": &c.Since, "before": &c.Before}
		before := len(f.problems)
		f.members(v, path, func(m *hujson.ObjectMember) {
			if field := fields[key(m)]; field != nil {
				*field = f.text(m.Value, path+"."+key(m))
				return
			}
			f.unknown(m, path, slices.Sorted(maps.Keys(fields)))
		})
		if len(f.problems) > before {
			return
		}
		if _, err := c.Matcher(); err != nil {
			f.fail(v.StartOffset, "%s: %v", path, err)
		}
		p.Clients = append(p.Clients, c)
	})
}

// profileTools reads FastMCP's tools block, by the names of the gateway.
func (f *file) profileTools(p *Profile, v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) { f.change(&p.Tools, m, path+"."+key(m)) })
}

func (f *file) profileDialect(p *Profile, v hujson.Value, path string) {
	if p.Dialect = f.text(v, path); v.Value.Kind() == '"' {
		f.wanted = append(f.wanted, wantedDialect{p.Dialect, v.StartOffset})
	}
}

func (f *file) profileToken(p *Profile, v hujson.Value, path string) {
	e := &entry{source: f.source, path: path, vars: f.vars} // for what is not set
	p.Token = e.expand(f.text(v, path), v, path)
	switch {
	case len(e.unset) > 0:
		p.Token, p.Err = "", fmt.Errorf("profile %q: %w", p.Name, &unsetError{f.name, e.unset})
	case f.vars == nil || v.Value.Kind() != '"' || refers(p.Token):
	default:
		if err := callers.CheckToken(p.Token); err != nil {
			p.Token, p.Err = "", fmt.Errorf("profile %q: its token %w", p.Name, err)
		}
	}
	if p.Err != nil {
		f.note(v.StartOffset, "%v; until then, no client gets this profile", p.Err)
	}
}

// A namedProfile is where a profile stands in the file.
type namedProfile struct {
	name   string
	offset int
}

// A wantedDialect is where a profile names a dialect.
type wantedDialect struct {
	id     string
	offset int
}

// checkProfiles checks profiles against the dialects and each other, when the
// whole file is read.
func (f *file) checkProfiles(book *dialect.Book, overlays map[string][]byte) {
	for _, w := range f.wanted {
		if err := book.Check(w.id); err != nil && overlays[w.id] == nil {
			f.fail(w.offset, "%v", err)
		}
	}
	for _, n := range f.named {
		if book.Check(n.name) == nil {
			f.fail(n.offset, "a dialect is called %q too, so that the address /mcp/%s would mean both; give the profile another name", n.name, n.name)
		}
	}
	f.checkScopeProfiles()
	owner := map[string]string{}
	for i, p := range f.cfg.Profiles {
		if p.Token == "" {
			continue
		}
		if first := owner[p.Token]; first != "" {
			f.fail(f.named[i].offset, "profiles %q and %q have the same token; give each its own", first, p.Name)
		}
		owner[p.Token] = p.Name
	}
}
