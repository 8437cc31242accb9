// Package retool changes tools as a configuration says: their names, texts and
// arguments. Package config reads these changes.
//
//	Toolset ─▶ Retooler.Apply ─▶ other definitions, to clients
//	           plan           ◀─ other arguments, from clients
//
// Definitions and arguments are edited as raw JSON: what a change does not
// concern keeps its bytes and its order.
package retool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Retooler applies changes to the tools of one toolset, listing by listing. A
// tool that is listed again stays the same. It is not safe for concurrent use.
type Retooler struct {
	block   config.ToolChanges
	changes map[string]*config.ToolChange // by the tool's own name
	before  map[*toolpost.Tool]*changedTool
}

// A changedTool is a tool after its change.
type changedTool struct {
	tool     *toolpost.Tool
	findings []toolpost.Finding
}

// New returns a Retooler for the block. Of two changes of one tool, the last
// counts.
func New(b config.ToolChanges) *Retooler {
	r := &Retooler{block: b, changes: map[string]*config.ToolChange{}}
	for i := range b.Tools {
		r.changes[b.Tools[i].Tool] = &b.Tools[i]
	}
	return r
}

// Apply returns the tools as clients get them, and what of the block cannot be
// applied and changes nothing: changes of tools and arguments that there are not,
// and names that another tool or argument has. Complete reports whether a tool
// that is not in the list does not exist.
func (r *Retooler) Apply(tools []*toolpost.Tool, complete bool) (result []*toolpost.Tool, findings []toolpost.Finding) {
	now := make(map[*toolpost.Tool]*changedTool, len(tools))
	names, taken := r.names(tools)
	for i, t := range tools {
		c := r.changes[names[i]]
		switch {
		case !r.selects(t, c):
			continue
		case c == nil:
			result = append(result, t)
			continue
		}
		done := r.before[t]
		if done == nil {
			done = changeTool(c, t)
		}
		now[t] = done
		name, why := clientName(c, t, taken)
		if name != done.tool.Name {
			copied := *done.tool
			copied.Name = name
			done.tool = &copied
		}
		findings = append(append(findings, done.findings...), why...)
		result = append(result, done.tool)
	}
	r.before = now
	if complete {
		findings = append(findings, r.unmatchedFindings(names)...)
	}
	return result, findings
}

// Sources returns what the tools of the last listing were made of, for those that are
// changed.
func (r *Retooler) Sources() map[*toolpost.Tool]*toolpost.Tool {
	sources := make(map[*toolpost.Tool]*toolpost.Tool, len(r.before))
	for source, c := range r.before {
		sources[c.tool] = source
	}
	return sources
}

// names returns the tools' own names, and those that tools keep.
func (r *Retooler) names(tools []*toolpost.Tool) (names []string, kept map[string]bool) {
	kept = map[string]bool{}
	for _, t := range tools {
		name := cleartext.Clean(t.Name)
		names = append(names, name)
		if c := r.changes[name]; c == nil || c.Name == "" && !c.Disabled {
			kept[name] = true
		}
	}
	return names, kept
}

// clientName returns the name that clients use for t: that of the change, unless
// another tool has it.
func clientName(c *config.ToolChange, t *toolpost.Tool, taken map[string]bool) (name string, findings []toolpost.Finding) {
	if c.Name == "" {
		return t.Name, nil
	}
	if name = c.Name; taken[name] {
		text := fmt.Sprintf("the tool %q is not called %q, because another tool has that name; choose another one", c.Tool, name)
		name, findings = t.Name, []toolpost.Finding{{Tool: c.Tool, Message: text}}
	}
	taken[cleartext.Clean(name)] = true
	return name, findings
}

// unmatchedFindings reports the changes of tools that there are not.
func (r *Retooler) unmatchedFindings(names []string) (findings []toolpost.Finding) {
	for i := range r.block.Tools {
		c := &r.block.Tools[i]
		if slices.Contains(names, c.Tool) {
			continue
		}
		text := fmt.Sprintf("the tools block changes the tool %q, which does not exist", c.Tool)
		if near := suggest.Nearest(c.Tool, names); near != "" {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		findings = append(findings, toolpost.Finding{Message: text})
	}
	return findings
}

// selects reports whether the block leaves the tool to clients.
func (r *Retooler) selects(t *toolpost.Tool, c *config.ToolChange) bool {
	if c != nil && c.Disabled {
		return false
	}
	if len(r.block.IncludeTags)+len(r.block.ExcludeTags) == 0 {
		return true
	}
	tags := tagsOf(t.Meta)
	if c != nil && len(c.Tags) > 0 {
		tags = c.Tags
	}
	has := func(wanted []string) bool {
		return slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(wanted, tag) })
	}
	return (len(r.block.IncludeTags) == 0 || has(r.block.IncludeTags)) && !has(r.block.ExcludeTags)
}

// tagsOf returns the tags that FastMCP writes into _meta.
func tagsOf(meta json.RawMessage) (tags []string) {
	for _, key := range []string{"fastmcp", "_fastmcp"} {
		for tag := range wire.Elements(wire.Get(wire.Get(meta, key), "tags")) {
			tags = append(tags, wire.Unquote(tag))
		}
	}
	return tags
}

// changeTool changes everything of a tool but its name.
func changeTool(c *config.ToolChange, t *toolpost.Tool) *changedTool {
	out := *t
	if c.Title != nil {
		out.Title = *c.Title
	}
	if c.Description != nil {
		out.Description = *c.Description
	}
	if c.Annotations != nil {
		out.Annotations = *c.Annotations
	}
	switch {
	case string(c.Meta) == "null":
		out.Meta = nil
	case c.Meta != nil:
		out.Meta = c.Meta
	}
	out.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		inner := *call
		inner.Name = t.Name
		return t.Handler(ctx, &inner)
	}
	done := &changedTool{tool: &out}
	if len(c.Arguments) == 0 {
		return done
	}
	p, input, problems := newPlan(t.Input, c.Arguments)
	for _, problem := range problems {
		done.findings = append(done.findings, toolpost.Finding{Tool: t.Name, Message: problem})
	}
	if p == nil {
		return done
	}
	out.Input = input
	out.Policy.SkipValidation, out.Policy.Approve, out.Policy.Prepare = true, nil, nil // the tool below does all that, with its own arguments
	out.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return p.call(ctx, t, call)
	}
	return done
}
