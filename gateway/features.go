package gateway

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// joinPrompts names prompts as tools are named.
func (j *joinResult) joinPrompts(members []*member) {
	var offers []offer[*toolpost.Prompt]
	for _, m := range members {
		for _, p := range m.features().Prompts {
			if cleartext.Clean(p.Name) != "" {
				offers = append(offers, offer[*toolpost.Prompt]{member: m, item: p, name: p.Name})
			}
		}
	}
	for i, name := range assignNames(j, "prompt", offers) {
		if name == "" {
			continue
		}
		o := offers[i]
		p := *o.item
		p.Name = name
		if p.Definition = visibleText(o.item.Definition); !bytes.Equal(p.Definition, o.item.Definition) {
			j.note("", "server %s: hidden characters or unsafe icons are removed from its prompt %q", o.server.Name, name)
		}
		p.Get = o.toServer(p.Get, getPrompt, o.name)
		p.Complete = o.toServer(p.Complete, complete, o.name)
		j.features.Prompts = append(j.features.Prompts, &p)
		j.origins.prompts[name] = o.server.Name
	}
	slices.SortFunc(j.features.Prompts, func(a, b *toolpost.Prompt) int { return strings.Compare(a.Name, b.Name) })
}

// joinResources keeps URIs as they are; that of a server before has another name
// for the servers after it, see [aliases].
func (j *joinResult) joinResources(members []*member) {
	owner := map[resourceID]*member{}
	for _, m := range members {
		for _, r := range j.offeredResources(m) {
			k := resourceID{m.aliases.clientURI(m.key, r.URI), r.Template}
			if r.Template {
				k.uri = r.URI
			}
			if first := owner[k]; first != nil {
				j.note("", "server %s: its resource %s is left out, because server %s has it too", m.server.Name, r.URI, first.server.Name)
				continue
			}
			if k.uri != r.URI {
				j.note("", "server %s: its resource %s is called %s, because another server has it too", m.server.Name, r.URI, k.uri)
			}
			owner[k] = m
			c := *r
			c.URI = k.uri
			if c.Definition = visibleText(r.Definition, "name"); !bytes.Equal(c.Definition, r.Definition) {
				j.note("", "server %s: hidden characters or unsafe icons are removed from its resource %q", m.server.Name, r.URI)
			}
			c.Read = m.read(r)
			c.Complete = m.toServer(r.Complete, complete, "")
			j.features.Resources = append(j.features.Resources, &c)
			j.origins.resources[k] = m.server.Name
		}
	}
	slices.SortStableFunc(j.features.Resources, compareResources)
}

// joinRequests routes reads of resources that no server lists, and subscriptions, if
// a server takes them.
func (j *joinResult) joinRequests(members []*member) {
	watchable, readable := false, false
	for _, m := range members {
		f := m.features()
		watchable = watchable || f.Subscribe != nil
		readable = readable || f.ReadUnlisted != nil
		j.features.Incomplete = j.features.Incomplete || m.isConnecting()
	}
	if readable {
		j.features.ReadUnlisted = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return readUnlisted(ctx, reachableMembers(ctx, members), call)
		}
	}
	if watchable {
		j.features.Subscribe = func(ctx context.Context, uri string, on bool) error {
			return subscribe(ctx, reachableMembers(ctx, members), uri, on)
		}
	}
}

// compareResources sorts resources by their URIs. Templates follow, in the order of
// the servers: the first that fits a URI is read.
func compareResources(a, b *toolpost.Resource) int {
	switch {
	case a.Template && b.Template:
		return 0
	case a.Template:
		return 1
	case b.Template:
		return -1
	}
	return strings.Compare(a.URI, b.URI)
}

// offeredResources returns the resources of m that can be served.
func (j *joinResult) offeredResources(m *member) (offered []*toolpost.Resource) {
	for _, r := range m.features().Resources {
		if err := r.Validate(); err != nil {
			j.note("", "server %s: its resource template %.40q… is left out: %v", m.server.Name, r.URI, err)
			continue
		}
		if !safeURI(r.URI) {
			j.note("", "server %s: its resource %.100q is left out: its address has hidden characters or runs a script", m.server.Name, r.URI)
			continue
		}
		offered = append(offered, r)
	}
	slices.SortStableFunc(offered, func(a, b *toolpost.Resource) int { return strings.Compare(a.URI, b.URI) })
	return offered
}

// How many bytes of instructions clients get, of one server and of all. They
// are in the context of every conversation.
const (
	maxInstructions    = 8 << 10
	maxAllInstructions = 32 << 10
)

const cutMark = "\n[the rest is left out: it is too long]"

// joinInstructions joins what the servers say about themselves, each under its
// name. A server that is alone speaks for the gateway.
func (j *joinResult) joinInstructions(members []*member) {
	enabled := 0
	for _, m := range members {
		if !m.server.Disabled {
			enabled++
		}
	}
	var all []string
	left := maxAllInstructions
	for _, m := range members {
		sent := m.features().Instructions
		text := cleartext.Clean(sent)
		if text != sent {
			j.note("", "server %s: hidden characters are removed from its instructions", m.server.Name)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		limit := min(left, maxInstructions)
		if enabled == 1 {
			limit = maxAllInstructions
		} else {
			text = demote(strings.TrimSpace(text))
		}
		if len(text) > limit {
			text = cut(text, limit) + cutMark
			j.note("", "server %s: its instructions are cut to %d bytes", m.server.Name, limit)
		}
		if enabled == 1 {
			j.features.Instructions = text
			return
		}
		left -= min(len(text), left)
		all = append(all, "# "+m.server.Name+"\n\n"+text)
	}
	j.features.Instructions = strings.Join(all, "\n\n")
}

// demote makes the headings of a server lower than those of the gateway, so that
// no server can speak under the name of another.
func demote(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if indent := len(line) - len(strings.TrimLeft(line, " \t\r")); strings.HasPrefix(line[indent:], "#") {
			lines[i] = line[:indent] + "#" + line[indent:]
		} else if strings.Trim(line, " \t\r=") == "" { // underlines a heading of the first level
			lines[i] = strings.ReplaceAll(line, "=", "-")
		}
	}
	return strings.Join(lines, "\n")
}

// cut returns at most limit bytes of the text, in whole characters.
func cut(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// joinIntroductions passes on how a server that is alone describes itself,
// without hidden characters and unsafe icons.
func (j *joinResult) joinIntroductions(members []*member) {
	var only *member
	for _, m := range members {
		switch {
		case m.server.Disabled:
			continue
		case only != nil:
			return
		}
		only = m
	}
	if only == nil {
		return
	}
	f := only.features()
	info := visibleText(f.ServerInfo, "name", "version", "websiteUrl")
	if !bytes.Equal(info, f.ServerInfo) {
		j.note("", "server %s: hidden characters or unsafe icons are removed from its description of itself", only.server.Name)
	}
	j.features.ServerInfo, j.features.ServerCapabilities = info, f.ServerCapabilities
}
