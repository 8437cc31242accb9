// Package provider contains what the packages of the model providers share: the
// small steps between a [model.Request] and a provider's wire format. Each file
// is one of them: tools, ids of calls, raw JSON, media, losses, structured
// output, HTTP, limits, and errors.
package provider

import (
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A Toolset knows the tools of an offer by both of their names. A nil one has no
// tools.
type Toolset struct {
	decode func(*toolpost.Call) (*toolpost.Call, error)
	names  map[string]string // the names for the model, by the tools' own
	own    map[string]string // the other direction
	losses Losses
}

// NewToolset returns the tools of an offer.
func NewToolset[T any](o *model.Offer[T]) *Toolset {
	ts := &Toolset{decode: o.Decode, names: map[string]string{}, own: map[string]string{}}
	for _, t := range o.Adapted.Tools {
		ts.names[t.Original.Name], ts.own[t.Name] = t.Name, t.Original.Name
	}
	for _, w := range o.Adapted.Withheld {
		ts.losses.Add(-1, -1, "tool %q is withheld: %s", w.Name, w.Why)
	}
	return ts
}

// Losses returns a copy of the tools that the model does not receive.
func (ts *Toolset) Losses() Losses {
	if ts == nil {
		return nil
	}
	return append(Losses(nil), ts.losses...)
}

// Name returns the name that the model knows a tool by, "" if it does not have
// the tool.
func (ts *Toolset) Name(own string) string {
	if ts == nil {
		return ""
	}
	return ts.names[own]
}

// WireName returns the name that the model knows a tool by. A tool that it does
// not have keeps its own name, in letters, digits, _ and -, up to most bytes.
func (ts *Toolset) WireName(own string, most int) string {
	if name := ts.Name(own); name != "" {
		return name
	}
	name := notInName.ReplaceAllString(own, "_")
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), most)]
}

// Has reports whether the model knows a tool by the name.
func (ts *Toolset) Has(name string) bool { return ts != nil && ts.own[name] != "" }

// OwnName returns the tool's own name for the one that the model knows. Another
// name remains as it is.
func (ts *Toolset) OwnName(name string) string {
	if !ts.Has(name) {
		return name
	}
	return ts.own[name]
}

// CutOff is the reason why a call cannot run whose arguments are not complete.
const CutOff = "The arguments were cut off, because the response reached its maximum length. Call the tool again with shorter arguments, or in several calls."

// ManyValues is the reason why a call cannot run whose arguments would take too
// much memory.
const ManyValues = "The arguments have too many values. Call the tool again with fewer of them, or in several calls."

// DecodeCall puts the arguments of a call, which the model wrote for the tool
// that it knows by the name, in the form of the tool's own schema. If the call
// cannot run, Invalid becomes the reason.
func (ts *Toolset) DecodeCall(p *model.Part, name string) {
	decode := (&model.Offer[any]{Adapted: &dialect.Adapted{}}).Decode // no tools
	if ts != nil {
		decode = ts.decode
	}
	if HasManyValues(p.Arguments) {
		p.Arguments, p.Invalid = nil, ManyValues
		return
	}
	decoded, err := decode(&toolpost.Call{ID: p.ID, Name: name, Arguments: p.Arguments})
	if err != nil {
		p.Invalid = err.Error()
		return
	}
	p.Arguments = decoded.Arguments
}
