package owner

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/policy/approval"
)

// A Guard decides which parts of a changed configuration file may be used
// before a person has approved the change. Whoever can write the file, such as
// a model with a tool that writes files, must not be able to run a program
// through it or to send a secret somewhere.
//
// The definition of a server is its name, under which its tools are pinned, what it
// runs, contacts and sends, and the changes of its tools. A new or changed definition
// waits for approval, and so do a new profile, its token, its changes of tools, and what
// it would serve more than before. The server's settings, such as filters, prefixes,
// limits and timeouts, and the rest of the file apply immediately, and so does a
// removal. Rules of approvals can only become stricter. docs/security.md lists the keys.
type Guard struct {
	approved []config.Server                  // definitions that may run
	profiles map[string]config.Profile        // that may be served, by name
	rules    map[string][]config.ApprovalRule // the approvals that hold, by profile; "" for those of the file
}

// NewGuard returns a guard that allows the servers of cfg to run.
func NewGuard(cfg *config.Config) *Guard {
	g := &Guard{}
	g.Approve(cfg)
	return g
}

// Approve allows the servers of cfg to run, and no others from now on.
func (g *Guard) Approve(cfg *config.Config) {
	g.approved, g.profiles, g.rules = nil, map[string]config.Profile{}, map[string][]config.ApprovalRule{"": rulesOf(cfg.Approvals)}
	for _, p := range cfg.Profiles {
		g.profiles[p.Name], g.rules[p.Name] = p, rulesOf(p.Approvals)
	}
	for i := range cfg.Servers {
		if s := &cfg.Servers[i]; !s.Disabled {
			g.approved = append(g.approved, definitionOf(s))
		}
	}
}

// Admit returns next without its definitions that are not approved. Such a
// server keeps its definition from running; if running does not have the
// server, it is listed as failed. Waiting contains the names of these servers,
// and "profile NAME" for profiles of which something waits.
// Remedy explains how to approve the file; it is appended to the messages about
// these servers.
func (g *Guard) Admit(running, next *config.Config, remedy string) (admitted *config.Config, waiting []string) {
	c := *next
	c.Servers, c.Findings = slices.Clone(next.Servers), slices.Clone(next.Findings)
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Disabled || s.Err != nil || g.allows(s) { // with an error, nothing is started
			continue
		}
		waiting = append(waiting, s.Name)
		if old := serverOf(running, s.Name); old != nil && old.Err == nil {
			settings := *s
			*s = *old
			copySettings(s, &settings)
			message := fmt.Sprintf("server %q: the change to what it runs, contacts or sends, or to its tools, takes effect once you approve it; %s", s.Name, remedy)
			c.Findings = append(c.Findings, toolpost.Finding{Message: message})
			continue
		}
		s.Err = fmt.Errorf("it is new and is not started until you approve it; %s", remedy)
	}
	waiting = append(waiting, g.admitProfiles(&c, remedy)...)
	return &c, append(waiting, g.admitRules(&c, remedy)...)
}

// admitRules adds the approved rules of approvals to those that may loosen them. The
// strictest of both decides, so that what tightens them holds at once. It returns the
// places of the rules that wait.
func (g *Guard) admitRules(c *config.Config, remedy string) (waiting []string) {
	one := func(profile, place string, next []config.ApprovalList) []config.ApprovalList {
		approved := g.rules[profile]
		if tightens(approved, rulesOf(next)) {
			return next
		}
		waiting = append(waiting, place)
		message := fmt.Sprintf("%s: the change may loosen the rules, so the rules before it hold too until you approve it; %s", place, remedy)
		c.Findings = append(c.Findings, toolpost.Finding{Message: message})
		return append(slices.Clone(next), config.ApprovalList{Name: place + " before the change", Rules: approved})
	}
	c.Approvals = one("", "approvals", c.Approvals)
	for i := range c.Profiles { // admitProfiles has made a copy
		p := &c.Profiles[i]
		p.Approvals = one(p.Name, "profiles."+p.Name+".approvals", p.Approvals)
	}
	return waiting
}

// rulesOf returns the rules of a configuration that was read from one file.
func rulesOf(lists []config.ApprovalList) (rules []config.ApprovalRule) {
	for _, l := range lists {
		rules = append(rules, l.Rules...)
	}
	return rules
}

// tightens reports whether rules that replace others let no call through that the others
// stop. It may report false for rules that do.
func tightens(before, after []config.ApprovalRule) bool {
	if len(before) == 0 {
		return true
	}
	for _, r := range after {
		switch {
		case len(before) > 0 && reflect.DeepEqual(before[0], r):
			before = before[1:]
		case r.Action != string(approval.Deny):
			return false
		}
	}
	return len(before) == 0
}

