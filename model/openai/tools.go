package openai

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

// dialectID names the dialect of both of OpenAI's interfaces.
const dialectID = "openai-strict"

// A responsesTool is a tool of the Responses API: a function, or the tool that searches
// the others, which has a type only.
type responsesTool struct {
	Strict       *bool                      `json:"strict,omitempty"` // if a function has none, OpenAI rewrites its schema to be strict
	Parameters   map[string]json.RawMessage `json:"parameters,omitzero"`
	Name         string                     `json:"name,omitempty"`
	Description  string                     `json:"description,omitempty"`
	DeferLoading bool                       `json:"defer_loading,omitempty"`
	Type         string                     `json:"type"`
}

// responsesTools offers tools through the Responses API. Tools whose schemas lose nothing
// are strict.
func (e *endpoint) responsesTools(ctx context.Context, ts toolpost.Toolset) (*model.Offer[responsesTool], error) {
	return model.NewOffer(ctx, ts, dialectID, e.toolOptions(), func(o *model.Offer[responsesTool], t *dialect.Tool) error {
		parameters, err := members(t.InputSchema())
		if err != nil {
			return err
		}
		o.Tools = append(o.Tools, responsesTool{
			Strict: &t.Strict, Parameters: parameters, Name: t.Name, Description: t.Description, Type: "function"})
		return nil
	})
}

// A chatTool is a tool of the Chat Completions API.
type chatTool struct {
	Function chatFunction `json:"function"`
	Type     string       `json:"type"`
}

// A chatFunction is the function of a tool.
type chatFunction struct {
	Name        string                     `json:"name"`
	Strict      bool                       `json:"strict,omitempty"` // the default is false, and some who speak this API do not know it
	Description string                     `json:"description,omitempty"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
}

// chatTools offers tools through the Chat Completions API. Tools whose schemas lose
// nothing are strict.
func (e *endpoint) chatTools(ctx context.Context, ts toolpost.Toolset) (*model.Offer[chatTool], error) {
	return model.NewOffer(ctx, ts, dialectID, e.toolOptions(), func(o *model.Offer[chatTool], t *dialect.Tool) error {
		parameters, err := members(t.InputSchema())
		if err != nil {
			return err
		}
		f := chatFunction{Name: t.Name, Strict: t.Strict, Description: t.Description, Parameters: parameters}
		o.Tools = append(o.Tools, chatTool{f, "function"})
		return nil
	})
}

// toolOptions returns the options of both offers.
func (e *endpoint) toolOptions() *model.OfferOptions {
	return &model.OfferOptions{Dialect: e.opts.Dialect, Fit: true}
}

// members returns the members of a schema as they are: a model writes properties in the
// order of the schema, which a map of values would lose.
func members(schema json.RawMessage) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("input schema as an object: %w", err)
	}
	return object, nil
}
