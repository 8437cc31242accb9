package gateway

import (
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dialect"
)

// viewParts is what the layers of a view are made of. While they are equal, the
// layers stay, and a tool that has not changed is not adapted again.
type viewParts struct {
	profile *profile         // nil for all that is served
	dialect *dialect.Dialect // nil for tools that are not adapted
	server  string           // the name by which clients know us
	search  searchLimits     // above which tools are searched instead of listed
}

// parts returns what the configuration now has for the view.
func (a *view) parts() (p viewParts, err error) {
	c := a.views.chooser.Load()
	p.server = c.server
	if a.key.dialect != config.NoDialect {
		if p.dialect, err = c.book.Find(a.key.dialect); err != nil {
			return p, err
		}
	}
	if a.key.profile != "" {
		if p.profile = c.profiles[a.key.profile]; p.profile == nil {
			return p, c.unknownProfile(a.key.profile)
		}
	}
	p.search = p.searchLimits(c.search)
	return p, nil
}

// compose composes what tools pass from the Live of all clients to the clients of
// one view. Prompts and resources pass the profile only.
//
//	profile   selects and changes tools, prompts and resources
//	search    lists a search instead of tools that are too many
//	places    keeps tools in their places, for clients that defer tools themselves
//	dialect   adapts tools to the client
func (a *view) compose(p viewParts) toolpost.Source {
	ts := a.Source
	var selected *profileLayer
	if p.profile != nil {
		selected = p.profile.layer(ts, a.servers, a.note)
		ts = selected
	}
	a.profile.Store(selected)
	ts = a.searchLayer(ts, p.search)
	if p.dialect != nil && p.dialect.Defers {
		ts = a.places.layer(ts)
	}
	if p.dialect != nil {
		ts = p.dialect.Layer(ts, &dialect.Options{Server: p.server, Report: a.views.opts.Report})
	}
	return ts
}
