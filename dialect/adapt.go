package dialect

import (
	"context"
	"encoding/json"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/lower"
)

// Options are the optional parts of Adapt and Layer.
type Options struct {
	// Server is the name under which the reader knows the server: it counts
	// in the length of names. "toolpost" if empty.
	Server string

	// Report is called after each listing of a Layer.
	Report func(*Adapted)
}

// Adapted is a list of tools as one reader gets it.
type Adapted struct {
	Dialect  *Dialect
	Tools    []*Tool
	Withheld []Withheld
	Findings []Finding // about the list as a whole: too many tools, too many tokens
	Tokens   int       // of all definitions, estimated
}

// A Tool is a tool as one reader gets it.
type Tool struct {
	*toolpost.Tool                // adapted: its handler takes the adapted arguments
	Original       *toolpost.Tool // as it was
	Strict         bool           // strict mode may be switched on
	Losses         []lower.Loss   // what adapting cost
	codec          *lower.Codec
}

// Withheld is a tool that the reader does not get.
type Withheld struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Adapt adapts tools as one list.
func (d *Dialect) Adapt(tools []*toolpost.Tool, opts *Options) *Adapted {
	return &Adapted{Dialect: d}
}

// Layer returns ts as the dialect's readers get it. Calls reach the tools of
// ts with the arguments of their own schemas.
func (d *Dialect) Layer(ts toolpost.Toolset, opts *Options) toolpost.Toolset {
	return toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		return ts.Tools(ctx)
	})
}

// Decode returns arguments that a model wrote for t in the shape of the
// original's schema, validated. Its error is written for the model.
func (t *Tool) Decode(arguments json.RawMessage) (json.RawMessage, error) { return arguments, nil }
