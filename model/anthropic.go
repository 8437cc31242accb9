package model

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
)

// AnthropicTools offers ts to a model of Anthropic. Tools whose schemas lose
// nothing by it are strict, as far as the limits of a request allow; with the
// dialect "anthropic", none is.
func AnthropicTools(ctx context.Context, ts toolpost.Toolset, opts *Options) (*Offer[anthropic.ToolUnionParam], error) {
	return offer(ctx, ts, "anthropic-strict", opts, func(o *Offer[anthropic.ToolUnionParam], t *dialect.Tool) error {
		p := &anthropic.ToolParam{
			Name: t.Name,
			// The type's own fields would lose the order of keywords.
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](callable(t.Tool).Input.Raw()),
		}
		if t.Description != "" {
			p.Description = param.NewOpt(t.Description)
		}
		if t.Strict {
			p.Strict = param.NewOpt(true)
		}
		o.Tools = append(o.Tools, anthropic.ToolUnionParam{OfTool: p})
		return nil
	})
}

// AnthropicCall returns the call of a tool.
func AnthropicCall(b anthropic.ToolUseBlock) *toolpost.Call {
	return &toolpost.Call{ID: b.ID, Name: b.Name, Arguments: b.Input}
}

// AnthropicAnswer returns the result of call as a block of the user's next message.
func AnthropicAnswer(call *toolpost.Call, r *toolpost.Result) anthropic.ContentBlockParamUnion {
	m := r.Message(call.ID)
	takes := []string{jpeg, png, gif, webp, pdf}
	if m.IsError {
		takes = nil // an error is text
	}
	result := &anthropic.ToolResultBlockParam{ToolUseID: call.ID}
	if m.IsError {
		result.IsError = param.NewOpt(true)
	}
	for _, p := range pieces(m, takes...) {
		if p.data != nil || p.text != "" { // empty text is refused
			result.Content = append(result.Content, anthropicContent(p))
		}
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: result}
}

func anthropicContent(p piece) anthropic.ToolResultBlockParamContentUnion {
	var c anthropic.ToolResultBlockParamContentUnion
	switch {
	case p.data == nil:
		c.OfText = &anthropic.TextBlockParam{Text: p.text}
	case p.mime == pdf:
		c.OfDocument = &anthropic.DocumentBlockParam{Source: anthropic.DocumentBlockParamSourceUnion{
			OfBase64: &anthropic.Base64PDFSourceParam{Data: p.base64()}}}
	default:
		c.OfImage = &anthropic.ImageBlockParam{Source: anthropic.ImageBlockParamSourceUnion{
			OfBase64: &anthropic.Base64ImageSourceParam{Data: p.base64(), MediaType: anthropic.Base64ImageSourceMediaType(p.mime)}}}
	}
	return c
}