// admitProfiles removes from profiles what is not approved, and returns those of which
// something waits.
func (g *Guard) admitProfiles(c *config.Config, remedy string) (waiting []string) {
	c.Profiles = slices.Clone(c.Profiles)
	for i := range c.Profiles {
		p := &c.Profiles[i]
		waits := ""
		switch approved, known := g.profiles[p.Name]; {
		case !known:
			waits = "it is new and is not served until you approve it"
			p.Clients, p.Token, p.Err = nil, "", fmt.Errorf("profile %q: %s", p.Name, waits) // clients read it: no path of this machine
		case hold(p, &approved):
			waits = "the change of its clients, or of the tools that it serves, takes effect once you approve it"
		}
		if p.Token != "" && g.profiles[p.Name].Token != p.Token {
			waits, p.Token = "its new token is accepted once you approve it", ""
		}
		if waits == "" {
			continue
		}
		waiting = append(waiting, "profile "+p.Name)
		c.Findings = append(c.Findings, toolpost.Finding{Message: fmt.Sprintf("profile %q: %s; %s", p.Name, waits, remedy)})
	}
	return waiting
}

// hold makes p serve nothing that the approved profile does not, under no other names
// and descriptions. It reports whether a change waits.
func hold(p, approved *config.Profile) (waits bool) {
	next := *p
	p.Clients, p.Tools = approved.Clients, approved.Tools
	narrow(p, approved)
	next.Tools, p.Tools = changesOf(next.Tools), changesOf(p.Tools)
	return !reflect.DeepEqual(&next, p)
}

// narrow makes p select nothing that the approved profile does not.
func narrow(p, approved *config.Profile) {
	p.Servers, p.Include = narrowGlobs(approved.Servers, p.Servers), narrowGlobs(approved.Include, p.Include)
	p.ReadOnly = p.ReadOnly || approved.ReadOnly
	p.Exclude = slices.Clone(p.Exclude)
	for _, glob := range approved.Exclude {
		if !slices.Contains(p.Exclude, glob) {
			p.Exclude = append(p.Exclude, glob)
		}
	}
}

// narrowGlobs returns next if it has only globs of approved. None means all.
func narrowGlobs(approved, next []string) []string {
	isNew := func(glob string) bool { return !slices.Contains(approved, glob) }
	if len(approved) == 0 || len(next) > 0 && !slices.ContainsFunc(next, isNew) {
		return next
	}
	return approved
}

func serverOf(c *config.Config, name string) *config.Server {
	for i := range c.Servers {
		if c.Servers[i].Name == name {
			return &c.Servers[i]
		}
	}
	return nil
}

func (g *Guard) allows(s *config.Server) bool {
	want := definitionOf(s)
	return slices.ContainsFunc(g.approved, func(d config.Server) bool { return reflect.DeepEqual(d, want) })
}

// definitionOf returns s without its settings and without fields that follow from
// the others. Two servers with equal definitions run, contact and send the
// same.
func definitionOf(s *config.Server) config.Server {
	d := *s
	copySettings(&d, &config.Server{})
	d.Err, d.Wrap = nil, nil // they do not come from the file
	d.Tools = changesOf(d.Tools)
	if len(d.Args) == 0 {
		d.Args = nil
	}
	if len(d.Env) == 0 {
		d.Env = nil
	}
	if len(d.Headers) == 0 {
		d.Headers = nil
	}
	return d
}

// changesOf returns the one form of changes that change nothing.
func changesOf(b config.ToolChanges) config.ToolChanges {
	if b.IsZero() {
		return config.ToolChanges{}
	}
	return b
}

// copySettings copies what may change without an approval. A field that is not
// listed here belongs to the definition.
func copySettings(to, from *config.Server) {
	to.Prefix, to.Outputs, to.Required = from.Prefix, from.Outputs, from.Required
	to.Allow, to.Deny, to.Extensions = from.Allow, from.Deny, from.Extensions
	to.ProtocolVersion, to.MaxMessage = from.ProtocolVersion, from.MaxMessage
	to.CallTimeout, to.ConnectTimeout, to.ProbeTimeout = from.CallTimeout, from.ConnectTimeout, from.ProbeTimeout
	if to.Source == nil {
		return
	}
	settings := &config.Source{}
	if from.Source != nil {
		settings = from.Source
	}
	o := *to.Source
	o.Groups, o.ReadOnly, o.Timeout = settings.Groups, settings.ReadOnly, settings.Timeout
	to.Source = &o
}
