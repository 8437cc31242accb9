package gateway

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway/internal/retool"
	"github.com/toolpost/toolpost/internal/policy/approval"
	"github.com/toolpost/toolpost/observe"
)

// A profile is a [config.Profile] that is ready to be asked.
type profile struct {
	*config.Profile

	rules                     []func(name, version, userAgent string) bool // of clients
	servers, include, exclude *regexp.Regexp                               // nil for none
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
	if p.approvals, err = compileApprovals(cfg.Approvals); err != nil {
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
func (p *profile) isFor(r observe.Client) bool {
	for _, isFor := range p.rules {
		if isFor(r.Name, r.Version, r.UserAgent) {
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

// A profileLayer is what clients of a profile get of a source. One listing runs
// at a time, and its features are asked for after its tools.
type profileLayer struct {
	toolpost.Toolset // of all clients
	*profile

	behind  *lists // the servers; nil if there are none
	changes *retool.Retooler
	readers *regexp.Regexp           // the tools that read long outputs
	report  func([]toolpost.Finding) // of each listing

	total, kept map[string]int // tools of each server, and those in the profile, of the last listing

	from, own *toolpost.Features              // own is made of from
	limits    atomic.Pointer[map[string]bool] // the servers that own is limited to; nil before the first listing

	ruled map[*toolpost.Tool]*toolpost.Tool // tools with the approval rules of the profile, of the last listing
}

// layer returns ts with what is in the profile. Report is called after each
// listing.
func (p *profile) layer(ts toolpost.Toolset, behind *lists, report func([]toolpost.Finding)) *profileLayer {
	return &profileLayer{Toolset: ts, profile: p, behind: behind, changes: retool.New(p.Profile.Tools), readers: globs([]string{outputTools}), report: report}
}

// Tools returns the tools of the profile. Names and servers are compared before
// the tools change, annotations after it.
func (l *profileLayer) Tools(ctx context.Context) ([]*toolpost.Tool, error) {
	all, err := l.Toolset.Tools(ctx)
	if err != nil {
		return nil, err
	}
	from, complete := l.behind.origins(), l.behind.complete()
	l.total, l.kept = map[string]int{}, map[string]int{}
	var names []string
	var selected []*toolpost.Tool
	for _, t := range all {
		server := from.tools[t.Name]
		names = append(names, t.Name)
		l.total[server]++
		if l.denies(from, t.Name) {
			continue
		}
		if l.has(t.Name, server) || l.readsOutputs(t.Name, server) {
			l.kept[server]++
			selected = append(selected, t)
		}
	}
	changed, findings := l.changes.Apply(selected, complete)
	if complete {
		findings = append(findings, l.findUnmatched(names, from)...)
	}
	for i := range findings {
		findings[i].Message = fmt.Sprintf("profile %s: %s", l.Name, findings[i].Message)
	}
	l.report(findings)
	return l.rule(slices.DeleteFunc(changed, func(t *toolpost.Tool) bool { return !l.permits(t.Annotations) })), nil
}

// denies reports whether the approval rules of the profile deny all calls of a tool.
func (l *profileLayer) denies(from origins, tool string) bool {
	own := from.own[tool]
	if own == nil {
		return false
	}
	rule, _ := l.approvals.Denies(approval.Target{Server: from.tools[tool], Tool: own.Name, Definition: &own.Definition})
	return rule != ""
}

// rule returns tools whose calls are decided by the approval rules of the profile. A
// tool that is listed again stays the same.
func (l *profileLayer) rule(tools []*toolpost.Tool) []*toolpost.Tool {
	if l.approvals == nil {
		return tools
	}
	ruled := make(map[*toolpost.Tool]*toolpost.Tool, len(tools))
	for i, t := range tools {
		if ruled[t] = l.ruled[t]; ruled[t] == nil {
			c := *t
			c.Handler = inProfile(t.Handler, l.Name)
			ruled[t] = &c
		}
		tools[i] = ruled[t]
	}
	l.ruled = ruled
	return tools
}

// readsOutputs reports whether a tool reads long outputs, and the profile does not
// exclude it: results name these tools, so a profile has them, whatever it includes.
func (l *profileLayer) readsOutputs(name, server string) bool {
	return l.behind != nil && server == "" && match(l.readers, name) && !match(l.exclude, name)
}

// findUnmatched reports globs that match nothing.
func (l *profileLayer) findUnmatched(names []string, from origins) (findings []toolpost.Finding) {
	tools := slices.Clone(names)
	for name := range from.prompts {
		names = append(names, name)
	}
	slices.Sort(names)
	note := func(key string, patterns, names []string, of string) {
		for _, pattern := range patterns {
			if !slices.ContainsFunc(names, globs([]string{pattern}).MatchString) {
				findings = append(findings, toolpost.Finding{Message: fmt.Sprintf("%s: %q matches no %s; %s", key, pattern, of, suggestTool(pattern, names))})
			}
		}
	}
	note("include", l.Include, names, "tool or prompt")
	note("exclude", l.Exclude, names, "tool or prompt")
	note("pin", l.Pin, tools, "tool")
	if l.behind != nil {
		var servers []string
		for _, m := range l.behind.current() {
			servers = append(servers, m.server.Name)
		}
		for _, pattern := range l.Servers {
			if !slices.ContainsFunc(servers, globs([]string{pattern}).MatchString) {
				findings = append(findings, toolpost.Finding{Message: fmt.Sprintf("servers: %q matches no server", pattern)})
			}
		}
	}
	return findings
}

// Features returns the prompts and resources of the profile.
func (l *profileLayer) Features() *toolpost.Features {
	f := l.Toolset.Features()
	if f == nil {
		return nil
	}
	from := l.behind.origins()
	servers, all := l.reachableServers(from)
	if before := l.limits.Load(); f == l.from && before != nil && maps.Equal(servers, *before) {
		return l.own
	}
	c := *f
	l.from, l.own = f, &c
	l.limits.Store(&servers)
	c.Prompts = slices.DeleteFunc(slices.Clone(f.Prompts), func(p *toolpost.Prompt) bool { return !l.has(p.Name, from.prompts[p.Name]) })
	c.Resources = slices.DeleteFunc(slices.Clone(f.Resources), func(r *toolpost.Resource) bool {
		return !all && !servers[from.resources[resourceID{r.URI, r.Template}]]
	})
	if !all {
		l.limit(&c, servers)
	}
	if l.approvals != nil && c.Extend != nil {
		c.Extend = inProfile(c.Extend, l.Name)
	}
	return l.own
}

// hears reports whether an event is of a server in the profile.
func (l *profileLayer) hears(e toolpost.Event) bool {
	if e.Server == "" || l.behind == nil {
		return true
	}
	limits := l.limits.Load()
	return limits != nil && (*limits)[e.Server]
}

// reachableServers returns the servers whose resources and extensions are in the profile:
// those that it names, or else those of which it has a tool or prompt. A server
// that has neither is in the profile unless that includes by name. All reports
// whether no server is left out.
func (l *profileLayer) reachableServers(from origins) (servers map[string]bool, all bool) {
	if l.behind == nil {
		return nil, true
	}
	for name, server := range from.prompts {
		l.total[server]++
		if l.passes(name) {
			l.kept[server]++
		}
	}
	servers, all = map[string]bool{}, true
	for _, m := range l.behind.current() {
		name := m.server.Name
		in := l.admits(name)
		if l.servers == nil {
			in = l.kept[name] > 0 || l.total[name] == 0 && l.include == nil
		}
		servers[name] = in
		all = all && in
	}
	return servers, all
}

// limit keeps requests that name no tool or prompt from reaching other servers.
func (l *profileLayer) limit(f *toolpost.Features, servers map[string]bool) {
	says := l.behind.joinFeatures(servers)
	f.Instructions, f.Capabilities, f.Notified = says.Instructions, says.Capabilities, says.Notified
	f.ServerInfo, f.ServerCapabilities, f.Incomplete = says.ServerInfo, says.ServerCapabilities, says.Incomplete
	limited := func(h toolpost.Handler) toolpost.Handler {
		if h == nil {
			return nil
		}
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return h(limitServers(ctx, servers), call)
		}
	}
	if f.ReadUnlisted = limited(f.ReadUnlisted); says.ReadUnlisted == nil {
		f.ReadUnlisted = nil
	}
	if f.Extend = limited(f.Extend); says.Extend == nil {
		f.Extend = nil
	}
	subscribe := f.Subscribe
	if f.Subscribe = nil; subscribe != nil && says.Subscribe != nil {
		f.Subscribe = func(ctx context.Context, uri string, on bool) error {
			return subscribe(limitServers(ctx, servers), uri, on)
		}
	}
}
