package gateway

import (
	"bytes"
	"context"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// joinPrompts names prompts as tools are named.
func (j *joined) joinPrompts(members []*member) {
	var offers []offer[*toolpost.Prompt]
	for _, m := range members {
		for _, p := range m.features().Prompts {
			if cleartext.Clean(p.Name) != "" {
				offers = append(offers, offer[*toolpost.Prompt]{member: m, item: p, name: p.Name})
			}
		}
	}
	for i, name := range named(j, "prompt", offers) {
		if name == "" {
			continue
		}
		o := offers[i]
		p := *o.item
		p.Name = name
		if p.Definition = visibleText(o.item.Definition); !bytes.Equal(p.Definition, o.item.Definition) {
			j.note("", "server %s: hidden characters or unsafe icons are removed from its prompt %q", o.server.Name, name)
		}
		p.Get = o.counted(p.Get, o.name)
		p.Complete = o.counted(p.Complete, o.name)
		j.features.Prompts = append(j.features.Prompts, &p)
	}
}

// joinResources keeps URIs as they are; the first server with a URI has it.
func (j *joined) joinResources(members []*member) {
	type id struct {
		uri      string
		template bool
	}
	owner := map[id]*member{}
	watchable, readable := false, false
	for _, m := range members {
		f := m.features()
		watchable = watchable || f.Subscribe != nil
		readable = readable || f.ReadUnlisted != nil
		j.features.Incomplete = j.features.Incomplete || m.connecting()
		for _, r := range f.Resources {
			if err := r.Validate(); err != nil {
				j.note("", "server %s: its resource template %.40q… is left out: %v", m.server.Name, r.URI, err)
				continue
			}
			if !safeURI(r.URI) {
				j.note("", "server %s: its resource %.100q is left out: its address has hidden characters or runs a script", m.server.Name, r.URI)
				continue
			}
			k := id{r.URI, r.Template}
			if first := owner[k]; first != nil {
				j.note("", "server %s: its resource %s is left out, because server %s has it too", m.server.Name, r.URI, first.server.Name)
				continue
			}
			owner[k] = m
			c := *r
			if c.Definition = visibleText(r.Definition, "name"); !bytes.Equal(c.Definition, r.Definition) {
				j.note("", "server %s: hidden characters or unsafe icons are removed from its resource %q", m.server.Name, r.URI)
			}
			c.Read = m.counted(r.Read, "")
			c.Complete = m.counted(r.Complete, "")
			j.features.Resources = append(j.features.Resources, &c)
		}
	}
	if readable {
		j.features.ReadUnlisted = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return readUnlisted(ctx, members, call)
		}
	}
	if watchable {
		j.features.Subscribe = func(ctx context.Context, uri string, on bool) error {
			return subscribe(ctx, members, uri, on)
		}
	}
}
