package model

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
)

// openAI is the dialect of both of OpenAI's interfaces.
const openAI = "openai-strict"

// OpenAITools offers ts to a model of OpenAI, for the Responses API. Tools
// whose schemas lose nothing by it are strict.
func OpenAITools(ctx context.Context, ts toolpost.Toolset, opts *Options) (*Offer[responses.ToolUnionParam], error) {
	return offer(ctx, ts, openAI, opts, func(o *Offer[responses.ToolUnionParam], t *dialect.Tool) error {
		parameters, err := members(callable(t.Tool).Input.Raw())
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

// OpenAICall returns the call of a function, of the Responses API.
func OpenAICall(c responses.ResponseFunctionToolCall) *toolpost.Call {
	return &toolpost.Call{ID: c.CallID, Name: c.Name, Arguments: json.RawMessage(c.Arguments)}
}

// OpenAIAnswer returns the result of call as an item of the next input, of
// the Responses API.
func OpenAIAnswer(call *toolpost.Call, r *toolpost.Result) responses.ResponseInputItemUnionParam {
	all := pieces(r.Message(call.ID), jpeg, png, gif, webp, pdf)
	output := &responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(call.ID)}
	if len(all) == 1 && all[0].data == nil {
		output.Output.OfString = param.NewOpt(all[0].text)
	} else {
		for _, p := range all {
			output.Output.OfResponseFunctionCallOutputItemArray = append(
				output.Output.OfResponseFunctionCallOutputItemArray, openAIItem(p))
		}
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: output}
}

func openAIItem(p piece) responses.ResponseFunctionCallOutputItemUnionParam {
	var item responses.ResponseFunctionCallOutputItemUnionParam
	switch {
	case p.data == nil:
		item.OfInputText = &responses.ResponseInputTextContentParam{Text: p.text}
	case p.mime == pdf:
		item.OfInputFile = &responses.ResponseInputFileContentParam{
			Filename: param.NewOpt("document.pdf"), FileData: param.NewOpt(p.dataURL())}
	default:
		item.OfInputImage = &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(p.dataURL())}
	}
	return item
}

// OpenAIChatTools offers ts to a model behind OpenAI's Chat Completions API,
// which many others speak too. Tools whose schemas lose nothing by it are strict.
func OpenAIChatTools(ctx context.Context, ts toolpost.Toolset, opts *Options) (*Offer[openai.ChatCompletionToolUnionParam], error) {
	return offer(ctx, ts, openAI, opts, func(o *Offer[openai.ChatCompletionToolUnionParam], t *dialect.Tool) error {
		parameters, err := members(callable(t.Tool).Input.Raw())
		if err != nil {
			return err
		}
		f := openai.FunctionDefinitionParam{Name: t.Name, Description: optional(t.Description), Parameters: parameters}
		if t.Strict {
			f.Strict = param.NewOpt(true) // the default is false, and some who speak this API do not know it
		}
		o.Tools = append(o.Tools, openai.ChatCompletionFunctionTool(f))
		return nil
	})
}

// OpenAIChatCall returns the call of a function, of the Chat Completions API.
func OpenAIChatCall(c openai.ChatCompletionMessageToolCallUnion) *toolpost.Call {
	return &toolpost.Call{ID: c.ID, Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)}
}

// OpenAIChatAnswer returns the result of call as a message, of the Chat
// Completions API, which takes text alone.
func OpenAIChatAnswer(call *toolpost.Call, r *toolpost.Result) openai.ChatCompletionMessageParamUnion {
	return openai.ToolMessage(text(pieces(r.Message(call.ID))), call.ID)
}

// members returns an object with the members of a schema as they are: a model
// writes properties in the order of the schema, which a map would lose.
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
