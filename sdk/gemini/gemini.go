// Package gemini converts tools, calls and results to the types of Google's SDK,
// google.golang.org/genai, and back, for programs that send their requests with it.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Tools offers ts to a model of Google, as one tool with functions. Their
// schemas are in ParametersJsonSchema, in the dialect "gemini". A dialect that
// writes Google's own Schema, such as "gemini-schema", puts them in Parameters:
// for the Live API, for the API's version v1, and for relays that support only
// this.
func Tools(ctx context.Context, ts toolpost.Toolset, opts *model.OfferOptions) (*model.Offer[*genai.Tool], error) {
	return model.NewOffer(ctx, ts, "gemini", opts, func(o *model.Offer[*genai.Tool], t *dialect.Tool) error {
		f := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		if t.Input != nil { // Google refuses an OBJECT without properties
			ordered, err := gemini.OrderProperties(t.Input.Raw())
			if err != nil {
				return fmt.Errorf("input schema: %w", err)
			}
			if o.Adapted.Dialect.Draft() != "openapi" {
				f.ParametersJsonSchema = ordered
			} else if f.Parameters, err = typedSchema(ordered); err != nil {
				return err
			}
		}
		if o.Tools == nil {
			o.Tools = []*genai.Tool{{}}
		}
		o.Tools[0].FunctionDeclarations = append(o.Tools[0].FunctionDeclarations, f)
		return nil
	})
}

// typedSchema refuses what the type has no field for.
func typedSchema(ordered json.RawMessage) (*genai.Schema, error) {
	s := new(genai.Schema)
	d := json.NewDecoder(bytes.NewReader(ordered))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("input schema as genai.Schema: %w", err)
	}
	return s, nil
}

// Call returns the call of a function. The SDK decodes numbers as float64, so
// integers above 2^53 are already rounded.
func Call(c *genai.FunctionCall) *toolpost.Call {
	call := &toolpost.Call{ID: c.ID, Name: c.Name}
	if len(c.Args) > 0 {
		call.Arguments, _ = json.Marshal(c.Args) // it was JSON
	}
	return call
}

// Answer returns the result of call as a part of the user's next turn. Text is
// one string, because Gemini resolves $ref in a response, and nothing in the
// text must be read as a reference. Set media for models since Gemini 3 only:
// it sends images and documents, and older models refuse a request with these.
func Answer(call *toolpost.Call, r *toolpost.Result, media bool) *genai.Part {
	m := r.Message(call.ID)
	var types []string
	if media {
		types = []string{"image/jpeg", "image/png", "image/webp", "application/pdf"}
	}
	parts, text := model.ResultParts(m, types...)
	key := "output"
	if m.IsError {
		key = "error"
	}
	f := &genai.FunctionResponse{ID: call.ID, Name: call.Name, Response: map[string]any{key: text}}
	for _, p := range parts {
		if p.Data != nil {
			f.Parts = append(f.Parts, genai.NewFunctionResponsePartFromBytes(p.Data, p.MIMEType))
		}
	}
	return &genai.Part{FunctionResponse: f}
}
