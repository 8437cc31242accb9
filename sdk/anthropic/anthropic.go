// Package anthropic converts tools, calls and results to the types of Anthropic's SDK,
// for programs that send their requests with it.
package anthropic

import (
	"context"
	"encoding/base64"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Tools offers ts to a model of Anthropic. Tools whose schemas lose nothing are
// strict, within the limits of a request; with the dialect "anthropic", none is
// strict.
func Tools(ctx context.Context, ts toolpost.Toolset, opts *model.OfferOptions) (*model.Offer[sdk.ToolUnionParam], error) {
	return model.NewOffer(ctx, ts, "anthropic-strict", opts, func(o *model.Offer[sdk.ToolUnionParam], t *dialect.Tool) error {
		p := &sdk.ToolParam{
			Name: t.Name,
			// The type's own fields would lose the order of keywords.
			InputSchema: param.Override[sdk.ToolInputSchemaParam](t.InputSchema()),
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
	m := r.Message(call.ID)
	result := &sdk.ToolResultBlockParam{ToolUseID: call.ID}
	media := []string{"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"}
	if m.IsError {
		result.IsError = param.NewOpt(true)
		media = nil // an error is text
	}
	parts, _ := model.ResultParts(m, media...)
	for _, p := range parts {
		if p.Data != nil || strings.TrimSpace(p.Text) != "" { // blank text is refused
			result.Content = append(result.Content, content(p))
		}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: result}
}

func content(p model.Part) sdk.ToolResultBlockParamContentUnion {
	var c sdk.ToolResultBlockParamContentUnion
	switch {
	case p.Data == nil:
		c.OfText = &sdk.TextBlockParam{Text: p.Text}
	case p.MIMEType == "application/pdf":
		c.OfDocument = &sdk.DocumentBlockParam{Source: sdk.DocumentBlockParamSourceUnion{
			OfBase64: &sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(p.Data)}}}
	default:
		c.OfImage = &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{
			OfBase64: &sdk.Base64ImageSourceParam{Data: base64.StdEncoding.EncodeToString(p.Data), MediaType: sdk.Base64ImageSourceMediaType(p.MIMEType)}}}
	}
	return c
}
