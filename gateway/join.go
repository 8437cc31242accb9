package gateway

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/pins"
	"github.com/toolpost/toolpost/internal/policy/suspect"
	"github.com/toolpost/toolpost/upstream"
)

// A joinResult holds the lists of all members, joined at one moment.
type joinResult struct {
	tools    []*toolpost.Tool
	features *toolpost.Features
	findings []toolpost.Finding
	withheld []WithheldTool
	denied   map[string]deniedTool      // tools that the approval rules deny, by the names that clients would know
	served   map[toolKey]*toolpost.Tool // tools, by what they are made of
	origins  origins

	keys    map[string]*member // the servers whose names of tools begin with their keys
	memory  *memory
	settled bool // names that are given now are remembered
}

// A deniedTool is a tool that the approval rules of the file deny.
type deniedTool struct{ server, why string }

// A toolKey is what join makes a tool of. As long as it is equal, the tool stays
// the same; a view adapts a tool again only if the tool has changed.
type toolKey struct {
	of    *toolpost.Tool
	name  string
	meta  string
	quiet bool
}

// join joins the tools and features of members so that each name and URI means
// one thing. The lists are sorted, so that their bytes do not depend on the order
// in which servers answer or list. Before has the tools that were joined last.
func join(ctx context.Context, members []*member, quiet *regexp.Regexp, memory *memory, before map[toolKey]*toolpost.Tool) *joinResult {
	j := &joinResult{features: &toolpost.Features{}, served: map[toolKey]*toolpost.Tool{}, origins: newOrigins(), memory: memory, settled: allListed(members)}
	j.keys, j.denied = map[string]*member{}, map[string]deniedTool{}
	for _, m := range members {
		if m.prefix == m.key+"__" && !m.server.Disabled {
			j.keys[m.key] = m
		}
	}
	claimResources(members)
	j.joinTools(ctx, members, quiet, before)
	j.joinPrompts(members)
	j.joinResources(members)
	j.joinRequests(members)
	j.joinExtensions(members)
	j.joinInstructions(members)
	j.joinIntroductions(members)
	return j
}

func (j *joinResult) note(name, format string, args ...any) {
	j.findings = append(j.findings, toolpost.Finding{Tool: name, Message: fmt.Sprintf(format, args...)})
}

// An offer is a tool or prompt, and the member it comes from.
type offer[T any] struct {
	*member
	item T
	name string      // on the server
	why  pins.Reason // why the tool is withheld; "" if it is not
}

func (j *joinResult) joinTools(ctx context.Context, members []*member, quiet *regexp.Regexp, before map[toolKey]*toolpost.Tool) {
	var offers []offer[*toolpost.Tool]
	for _, m := range members {
		offers = append(offers, m.offers(ctx)...)
		j.findings = append(j.findings, m.findings...)
		for tool, why := range m.denied {
			j.denied[m.prefix+tool] = deniedTool{m.server.Name, why}
		}
	}
	for i, name := range assignNames(j, "tool", offers) {
		o := offers[i]
		switch {
		case name == "":
			continue
		case o.why != "": // it keeps its name, so that no other server takes its calls
			w := o.pins.describeWithheld(o.server.Name, o.name, o.why)
			w.Name = name
			j.withheld = append(j.withheld, w)
			continue
		}
		meta := o.aliases.show(o.key, o.item.Meta)
		is := toolKey{o.item, name, string(meta), o.item.Policy.Polled || match(quiet, name, cleartext.Clean(o.name))}
		t := before[is]
		if t == nil {
			c := *o.item
			t = &c
			t.Name, t.Meta, t.Policy.Polled = name, meta, is.quiet
		}
		if o.hidden[o.name] {
			j.note(name, "server %s: hidden characters or unsafe icons are removed from the definition of its tool %q", o.server.Name, o.name)
		}
		j.served[is] = t
		j.origins.tools[name], j.origins.own[name] = o.server.Name, cmp.Or(o.own[o.item], o.item)
		j.noteSuspicion(o.member, j.origins.own[name].Name, name)
		j.tools = append(j.tools, t)
	}
	slices.SortFunc(j.tools, func(a, b *toolpost.Tool) int { return strings.Compare(a.Name, b.Name) })
	j.noteLookalikes()
}

// assignNames returns the name of every offer, "" for those that are left out.
func assignNames[T any](j *joinResult, what string, offers []offer[T]) []string {
	claims, owner := make([]claim, len(offers)), map[string]*member{}
	for i, o := range offers {
		claims[i] = o.claimOf(what, o.name, cleartext.Clean(o.name))
		if other := j.namesake(o.member, claims[i].wanted[0]); other != nil {
			claims[i].barred, owner[claims[i].wanted[0]] = true, other
		}
	}
	names := j.memory.assign(claims, j.settled)
	for i, name := range names {
		if name != "" {
			owner[name] = offers[i].member
		}
	}
	renames := map[[2]*member][]rename{}
	for i, name := range names {
		if want := claims[i].wanted[0]; name != want {
			between := [2]*member{offers[i].member, owner[want]}
			renames[between] = append(renames[between], rename{offers[i].name, want, name})
		}
	}
	for i, name := range names {
		if want := claims[i].wanted[0]; name != want {
			between := [2]*member{offers[i].member, owner[want]}
			noteRenames(j, what, between, renames[between])
			delete(renames, between)
		}
	}
	return names
}

