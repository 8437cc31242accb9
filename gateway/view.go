package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/toolsearch"
)

// A view is the source of the Live that some clients get.
type view struct {
	toolpost.Toolset        // of all clients, or of sessions
	servers          *lists // behind it; nil if there are none

	key   viewKey
	views *Views
	live  atomic.Pointer[toolpost.Live] // nil until it was listed

	opening sync.Mutex
	closed  bool

	// The layers, and what they were made for. One listing runs at a time.
	made    viewParts
	layers  toolpost.Toolset
	profile atomic.Pointer[profileLayer] // of layers; nil if there is none
	places  places

	searched bool // tools were searched, not listed, by the last listing

	noting   sync.Mutex
	findings []toolpost.Finding // of the last listing
}

// errClosed is the error of a view that was closed.
var errClosed = errors.New("the gateway is closed")

func (a *view) open() (*toolpost.Live, error) {
	if live := a.live.Load(); live != nil {
		return live, nil
	}
	a.opening.Lock()
	defer a.opening.Unlock()
	if live := a.live.Load(); live != nil {
		return live, nil
	}
	if a.closed {
		return nil, errClosed
	}
	live, err := toolpost.NewLive(context.Background(), a)
	if err != nil {
		return nil, err
	}
	a.live.Store(live)
	return live, nil
}

func (a *view) close() {
	a.opening.Lock()
	defer a.opening.Unlock()
	a.closed = true
	if live := a.live.Load(); live != nil {
		live.Close()
	}
}

// Tools lists the tools of the view. A defect that one tool reveals must not end
// the clients of other views.
func (a *view) Tools(ctx context.Context) (tools []*toolpost.Tool, err error) {
	log := a.views.opts.Logger
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic", "profile", a.key.profile, "dialect", a.key.dialect, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("adapt tools to %s: internal error; the log has the details", a.key.dialect)
		}
	}()
	parts, err := a.parts()
	if err != nil {
		return nil, err // the profile or dialect is gone, and so is this view
	}
	if parts != a.made {
		a.layers, a.made = a.compose(parts), parts
	}
	if tools, err = a.layers.Tools(ctx); err != nil {
		log.Error("cannot refresh the tools", "profile", a.key.profile, "dialect", a.key.dialect, "err", err)
	}
	return tools, err
}

// Watch calls f with the events that clients of the view may hear of: those of
// servers outside its profile are not among them.
func (a *view) Watch(f func(toolpost.Event)) (stop func()) {
	return a.Toolset.Watch(func(e toolpost.Event) {
		if p := a.profile.Load(); p == nil || p.hears(e) {
			f(e)
		}
	})
}

// note records the findings of a listing. Those of one session wait for the next refresh:
// each view of each session would cause one, for all of them.
func (a *view) note(findings []toolpost.Finding) {
	a.noting.Lock()
	same := slices.Equal(a.findings, findings)
	a.findings = findings
	a.noting.Unlock()
	if !same && a.key.lists == nil {
		a.views.noted()
	}
}

// Features returns the prompts and resources of the view. The tools are listed
// before.
func (a *view) Features() *toolpost.Features {
	if a.layers == nil {
		return nil
	}
	return a.layers.Features()
}

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
	if a.key.dialect != noDialect {
		if p.dialect, err = c.book().Find(a.key.dialect); err != nil {
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
func (a *view) compose(p viewParts) toolpost.Toolset {
	ts := a.Toolset
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
		ts = p.dialect.Layer(ts, &dialect.Options{Server: p.server, Report: a.views.opts.Adapted})
	}
	return ts
}

// searchLimits are the limits above which tools are searched instead of listed; 0
// means none.
type searchLimits struct {
	budget, tools int
	pins          string // globs of tools that are always listed, one a line
}

// outputTools is a glob of the tools that read long outputs. Results name them, so
// they are always listed.
const outputTools = "tool_output_cache*"

// defaultSearchBudget is how many tokens of definitions known clients list: a quarter
// of a context of 200,000.
const defaultSearchBudget = 50_000

// searchLimits returns the limits of a view. Clients that defer tools themselves get
// all of them. A budget of the configuration counts for every client whose tools are
// adapted, and the default one for clients that a dialect knows by their names.
func (p viewParts) searchLimits(s config.Search) (l searchLimits) {
	if p.dialect != nil && p.dialect.Defers {
		return l
	}
	pins := append(slices.Clone(s.Pin), outputTools)
	if p.dialect != nil && !s.Off {
		l.budget = s.Budget
		l.tools, _ = p.dialect.MaxList()
		if l.budget == 0 && len(p.dialect.Clients) > 0 {
			l.budget = defaultSearchBudget
		}
	}
	if p.profile != nil {
		pins = append(pins, p.profile.Pin...)
		if p.profile.Budget > 0 {
			l.budget = p.profile.Budget
		}
	}
	if l.budget > 0 || l.tools > 0 {
		l.pins = strings.Join(pins, "\n")
	}
	return l
}

// searchLayer returns ts, or a search of it if it exceeds the limits.
func (a *view) searchLayer(ts toolpost.Toolset, l searchLimits) toolpost.Toolset {
	if l == (searchLimits{}) {
		a.reportSearch(l, toolsearch.Report{})
		return ts
	}
	pinned := globs(strings.Split(l.pins, "\n"))
	return toolsearch.Layer(ts, &toolsearch.Options{
		Budget: l.budget, Tools: l.tools,
		Pinned: func(name string) bool { return match(pinned, name) },
		Report: func(r toolsearch.Report) { a.reportSearch(l, r) },
	})
}

// reportSearch logs that tools are searched from now on, or no longer.
func (a *view) reportSearch(l searchLimits, r toolsearch.Report) {
	if r.Active == a.searched {
		return
	}
	a.searched = r.Active
	if a.key.lists != nil {
		return // the log has it of all clients
	}
	log := a.views.opts.Logger.With("profile", a.key.profile, "dialect", a.key.dialect)
	if r.Active {
		log.Info("most tools are not listed; the client finds them with find_tools", "tools", r.Tools, "tokens", r.Tokens,
			"listed", r.Listed, "listed_tokens", r.Costs, "budget", l.budget, "most_tools", l.tools)
	} else {
		log.Info("all tools are listed again")
	}
}

// places remembers the order in which clients of a view saw its tools first.
// Known tools keep their places and new ones come at the end, so that a client
// that defers tools, or caches a prompt that lists them, loses as little as
// possible. The zero value is ready.
type places struct{ of map[string]int }

// maxPlaces is how many names of tools are remembered: servers make them up.
const maxPlaces = 20_000

// layer returns ts with its tools in their places.
func (p *places) layer(ts toolpost.Toolset) toolpost.Toolset {
	return toolpost.Layer(ts, func(tools []*toolpost.Tool) ([]*toolpost.Tool, error) { return p.sort(tools), nil }, nil)
}

func (p *places) sort(tools []*toolpost.Tool) []*toolpost.Tool {
	if p.of == nil || len(p.of) > maxPlaces {
		p.of = map[string]int{}
	}
	for _, t := range tools {
		if _, known := p.of[t.Name]; !known {
			p.of[t.Name] = len(p.of)
		}
	}
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b *toolpost.Tool) int { return p.of[a.Name] - p.of[b.Name] })
	return sorted
}
