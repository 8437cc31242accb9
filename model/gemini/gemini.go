// Package gemini contains the models of Google, over Google's SDK. [New] opens a
// model for an agent. [Tools], [Call] and [Answer] are for programs that use the
// SDK themselves.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/offer"
)

// dialectID names the dialect of Google's models.
const dialectID = "gemini"

// Tools offers ts to a model of Google, as one tool with functions. Their
// schemas are in ParametersJsonSchema, in the dialect "gemini". A dialect that
// writes Google's own Schema, such as "gemini-schema", puts them in Parameters:
// for the Live API, for the API's version v1, and for relays that support only
// this.
func Tools(ctx context.Context, ts toolpost.Toolset, opts *offer.Options) (*offer.Offer[*genai.Tool], error) {
	return offer.New(ctx, ts, dialectID, opts, func(o *offer.Offer[*genai.Tool], t *dialect.Tool) error {
		f := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		if t.Input != nil { // Google refuses an OBJECT without properties
			ordered, err := withOrder(t.Input.Raw())
			if err != nil {
				return fmt.Errorf("input schema: %w", err)
			}
			if o.Adapted.Dialect.Input.Dialect != "openapi" {
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
	part, _ := answer(call.ID, call.Name, toolpost.NewMessage(call.ID, r), media)
	return part
}

// answer returns the result of a call, and the number of media that the model
// does not receive because it cannot read them or media is false.
func answer(id, name string, m *toolpost.Message, media bool) (part *genai.Part, lost int) {
	var takes []string
	if media {
		takes = responseMedia()
	}
	all := offer.Pieces(m, takes...)
	key := "output"
	if m.IsError {
		key = "error"
	}
	f := &genai.FunctionResponse{ID: id, Name: name, Response: map[string]any{key: offer.JoinText(all)}}
	for _, p := range all {
		if p.Data != nil {
			f.Parts = append(f.Parts, genai.NewFunctionResponsePartFromBytes(p.Data, p.MIMEType))
		}
	}
	for _, p := range m.Parts {
		if len(p.Data) > 0 {
			lost++
		}
	}
	return &genai.Part{FunctionResponse: f}, lost - len(f.Parts)
}

// responseMedia returns the types of media that the response of a function may
// contain.
func responseMedia() []string { return []string{model.JPEG, model.PNG, model.WebP, model.PDF} }