// namesake returns the other server to which a name belongs by its beginning, unless
// the configuration gives m the same prefix: only a tool that is called so by its
// server would take the calls of that one.
func (j *joinResult) namesake(m *member, name string) *member {
	key, _, _ := strings.Cut(name, "__")
	if other := j.keys[key]; other != nil && other.link != m.link && !strings.HasPrefix(m.prefix, key+"__") {
		return other
	}
	return nil
}

// A rename is what became of a name that another server has.
type rename struct {
	own  string // on the server
	want string // with its prefix
	name string // "" if it is left out
}

// noteRenames reports the names that a server shares with the server that has
// them: in one line, as all have one cause and one remedy.
func noteRenames(j *joinResult, what string, between [2]*member, renames []rename) {
	if len(renames) == 0 {
		return
	}
	s, owner := between[0].server.Name, between[1].server.Name
	const remedy = "give one of them another prefix"
	switch r := renames; {
	case len(r) == 1 && r[0].name == "":
		j.note(r[0].want, "server %s: its %s %q is left out, because server %s has one with the same name; %s", s, what, r[0].own, owner, remedy)
	case len(r) == 1:
		j.note(r[0].name, "server %s: its %s %q is called %q, because server %s has a %q; %s", s, what, r[0].own, r[0].name, owner, r[0].want, remedy)
	default:
		var texts []string
		for _, r := range r {
			if r.name == "" {
				texts = append(texts, r.own+" (left out)")
				continue
			}
			texts = append(texts, fmt.Sprintf("%s (called %s)", r.own, r.name))
		}
		j.note("", "server %s: %d of its %ss have names that server %s has too: %s; %s", s, len(r), what, owner, enumerate(texts), remedy)
	}
}

// enumerate joins texts, the first few if they are many.
func enumerate(texts []string) string {
	const most = 5
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
}

// noteUnmatchedQuiet reports globs of quiet tools that match no tool, once all
// servers are ready.
func (j *joinResult) noteUnmatchedQuiet(members []*member, cfg *config.Config) {
	if cfg.QuietOptional || slices.ContainsFunc(members, func(m *member) bool { return !m.server.Disabled && m.status().State != upstream.Ready }) {
		return
	}
	var names []string
	for is := range j.served {
		names = append(names, is.name, cleartext.Clean(is.of.Name))
	}
	for _, w := range j.withheld {
		names = append(names, w.Name, w.Tool)
	}
	slices.Sort(names)
	for _, pattern := range cfg.Quiet {
		if !slices.ContainsFunc(names, globs([]string{pattern}).MatchString) {
			j.note("", "quiet: %q matches no tool; %s", pattern, suggestTool(pattern, names))
		}
	}
}

// suspicion is what looks like an attack in the definition of one tool.
type suspicion struct {
	found    []suspect.Finding
	mentions []string // the servers whose tools it may name, by the beginnings of names
}

func suspicionOf(d *toolpost.Definition) *suspicion {
	raw, err := d.MarshalJSON()
	if err != nil {
		return nil
	}
	s := &suspicion{suspect.Definition(raw), suspect.Mentions(raw)}
	if len(s.found)+len(s.mentions) == 0 {
		return nil
	}
	return s
}

// noteSuspicion warns about the definition of a tool, which is served nevertheless.
func (j *joinResult) noteSuspicion(m *member, tool, name string) {
	s := m.suspicions[tool]
	if s == nil {
		return
	}
	if len(s.found) > 0 {
		texts := make([]string, len(s.found))
		for i, f := range s.found {
			texts[i] = f.String()
		}
		j.note(name, "server %s: the definition of its tool %q looks like an attack on the model: %s; read it, and leave the tool out with \"deny\" if you do not trust it", m.server.Name, tool, strings.Join(texts, "; "))
	}
	for _, key := range s.mentions {
		if other := j.keys[key]; other != nil && other.link != m.link {
			j.note(name, "server %s: the definition of its tool %q names a tool of server %s, so it may try to change how the model uses that one; read it", m.server.Name, tool, other.server.Name)
		}
	}
}

// noteLookalikes warns about tools of different servers whose names people may take
// for each other.
func (j *joinResult) noteLookalikes() {
	names := map[string][]string{}
	for _, t := range j.tools {
		s := suspect.Skeleton(t.Name)
		names[s] = append(names[s], t.Name)
	}
	for _, t := range j.tools { // in their order
		alike := names[suspect.Skeleton(t.Name)]
		i := slices.Index(alike, t.Name)
		if i > 0 && j.origins.tools[t.Name] != j.origins.tools[alike[0]] {
			j.note(t.Name, "server %s: the name of this tool looks like that of the tool %q of server %s; give one of the servers another prefix", j.origins.tools[t.Name], alike[0], j.origins.tools[alike[0]])
		}
	}
}
