package gateway

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway/internal/retool"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/approval"
	"github.com/toolpost/toolpost/internal/policy/pins"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/upstream"
)

// chain composes what tools pass on their way from a server to a client, and
// prompts and resources from the join on. A member keeps its layers, so that its
// tools stay the same.
//
//	of each server:
//	keepUsable       leaves out what clients cannot be shown
//	keepApproved     leaves out definitions that differ from their pins
//	applyFilters     leaves out what the configuration filters out
//	removeDenied     leaves out tools whose calls the approval rules all deny
//	applySettings    sets the limits of outputs
//	cleanDefinition  removes hidden characters
//	routeCalls       takes calls to the server
//	applyChanges     changes names, texts and arguments as the configuration says
//
//	of all servers together:
//	join             one name for each tool and prompt, one URI for each resource;
//	                 by its name, a tool is quiet: its calls are logged at debug level
//	Wrap             the program's middleware
//	output           shortens what a tool returns
//	Live             what all clients share
//	profile, dialect for each kind of client, see [view.compose]
func (m *member) chain() toolpost.Toolset {
	own := toolpost.Toolset(toolpost.ToolsetFunc(m.tools)) // under the server's own names
	own = mapListing(own, m.keepUsable)
	own = mapListing(own, m.keepApproved)
	own = mapListing(own, m.applyFilters)
	own = mapListing(own, m.removeDenied)
	own = toolpost.Map(own, m.applySettings)
	own = mapListing(own, m.forgetHidden)
	own = toolpost.Map(own, m.cleanDefinition)
	own = toolpost.Map(own, m.routeCalls)
	return mapListing(own, m.applyChanges())
}

// serve composes what the tools of lists pass from the join to the Live of their clients.
func (g *Gateway) serve(l *lists, outputs *output.Cache) toolpost.Toolset {
	var ts toolpost.Toolset = &joinedServers{lists: l} // what join made of all members
	if g.options.Middleware != nil {
		ts = toolpost.Wrap(ts, g.options.Middleware)
	}
	if outputs != nil {
		ts = outputs.Layer(ts)
	}
	return ts
}

// newOutputs returns what shortens outputs, nil if the configuration wants none.
func (g *Gateway) newOutputs(o config.Output) *output.Cache {
	if g.options.Store == nil || o.Off {
		return nil
	}
	return output.New(g.options.Store, &output.Options{Lines: o.Lines, Chars: o.Chars, Errors: o.Errors, Logger: g.logger})
}

// mapListing returns ts with the tools that f returns. It is called at each listing,
// since more than the tools may have changed.
func mapListing(ts toolpost.Toolset, f func([]*toolpost.Tool) []*toolpost.Tool) toolpost.Toolset {
	return toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		tools, err := ts.Tools(ctx)
		if err != nil {
			return nil, err
		}
		return f(tools), nil
	})
}

// offers returns the tools of m, also those that are withheld.
func (m *member) offers(ctx context.Context) (offers []offer[*toolpost.Tool]) {
	m.findings = nil
	tools, err := m.layers.Tools(ctx)
	if err != nil {
		m.note("", "its tools cannot be listed: %v", err)
		return m.offered // their names stay those of this server
	}
	for _, t := range tools {
		offers = append(offers, offer[*toolpost.Tool]{m, t, t.Name, ""})
	}
	for _, w := range m.withheld {
		offers = append(offers, offer[*toolpost.Tool]{m, nil, w.name, w.why})
	}
	for _, f := range m.status().Skipped {
		m.note(m.prefix+f.Tool, "%s", f.Message)
	}
	m.offered = offers
	return offers
}

// note adds a finding of the listing under way. The tool is that of clients, ""
// for findings about several.
func (m *member) note(tool, format string, args ...any) {
	text := "server " + m.server.Name + ": " + fmt.Sprintf(format, args...)
	m.findings = append(m.findings, toolpost.Finding{Tool: tool, Message: text})
}

// keepUsable leaves out tools that clients cannot be shown: of several whose names
// look the same, all but the first.
func (m *member) keepUsable(tools []*toolpost.Tool) (usable []*toolpost.Tool) {
	first := map[string]string{} // the server's name, by the name without hidden characters
	for _, t := range tools {
		if t == nil || t.Name == "" || t.Handler == nil || t.Input == nil {
			m.note("", "a tool without a name, a handler or an input schema is left out")
			continue
		}
		name := cleartext.Clean(t.Name)
		switch other, taken := first[name]; {
		case name == "":
			m.note("", "its tool %q is left out, because its name consists of hidden characters", t.Name)
		case taken:
			m.note("", "its tool %q is left out, because clients cannot distinguish its name from that of its tool %q", t.Name, other)
		default:
			first[name] = t.Name
			usable = append(usable, t)
		}
	}
	return usable
}

// A withheld tool is one whose definition the user has yet to approve.
type withheldTool struct {
	name string // on the server
	why  pins.Reason
}

// keepApproved leaves out tools that are withheld. Tools that a filter leaves out
// later are pinned too.
func (m *member) keepApproved(tools []*toolpost.Tool) (approved []*toolpost.Tool) {
	m.withheld = nil
	if len(tools) == 0 && m.status().State != upstream.Ready {
		return nil // the server has not been asked yet
	}
	reasons := m.pins.review(m.lister(), tools)
	for _, t := range tools {
		if why := reasons[pinName(t.Name)]; why != "" {
			m.withheld = append(m.withheld, withheldTool{t.Name, why})
		} else {
			approved = append(approved, t)
		}
	}
	return approved
}

