package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema/dialect"
)

// dialectID names the dialect of Google's models.
const dialectID = "gemini"

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
	options := &model.OfferOptions{Dialect: g.dialect, Fit: true}
	adapted, err := model.NewOffer(context.Background(), set, dialectID, options, func(o *model.Offer[functionDeclaration], t *dialect.Tool) error {
		f, err := declare(t, isTyped(g.dialect))
		if err == nil {
			o.Tools = append(o.Tools, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	ts := &toolset{Toolset: provider.NewToolset(adapted)}
	if len(adapted.Tools) == 0 {
		return ts, nil
	}
	if ts.json, err = codec.Encode([]functionTool{{adapted.Tools}}); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return ts, checkTools(ts.json, g.dialect)
}

// isTyped reports whether d writes Google's own type of a schema, instead of JSON Schema.
func isTyped(d *dialect.Dialect) bool { return d.Draft() == "openapi" }

// declare returns the declaration of a tool as a function.
func declare(t *dialect.Tool, typed bool) (functionDeclaration, error) {
	f := functionDeclaration{Name: t.Name, Description: t.Description}
	if t.Input == nil { // Google refuses an OBJECT without properties
		return f, nil
	}
	ordered, err := OrderProperties(t.Input.Raw())
	switch {
	case err != nil:
		return f, fmt.Errorf("input schema: %w", err)
	case !typed:
		f.ParametersJSONSchema = ordered
	default:
		f.Parameters, err = parseTyped(ordered)
	}
	return f, err
}

// parseTyped returns an error if a schema has members that the type does not have.
func parseTyped(ordered json.RawMessage) (*typedSchema, error) {
	s := new(typedSchema)
	d := json.NewDecoder(bytes.NewReader(ordered))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("schema of Google's own type: %w", err)
	}
	return s, nil
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
