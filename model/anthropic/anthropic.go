// Package anthropic talks to models of Anthropic through the Messages API, with
// Anthropic's own SDK. [New] returns a model for an agent loop. For programs
// that have their own loop, [Tools], [Call] and [Answer] offer tools with the
// types of the SDK.
//
//	model.Request ── parts ──▶ blocks ── Check ──▶ POST /v1/messages
//	                 Raw of Anthropic's own parts goes back byte for byte
//	model.Response ◀── parts ◀── blocks ◀── events of the stream
//
// A part of a response keeps its block as Raw: the block that began it with
// all deltas applied. Blocks of unknown types are opaque parts. Response.Losses
// lists the parts of the request that were left out or rewritten, such as the
// thinking of another provider's model.
package anthropic

import (
	"context"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/model/offer"
)

// Tools offers ts to a model of Anthropic. Tools whose schemas lose nothing are
// strict, within the limits of a request; with the dialect "anthropic", none is
// strict.
func Tools(ctx context.Context, ts toolpost.Toolset, opts *offer.Options) (*offer.Offer[sdk.ToolUnionParam], error) {
	return offer.New(ctx, ts, "anthropic-strict", opts, func(o *offer.Offer[sdk.ToolUnionParam], t *dialect.Tool) error {
		p := &sdk.ToolParam{
			Name: t.Name,
			// The type's own fields would lose the order of keywords.
			InputSchema: param.Override[sdk.ToolInputSchemaParam](offer.InputSchema(t)),
		}
		if t.Description != "" {
			p.Description = param.NewOpt(t.Description)
		}
		if t.Strict {
			p.Strict = param.NewOpt(true)
		}
		o.Tools = append(o.Tools, sdk.ToolUnionParam{OfTool: p})
		return nil
	})
}

// Call returns the call of a tool.
func Call(b sdk.ToolUseBlock) *toolpost.Call {
	return &toolpost.Call{ID: b.ID, Name: b.Name, Arguments: b.Input}
}

// Answer returns the result of call as a block of the user's next message.
func Answer(call *toolpost.Call, r *toolpost.Result) sdk.ContentBlockParamUnion {
	return resultBlock(call.ID, toolpost.NewMessage(call.ID, r))
}

// resultMedia returns the media types that the result of a call may contain.
func resultMedia(m *toolpost.Message) []string {
	if m.IsError {
		return nil // an error is text
	}
	return provider.ImagesAndPDF()
}

// resultBlock returns the result of the call with the id.
func resultBlock(id string, m *toolpost.Message) sdk.ContentBlockParamUnion {
	result := &sdk.ToolResultBlockParam{ToolUseID: id}
	if m.IsError {
		result.IsError = param.NewOpt(true)
	}
	for _, p := range offer.Pieces(m, resultMedia(m)...) {
		if p.Data != nil || !isBlank(p.Text) { // blank text is refused
			result.Content = append(result.Content, content(p))
		}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: result}
}

func content(p offer.Piece) sdk.ToolResultBlockParamContentUnion {
	var c sdk.ToolResultBlockParamContentUnion
	switch {
	case p.Data == nil:
		c.OfText = &sdk.TextBlockParam{Text: p.Text}
	case p.MIMEType == model.PDF:
		c.OfDocument = &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{
			OfBase64: &sdk.Base64PDFSourceParam{Data: p.Base64()}}}
	default:
		c.OfImage = imageBlock(p)
	}
	return c
}

func imageBlock(p offer.Piece) *sdk.ImageBlockParam {
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{
		OfBase64: &sdk.Base64ImageSourceParam{Data: p.Base64(), MediaType: sdk.Base64ImageSourceMediaType(p.MIMEType)}}}
}
