// Package openai converts tools, calls and results to the types of OpenAI's SDK, for
// programs that send their requests with it: [Tools], [Call] and [Answer] for the
// Responses API, and [ChatTools], [ChatCall] and [ChatAnswer] for the Chat Completions
// API, which many other providers support too.
package openai

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

// dialectID names the dialect of both of OpenAI's interfaces.
const dialectID = "openai-strict"

// Tools offers ts to a model of OpenAI through the Responses API. Tools whose
// schemas lose nothing are strict.
func Tools(ctx context.Context, ts toolpost.Toolset, opts *model.OfferOptions) (*model.Offer[responses.ToolUnionParam], error) {
	return model.NewOffer(ctx, ts, dialectID, opts, func(o *model.Offer[responses.ToolUnionParam], t *dialect.Tool) error {
		parameters, err := members(t.InputSchema())
		if err != nil {
			return err
		}
		o.Tools = append(o.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name:        t.Name,
			Description: optional(t.Description),
			Parameters:  parameters,
			Strict:      param.NewOpt(t.Strict), // if it is left out, OpenAI rewrites the schema to be strict
		}})
		return nil
	})
}

// Call returns the call of a function in the Responses API.
func Call(c responses.ResponseFunctionToolCall) *toolpost.Call {
	return &toolpost.Call{ID: c.CallID, Name: c.Name, Arguments: json.RawMessage(c.Arguments)}
}

// Answer returns the result of call as an item of the next input in the
// Responses API.
func Answer(call *toolpost.Call, r *toolpost.Result) responses.ResponseInputItemUnionParam {
	all, _ := model.ResultParts(r.Message(call.ID), "image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf")
	output := &responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(call.ID)}
	if len(all) == 1 && all[0].Data == nil {
		output.Output.OfString = param.NewOpt(all[0].Text)
	} else {
		for _, p := range all {
			output.Output.OfResponseFunctionCallOutputItemArray = append(
				output.Output.OfResponseFunctionCallOutputItemArray, item(p))
		}
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: output}
}

// item returns a piece of a result as an item of its output.
func item(p model.Part) responses.ResponseFunctionCallOutputItemUnionParam {
	var i responses.ResponseFunctionCallOutputItemUnionParam
	switch {
	case p.Data == nil:
		i.OfInputText = &responses.ResponseInputTextContentParam{Text: p.Text}
	case p.MIMEType == "application/pdf":
		i.OfInputFile = &responses.ResponseInputFileContentParam{
			Filename: param.NewOpt("document.pdf"), FileData: param.NewOpt(p.DataURL())}
	default:
		i.OfInputImage = &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(p.DataURL())}
	}
	return i
}

// ChatTools offers ts to a model through OpenAI's Chat Completions API, which
// many other providers support too. Tools whose schemas lose nothing are
// strict.
func ChatTools(ctx context.Context, ts toolpost.Toolset, opts *model.OfferOptions) (*model.Offer[sdk.ChatCompletionToolUnionParam], error) {
	return model.NewOffer(ctx, ts, dialectID, opts, func(o *model.Offer[sdk.ChatCompletionToolUnionParam], t *dialect.Tool) error {
		parameters, err := members(t.InputSchema())
		if err != nil {
			return err
		}
		f := sdk.FunctionDefinitionParam{Name: t.Name, Description: optional(t.Description), Parameters: parameters}
		if t.Strict {
			f.Strict = param.NewOpt(true) // the default is false, and some who speak this API do not know it
		}
		o.Tools = append(o.Tools, sdk.ChatCompletionFunctionTool(f))
		return nil
	})
}

// ChatCall returns the call of a function in the Chat Completions API.
func ChatCall(c sdk.ChatCompletionMessageToolCallUnion) *toolpost.Call {
	return &toolpost.Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)}
}

// ChatAnswer returns the result of call as a message of the Chat Completions
// API, which accepts only text.
func ChatAnswer(call *toolpost.Call, r *toolpost.Result) sdk.ChatCompletionMessageParamUnion {
	_, text := model.ResultParts(r.Message(call.ID))
	return sdk.ToolMessage(text, call.ID)
}

// members returns an object with the members of a schema as they are: a model
// writes properties in the order of the schema, which a map of values would lose.
func members(schema json.RawMessage) (map[string]any, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("input schema as an object: %w", err)
	}
	m := make(map[string]any, len(object))
	for name, value := range object {
		m[name] = value
	}
	return m, nil
}

func optional(s string) param.Opt[string] {
	if s == "" {
		return param.Opt[string]{}
	}
	return param.NewOpt(s)
}
