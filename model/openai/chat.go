package openai

import (
	"context"
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/model/offer"
)

// ChatTools offers ts to a model through OpenAI's Chat Completions API, which
// many other providers support too. Tools whose schemas lose nothing are
// strict.
func ChatTools(ctx context.Context, ts toolpost.Toolset, opts *offer.Options) (*offer.Offer[sdk.ChatCompletionToolUnionParam], error) {
	return offer.New(ctx, ts, dialectID, opts, func(o *offer.Offer[sdk.ChatCompletionToolUnionParam], t *dialect.Tool) error {
		parameters, err := members(offer.InputSchema(t))
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
	return sdk.ToolMessage(offer.JoinText(offer.Pieces(toolpost.NewMessage(call.ID, r))), call.ID)
}
