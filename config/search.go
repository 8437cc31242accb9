package config

import (
	"github.com/tailscale/hujson"
)

// A Search determines for which clients tools are searched instead of listed. The
// zero value searches them for clients that would lose tools or much of their context.
type Search struct {
	Off    bool     // all clients get all tools, unless their profile has a budget
	Budget int      // in tokens, of all definitions; 0 means 50,000, a quarter of a usual context, for known clients only
	Pin    []string // globs of tools that are always listed
}

// search reads false, true, or {"budget": …, "pin": […]}.
func (f *file) search(v hujson.Value, path string) {
	s := &f.cfg.Search
	if k := v.Value.Kind(); k == 't' || k == 'f' {
		s.Off = k == 'f'
		return
	}
	f.members(v, path, func(m *hujson.ObjectMember) {
		switch at := path + "." + key(m); key(m) {
		case "budget":
			s.Budget = limit(f.source, m.Value, at, 1)
		case "pin":
			s.Pin = f.texts(m.Value, at)
		default:
			f.unknown(m, path, []string{"budget", "pin"})
		}
	})
}
