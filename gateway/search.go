package gateway

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/toolsearch"
)

// searchLimits are the limits above which tools are searched instead of listed; 0
// means none.
type searchLimits struct {
	budget, tools int
	pins          string // globs of tools that are always listed, one a line
}

// outputTools is a glob of the tools that read long outputs. Results name them, so
// they are always listed.
const outputTools = "tool_output_cache*"

// searchLimits returns the limits of a view. Clients that defer tools themselves get
// all of them. A budget of the configuration counts for every client whose tools are
// adapted, and the default one for clients that a dialect knows by their names.
func (p viewParts) searchLimits(s config.Search) (l searchLimits) {
	if p.dialect != nil && p.dialect.Defers {
		return l
	}
	pins := append(slices.Clone(s.Pin), outputTools)
	if p.dialect != nil && !s.Off {
		l.budget, l.tools = s.Budget, p.dialect.List.Tools
		if l.budget == 0 && len(p.dialect.Clients) > 0 {
			l.budget = config.DefaultSearchBudget
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
func (a *view) searchLayer(ts toolpost.Source, l searchLimits) toolpost.Source {
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
