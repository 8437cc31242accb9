package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/model/offer"
)

// A toolset is a set of tools as the model receives it.
type toolset struct {
	*provider.Toolset
	json json.RawMessage // the tools as they are sent; nil for none
}

// toolset returns the tools of a request.
func (g *generator) toolset(set *toolpost.Set) (*toolset, error) {
	if set == nil {
		return &toolset{}, nil
	}
	return g.toolsets.Get(set, func() (*toolset, error) { return g.newToolset(set) })
}

func (g *generator) newToolset(set *toolpost.Set) (*toolset, error) {
	adapted, err := Tools(context.Background(), set, &offer.Options{Dialect: g.dialect, Fit: true})
	if err != nil {
		return nil, err
	}
	ts := &toolset{Toolset: provider.NewToolset(adapted)}
	if len(adapted.Tools) == 0 {
		return ts, nil
	}
	if ts.json, err = codec.Encode(adapted.Tools); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return ts, checkTools(ts.json, g.dialect)
}

// nameFor returns the name that the model knows a tool by. A tool that is no
// longer offered keeps its own name, in characters that the model accepts.
func (ts *toolset) nameFor(name string) string {
	if adapted := ts.Name(name); adapted != "" {
		return adapted
	}
	return functionName(name)
}

var notOfName = lazyregexp.New(`[^A-Za-z0-9_.:-]`)

// functionName returns name in the characters that a function's name may have.
func functionName(name string) string {
	name = notOfName.ReplaceAllString(name, "_")
	if name == "" || !strings.ContainsAny(name[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") {
		name = "_" + name
	}
	return name[:min(len(name), 128)]
}