// applyFilters leaves out tools by the filters of the configuration. A filter that
// matches no tool of a server that is ready is reported.
func (m *member) applyFilters(tools []*toolpost.Tool) (filtered []*toolpost.Tool) {
	var names []string
	passes := func(name string) bool {
		name = cleartext.Clean(name)
		names = append(names, name)
		return (m.allow == nil || match(m.allow, name)) && !match(m.deny, name)
	}
	m.withheld = slices.DeleteFunc(m.withheld, func(w withheldTool) bool { return !passes(w.name) })
	m.noteWithheld()
	for _, t := range tools {
		if passes(t.Name) {
			filtered = append(filtered, t)
		}
	}
	if m.status().State != upstream.Ready {
		return filtered
	}
	for _, pattern := range slices.Concat(m.server.Allow, m.server.Deny) {
		if !slices.ContainsFunc(names, globs([]string{pattern}).MatchString) {
			m.note("", "the filter %q matches none of its tools; %s", pattern, suggestTool(pattern, names))
		}
	}
	return filtered
}

// noteWithheld reports the tools that are withheld: in one line for each reason,
// as they have one cause and one remedy.
func (m *member) noteWithheld() {
	byReason := map[pins.Reason][]string{}
	for _, w := range m.withheld {
		byReason[w.why] = append(byReason[w.why], fmt.Sprintf("%q", w.name))
	}
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		tools := byReason[why]
		subject := "its tool " + tools[0] + " is"
		if len(tools) > 1 {
			subject = fmt.Sprintf("%d of its tools are", len(tools))
		}
		m.note("", "%s withheld, because %s%s", subject, why.Of(len(tools)), m.pins.advice(m.server.Name, why, tools))
	}
}

// removeDenied leaves out tools whose calls are all denied.
func (m *member) removeDenied(tools []*toolpost.Tool) (rest []*toolpost.Tool) {
	m.denied = map[string]string{}
	r := m.approver.rules.Load()
	for _, t := range tools {
		rule, reason := r.file.Denies(approval.Target{Server: m.server.Name, Tool: t.Name, Definition: &t.Definition})
		if rule == "" {
			rest = append(rest, t)
			continue
		}
		m.denied[cleartext.Clean(t.Name)] = denial(approval.Decision{Action: approval.Deny, Rule: rule, Reason: reason})
	}
	return rest
}

// applySettings sets what the configuration says about the calls of a tool.
func (m *member) applySettings(t *toolpost.Tool) *toolpost.Tool {
	t.Policy.MaxOutput = cmp.Or(m.outputLimit(cleartext.Clean(t.Name)), t.Policy.MaxOutput)
	return t
}

// cleanDefinition removes hidden characters and unsafe icons from the definition of a tool.
func (m *member) cleanDefinition(t *toolpost.Tool) *toolpost.Tool {
	sent := t.Definition
	t.Definition = removeHidden(sent)
	m.suspicions[t.Name] = suspicionOf(&t.Definition)
	m.hidden[t.Name] = lostText(&t.Definition, &sent) || hides(t.Name)
	return t
}

// forgetHidden forgets tools that are no longer listed: a server may make up names
// without end.
func (m *member) forgetHidden(tools []*toolpost.Tool) []*toolpost.Tool {
	listed := make(map[string]bool, len(tools))
	for _, t := range tools {
		listed[t.Name] = true
	}
	maps.DeleteFunc(m.suspicions, func(name string, _ *suspicion) bool { return !listed[name] })
	maps.DeleteFunc(m.hidden, func(name string, _ bool) bool { return !listed[name] })
	return tools
}

// routeCalls gives a tool a handler that takes the calls of clients: whatever the
// tool is called there, the server gets its own name.
func (m *member) routeCalls(t *toolpost.Tool) *toolpost.Tool {
	t.Handler = m.toClient(m.callServer(t), true)
	return t
}

// applyChanges returns a layer that applies the tools block of the configuration.
func (m *member) applyChanges() func([]*toolpost.Tool) []*toolpost.Tool {
	if m.server.Tools.IsZero() {
		return func(tools []*toolpost.Tool) []*toolpost.Tool { return tools }
	}
	r := retool.New(m.server.Tools)
	return func(tools []*toolpost.Tool) []*toolpost.Tool {
		defer func() { m.own = r.Sources() }()
		changed, findings := r.Apply(tools, m.status().State == upstream.Ready)
		for _, f := range findings {
			m.note(f.Tool, "%s", f.Message)
		}
		return changed
	}
}

// joinedServers is the toolset that join made of all members.
type joinedServers struct {
	toolpost.Base
	*lists
}

func (s *joinedServers) Tools(context.Context) ([]*toolpost.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined.tools, nil
}

func (s *joinedServers) Features() *toolpost.Features {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined.features
}

// outermost is the last layer at each moment: the source of the gateway's Live.
type outermost struct{ *Gateway }

func (s outermost) top() toolpost.Toolset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.layers
}

func (s outermost) Tools(ctx context.Context) ([]*toolpost.Tool, error) { return s.top().Tools(ctx) }

func (s outermost) Features() *toolpost.Features { return s.top().Features() }

func (s outermost) Watch(f func(toolpost.Event)) (stop func()) { return s.events.Watch(f) }
