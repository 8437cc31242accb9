package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/toolpost/toolpost"
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
	approved []Server                  // definitions that may run
	profiles map[string]Profile        // that may be served, by name
	rules    map[string][]ApprovalRule // the approvals that hold, by profile; "" for those of the file
}

// NewGuard returns a guard that allows the servers of cfg to run.
func NewGuard(cfg *Config) *Guard {
	g := &Guard{}
	g.Approve(cfg)
	return g
}

// Approve allows the servers of cfg to run, and no others from now on.
func (g *Guard) Approve(cfg *Config) {
	g.approved, g.profiles, g.rules = nil, map[string]Profile{}, map[string][]ApprovalRule{"": rulesOf(cfg.Approvals)}
	for _, p := range cfg.Profiles {
		g.profiles[p.Name], g.rules[p.Name] = p, rulesOf(p.Approvals)
	}
	for i := range cfg.Servers {
		if s := &cfg.Servers[i]; !s.Disabled {
			g.approved = append(g.approved, s.definition())
		}
	}
}

// Admit returns next without its definitions that are not approved. Such a
// server keeps its definition from running; if running does not have the
// server, it is listed as failed. Waiting contains the names of these servers,
// and "profile NAME" for profiles of which something waits.
// Remedy explains how to approve the file; it is appended to the messages about
// these servers.
func (g *Guard) Admit(running, next *Config, remedy string) (admitted *Config, waiting []string) {
	c := *next
	c.Servers, c.Findings = slices.Clone(next.Servers), slices.Clone(next.Findings)
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Disabled || s.Err != nil || g.allows(s) { // with an error, nothing is started
			continue
		}
		waiting = append(waiting, s.Name)
		if old := running.server(s.Name); old != nil && old.Err == nil {
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
func (g *Guard) admitRules(c *Config, remedy string) (waiting []string) {
	one := func(profile, place string, next []ApprovalList) []ApprovalList {
		approved := g.rules[profile]
		equal := func(a, b approval.Rule) bool { return reflect.DeepEqual(a, b) }
		if approval.Tightens(policyRules(approved), policyRules(rulesOf(next)), equal) {
			return next
		}
		waiting = append(waiting, place)
		message := fmt.Sprintf("%s: the change may loosen the rules, so the rules before it hold too until you approve it; %s", place, remedy)
		c.Findings = append(c.Findings, toolpost.Finding{Message: message})
		return append(slices.Clone(next), ApprovalList{Name: place + " before the change", Rules: approved})
	}
	c.Approvals = one("", "approvals", c.Approvals)
	for i := range c.Profiles { // admitProfiles has made a copy
		p := &c.Profiles[i]
		p.Approvals = one(p.Name, "profiles."+p.Name+".approvals", p.Approvals)
	}
	return waiting
}

// rulesOf returns the rules of a configuration that was read from one file.
func rulesOf(lists []ApprovalList) (rules []ApprovalRule) {
	for _, l := range lists {
		rules = append(rules, l.Rules...)
	}
	return rules
}

// policyRules returns rules as package approval has them.
func policyRules(rules []ApprovalRule) (all []approval.Rule) {
	for i := range rules {
		all = append(all, *rules[i].rule())
	}
	return all
}

// admitProfiles removes from profiles what is not approved, and returns those of which
// something waits.
func (g *Guard) admitProfiles(c *Config, remedy string) (waiting []string) {
	c.Profiles = slices.Clone(c.Profiles)
	for i := range c.Profiles {
		p := &c.Profiles[i]
		waits := ""
		switch approved, known := g.profiles[p.Name]; {
		case !known:
			waits = "it is new and is not served until you approve it"
			p.Clients, p.Token, p.Err = nil, "", fmt.Errorf("profile %q: %s", p.Name, waits) // clients read it: no path of this machine
		case p.hold(&approved):
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
func (p *Profile) hold(approved *Profile) (waits bool) {
	next := *p
	p.Clients, p.Tools = approved.Clients, approved.Tools
	p.narrow(approved)
	next.Tools, p.Tools = definitionOf(next.Tools), definitionOf(p.Tools)
	return !reflect.DeepEqual(&next, p)
}

// narrow makes p select nothing that the approved profile does not.
func (p *Profile) narrow(approved *Profile) {
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

func (g *Guard) allows(s *Server) bool {
	want := s.definition()
	return slices.ContainsFunc(g.approved, func(d Server) bool { return reflect.DeepEqual(d, want) })
}

// definition returns s without its settings and without fields that follow from
// the others. Two servers with equal definitions run, contact and send the
// same.
func (s *Server) definition() Server {
	d := *s
	copySettings(&d, &Server{})
	d.Err, d.environment = nil, nil // the variables of the environment file are in Env
	d.Wrap = nil                    // it does not come from the file
	d.Tools = definitionOf(d.Tools)
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

// definitionOf returns the one form of a block that changes nothing.
func definitionOf(b ToolChanges) ToolChanges {
	if b.IsZero() {
		return ToolChanges{}
	}
	return b
}

// copySettings copies what may change without an approval. A field that is not
// listed here belongs to the definition.
func copySettings(to, from *Server) {
	to.Prefix, to.Outputs, to.Required = from.Prefix, from.Outputs, from.Required
	to.Allow, to.Deny, to.Extensions = from.Allow, from.Deny, from.Extensions
	to.ProtocolVersion, to.MaxMessage = from.ProtocolVersion, from.MaxMessage
	to.CallTimeout, to.ConnectTimeout, to.ProbeTimeout = from.CallTimeout, from.ConnectTimeout, from.ProbeTimeout
	if to.Source == nil {
		return
	}
	settings := &Source{}
	if from.Source != nil {
		settings = from.Source
	}
	o := *to.Source
	o.Groups, o.ReadOnly, o.Timeout = settings.Groups, settings.ReadOnly, settings.Timeout
	to.Source = &o
}
