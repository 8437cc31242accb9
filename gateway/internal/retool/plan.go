package retool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// A plan is how the arguments of one tool are changed.
type plan struct {
	changes map[string]*config.ArgumentChange // those that apply, by the tool's own name
	shown   map[string]string                 // the client's name, by the tool's own; only those that differ
	own     map[string]string                 // the tool's own name, by the client's; of all declared arguments
	hidden  []string                          // the tool's own names of arguments that clients do not see
	filled  []*config.ArgumentChange          // those with a default
}

// newPlan returns the plan for a tool with this input schema, the schema that
// clients see, and what cannot be applied. The plan is nil if nothing can.
func newPlan(input *schema.Schema, changes []config.ArgumentChange) (p *plan, seen *schema.Schema, problems []string) {
	p = &plan{changes: map[string]*config.ArgumentChange{}, shown: map[string]string{}, own: map[string]string{}}
	d := newDocument(input.Raw())
	for i := range changes {
		c := &changes[i]
		switch {
		case !slices.Contains(d.declared, c.Argument):
			text := fmt.Sprintf("its tools block changes the argument %q, which it does not have", c.Argument)
			if near := suggest.Nearest(c.Argument, d.declared); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			problems = append(problems, text)
		case c.Hide && c.Default == nil && d.required[c.Argument]:
			problems = append(problems, fmt.Sprintf(`the argument %q is required, and is hidden only with a "default"`, c.Argument))
		default:
			p.changes[c.Argument] = c
		}
	}
	problems = append(problems, p.name(d.declared)...)
	for _, name := range d.declared {
		if c := p.changes[name]; c != nil && c.Default != nil {
			p.filled = append(p.filled, c)
		}
	}
	if len(p.changes) == 0 {
		return nil, input, problems
	}
	seen, err := input.With(d.rewrite(p))
	if err != nil {
		return nil, input, append(problems, "its tools block changes nothing: "+err.Error())
	}
	return p, seen, problems
}

// name gives all declared arguments the names that clients use. If two would
// have the same name, all keep their own.
func (p *plan) name(declared []string) (problems []string) {
	for _, own := range declared {
		c, name := p.changes[own], own
		if c != nil && c.Hide {
			p.hidden = append(p.hidden, own)
			continue
		}
		if c != nil && c.Name != "" {
			name = c.Name
		}
		if other, taken := p.own[name]; taken {
			problems = append(problems, fmt.Sprintf("its arguments keep their names, because %q and %q would both be called %q", other, own, name))
			break
		}
		p.own[name] = own
		if name != own {
			p.shown[own] = name
		}
	}
	if len(problems) == 0 {
		return nil
	}
	clear(p.own)
	clear(p.shown)
	p.hidden = nil
	for _, own := range declared {
		if c := p.changes[own]; c != nil && c.Hide {
			p.hidden = append(p.hidden, own)
		} else {
			p.own[own] = own
		}
	}
	return problems
}

// call runs a call of the tool with the arguments that the plan makes of those
// of the client.
func (p *plan) call(ctx context.Context, t *toolpost.Tool, call *toolpost.Call) (*toolpost.Result, error) {
	arguments, err := p.arguments(call)
	if err != nil {
		return nil, err
	}
	inner := *call
	inner.Name, inner.Arguments = t.Name, arguments
	r, err := t.Run(ctx, &inner)
	if err != nil {
		return nil, p.translateError(err, call.Name, t.Name)
	}
	return r, nil
}

// arguments returns the arguments of a call as the tool gets them: under its own
// names, with defaults. A value for an argument that the client does not see is
// an error. A value that is not an object is left to the tool.
func (p *plan) arguments(call *toolpost.Call) (json.RawMessage, error) {
	raw := call.Arguments
	if given := bytes.TrimSpace(raw); len(given) == 0 || string(given) == "null" { // servers take null as no arguments
		raw = json.RawMessage("{}")
	}
	if !wire.IsObject(raw) || !wire.Valid(raw) {
		return raw, nil
	}
	var members []string
	given := map[string]bool{}
	var unknown []schema.Problem
	for name, value := range wire.Members(raw) {
		own, known := p.own[name]
		switch {
		case known:
		case p.isWithdrawn(name):
			unknown = append(unknown, p.unknown(name))
			continue
		default:
			own = name // the tool may take more than its schema names
		}
		given[own] = true
		members = append(members, string(wire.Quote(own))+":"+string(value))
	}
	if len(unknown) > 0 {
		return nil, &toolpost.ArgumentsError{Tool: call.Name, Err: &schema.ValidationError{Problems: unknown}}
	}
	for _, c := range p.filled { // at the end: some servers take the last of two spellings
		if c.Hide || !given[c.Argument] {
			members = append(members, string(wire.Quote(c.Argument))+":"+string(c.Default))
		}
	}
	return wire.Append(json.RawMessage("{}"), members...), nil
}

// isWithdrawn reports whether a name that clients do not know is, for some server,
// that of an argument that is hidden or has another name here.
func (p *plan) isWithdrawn(name string) bool {
	if _, renamed := p.shown[name]; renamed {
		return true
	}
	return slices.ContainsFunc(p.hidden, func(hidden string) bool { return wire.Alike(name, hidden) })
}

func (p *plan) unknown(name string) schema.Problem {
	valid := p.names()
	if near := suggest.Nearest(name, valid); near != "" {
		valid = append([]string{near}, slices.DeleteFunc(valid, func(n string) bool { return n == near })...)
	}
	problem := schema.Problem{Pointer: "/" + jsontree.EscapePointer(name), Expected: "no such argument", Got: "unknown argument"}
	if len(valid) > 0 {
		problem.Valid = valid
	}
	return problem
}

// names returns the client's names of all arguments, sorted.
func (p *plan) names() (names []string) {
	for name := range p.own {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// translateError turns an error about the tool's own arguments into one about those of the
// client.
func (p *plan) translateError(err error, name, own string) error {
	wrong, ok := err.(*toolpost.ArgumentsError)
	if !ok || wrong.Tool != own {
		return err
	}
	invalid, ok := wrong.Err.(*schema.ValidationError)
	if !ok {
		return &toolpost.ArgumentsError{Tool: name, Err: wrong.Err}
	}
	shown := &schema.ValidationError{Problems: slices.Clone(invalid.Problems), More: invalid.More}
	for i := range shown.Problems {
		problem := &shown.Problems[i]
		first, rest, deeper := strings.Cut(strings.TrimPrefix(problem.Pointer, "/"), "/")
		if name, differs := p.shown[jsontree.UnescapePointer(first)]; differs {
			problem.Pointer = "/" + jsontree.EscapePointer(name)
			if deeper {
				problem.Pointer += "/" + rest
			}
		}
		if len(problem.Valid) > 0 && !deeper {
			problem.Valid = p.names()
		}
	}
	return &toolpost.ArgumentsError{Tool: name, Err: shown}
}
