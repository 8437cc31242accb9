package toolsearch

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Options determine when a [Layer] searches. Without a limit it never does.
type Options struct {
	Budget int                    // tokens of all definitions, as [dialect.Tokens] estimates them; 0 means no limit
	Tools  int                    // how many tools the client accepts; 0 means no limit
	Pinned func(name string) bool // reports whether a tool is always listed; nil pins none
	Report func(Report)           // is called after each listing; may be nil
}

// A Report describes one listing of a [Layer].
type Report struct {
	Active        bool // the tools are searched, not listed
	Tools, Tokens int  // of the toolset
	Listed, Costs int  // how many tools are listed, and the tokens of their definitions
}

// Layer returns ts, unless its definitions exceed a limit. Then only the pinned tools
// are listed, and find_tools, call_tool_read and call_tool_write, with which a model
// finds and calls every tool but those that are for MCP Apps only. Tools that are not
// listed can still be called by their own names. Prompts and resources stay as they are.
func Layer(ts toolpost.Toolset, opts *Options) toolpost.Toolset {
	l := &layer{}
	if opts != nil {
		l.opts = *opts
	}
	return toolpost.Layer(ts, l.tools, nil)
}

type layer struct {
	opts     Options
	index    atomic.Pointer[index]             // of the last listing that was searched
	unlisted map[*toolpost.Tool]*toolpost.Tool // of the last listing, by the tool below
}

func (l *layer) tools(tools []*toolpost.Tool) ([]*toolpost.Tool, error) {
	r := Report{Tools: len(tools), Listed: len(tools)}
	for _, t := range tools {
		r.Tokens += dialect.Tokens(t)
	}
	r.Costs = r.Tokens
	o := l.opts
	if r.Active = o.Tools > 0 && r.Tools > o.Tools || o.Budget > 0 && r.Tokens > o.Budget; r.Active {
		tools = l.search(tools, &r)
	} else {
		l.index.Store(nil)
		l.unlisted = nil
	}
	if l.opts.Report != nil {
		l.opts.Report(r)
	}
	return tools, nil
}

// search returns the tools of a search, which reads the definitions when it is first
// used, then the pinned ones, then the others, which are not listed.
func (l *layer) search(tools []*toolpost.Tool, r *Report) []*toolpost.Tool {
	found := slices.DeleteFunc(slices.Clone(tools), func(t *toolpost.Tool) bool { return wire.ForAppsOnly(t.Meta) })
	all := newCatalogue(found, tools, sync.OnceValue(func() *index {
		x := newIndex(found, l.index.Load())
		l.index.Store(x)
		return x
	})).tools()
	now := make(map[*toolpost.Tool]*toolpost.Tool, len(tools))
	for _, t := range tools {
		if l.opts.Pinned != nil && l.opts.Pinned(t.Name) {
			all = append(all, t)
		}
	}
	r.Listed, r.Costs = len(all), 0
	for _, t := range all {
		r.Costs += dialect.Tokens(t)
	}
	for _, t := range tools {
		if l.opts.Pinned != nil && l.opts.Pinned(t.Name) {
			continue
		}
		if now[t] = l.unlisted[t]; now[t] == nil {
			c := *t
			c.Policy.Unlisted = true
			now[t] = &c
		}
		all = append(all, now[t])
	}
	l.unlisted = now
	return all
}

// freeName returns a name that no tool has.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}
