package model

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// OfferOptions are the optional parts of the function Tools of all providers.
type OfferOptions struct {
	// Dialect replaces the provider's own dialect: another built-in one, or one
	// of a configuration.
	Dialect *dialect.Dialect

	// Fit withholds the last tools if there are more than the provider accepts.
	// Otherwise they are sent, and a finding reports it.
	Fit bool

	// Server is the name of the MCP server by which a client, such as the Claude
	// CLI, passes the tools on, if the client adds it to their names.
	Server string
}

// An Offer is a toolset in the form for one model, for programs that send their requests
// themselves, such as with the packages of module sdk. T is the SDK's type of a tool. A model
// sees tools with adapted names and schemas, and the handlers of an Offer convert calls back,
// so a call runs as the model wrote it. To support a provider that has no package here, use
// [NewOffer] and [ResultParts].
//
//	Toolset ── gemini.Tools, openai.Tools… ──▶ Offer.Tools ──▶ request
//	           (dialect.Adapt)                                   │
//	                                                           model
//	                                                             │
//	handler ◀── Offer.Call ◀── gemini.Call, openai.Call… ◀─── response
//	   └──────▶ Result ──────▶ gemini.Answer, openai.Answer… ──▶ next request
type Offer[T any] struct {
	Tools   []T              // for the request; you may set fields that this module does not set
	Set     *toolpost.Set    // the tools, by the names for the model
	Adapted *dialect.Adapted // what was lost by adapting, tool by tool, and the withheld tools
}

// Call runs a call as the model wrote it. Everything that the model should know
// is a result, including that a tool does not exist; an error means that ctx
// ended.
func (o *Offer[T]) Call(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	r, err := o.Set.Call(ctx, call)
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return nil, err
	case o.Set.Lookup(call.Name) == nil:
		err = unknownToolError(call.Name)
	}
	return toolpost.Failed.Resultf("%v", err), nil
}

// Decode returns a call in the form of the tool's source: with its own name,
// and with validated arguments for its own schema. It is for programs that
// display calls, or that run them by other means than [Offer.Call]. Its error
// is written for the model; it is a [toolpost.ErrNotFound] if there is no such
// tool.
func (o *Offer[T]) Decode(call *toolpost.Call) (*toolpost.Call, error) {
	for _, t := range o.Adapted.Tools {
		if t.Name != call.Name {
			continue
		}
		arguments, err := t.Decode(call.Arguments)
		if err != nil {
			return nil, err
		}
		decoded := *call
		decoded.Name, decoded.Arguments = t.Original.Name, arguments
		return &decoded, nil
	}
	return nil, unknownToolError(call.Name)
}

// An unknownToolError reports to a model that it called a tool that it does not
// have.
type unknownToolError string

func (e unknownToolError) Error() string {
	return fmt.Sprintf("There is no tool %q. Call one of the tools you were given.", string(e))
}

func (e unknownToolError) Unwrap() error { return toolpost.ErrNotFound }

// NewOffer adapts the tools of ts to the dialect of OfferOptions, or otherwise to the one
// with the given id, and passes them to add one by one. Add appends to
// Offer.Tools; if it returns an error for a tool, the tool is withheld. A tool without
// an input schema gets one that takes any object.
func NewOffer[T any](ctx context.Context, ts toolpost.Toolset, id string, opts *OfferOptions,
	add func(o *Offer[T], t *dialect.Tool) error) (*Offer[T], error) {
	if opts == nil {
		opts = new(OfferOptions)
	}
	d := opts.Dialect
	if d == nil {
		var err error
		if d, err = dialect.Find(id); err != nil {
			return nil, err
		}
	}
	tools, err := ts.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	o := &Offer[T]{Adapted: d.Adapt(tools, &dialect.Options{Fit: opts.Fit, Server: opts.Server})}
	adapted := o.Adapted.Tools
	o.Adapted.Tools = nil
	var set toolpost.Tools
	for _, t := range adapted {
		if err := add(o, t); err != nil {
			o.Adapted.Withheld = append(o.Adapted.Withheld,
				dialect.Withheld{Name: t.Original.Name, Rule: d.ID + "/sdk-type", Why: err.Error()})
			continue
		}
		o.Adapted.Tools = append(o.Adapted.Tools, t)
		set = append(set, makeCallable(t))
	}
	o.Set, err = toolpost.NewSet(ctx, set)
	return o, err
}

// makeCallable gives a tool without a schema one that takes any object. The original
// checks what is in it.
func makeCallable(t *dialect.Tool) *toolpost.Tool {
	if t.Input != nil {
		return t.Tool
	}
	c := *t.Tool
	c.Input = schema.MustParse(string(t.InputSchema()))
	return &c
}
