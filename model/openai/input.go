package openai

import (
	"fmt"
	"slices"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/model/offer"
)

// An inputWriter writes messages as items of the Responses API.
type inputWriter struct {
	writer
}

// assistant writes a message of the assistant: raw items as they are, the
// others rebuilt.
func (w *inputWriter) assistant(m *model.Message) error {
	received := w.received(m, checkReceived)
	last := lastItem(m, received)
	for i := range m.Parts {
		p := &m.Parts[i]
		w.part = i
		switch {
		case !received[i]:
			if err := w.rebuild(p); err != nil {
				return fmt.Errorf("part %d: %w", i, err)
			}
			continue
		case p.Type == model.TypeThinking && i > last:
			w.lose("reasoning that no other item follows is left out, because the provider refuses it")
			continue
		case p.Type == model.TypeCall && w.ids.IsUsed(p.ID): // some servers count calls from 0 in each response
			w.items = append(w.items, wire.Set(p.Raw, "call_id", wire.Quote(w.ids.Choose(p.ID))))
			continue
		case p.Type == model.TypeCall:
			w.ids.Keep(p.ID)
		}
		w.items = append(w.items, p.Raw)
	}
	return nil
}

// lastItem returns the index of the last part that becomes an item other than
// reasoning, -1 if there is none.
func lastItem(m *model.Message, received []bool) int {
	for i, p := range slices.Backward(m.Parts) {
		switch {
		case p.Type == model.TypeThinking:
		case received[i], p.Type == model.TypeCall, p.Type == model.TypeText && p.Text != "",
			p.Type == model.TypeImage, p.Type == model.TypeDocument:
			return i
		}
	}
	return -1
}

// rebuild writes a part of the assistant that another model wrote.
func (w *inputWriter) rebuild(p *model.Part) error {
	switch p.Type {
	case model.TypeText:
		if p.Text == "" {
			return nil
		}
		return w.say(p.Text)
	case model.TypeCall:
		return w.put(responses.ResponseInputItemUnionParam{OfFunctionCall: &responses.ResponseFunctionToolCallParam{
			CallID: w.ids.Choose(p.ID), Name: w.tools.WireName(p.Name, maxName), Arguments: argumentsText(p.Arguments)}})
	case model.TypeImage, model.TypeDocument:
		w.lose("the %s of the assistant is described in text", p.Type)
		return w.say(provider.DescribeMedia(p))
	}
	w.losses.AddForeign(w.message, w.part, p)
	return nil
}

// say adds a text of the assistant.
func (w *inputWriter) say(text string) error {
	return w.put(responses.ResponseInputItemUnionParam{OfMessage: &responses.EasyInputMessageParam{
		Type: responses.EasyInputMessageTypeMessage, Role: responses.EasyInputMessageRoleAssistant,
		Content: responses.EasyInputMessageContentUnionParam{OfString: param.NewOpt(text)}}})
}

// user writes a message of the user: the results of calls, and one item for the
// parts between them.
func (w *inputWriter) user(m *model.Message) error {
	var content responses.ResponseInputMessageContentListParam
	flush := func() error {
		if len(content) == 0 {
			return nil
		}
		item := &responses.EasyInputMessageParam{Type: responses.EasyInputMessageTypeMessage, Role: responses.EasyInputMessageRoleUser,
			Content: responses.EasyInputMessageContentUnionParam{OfInputItemContentList: content}}
		content = nil
		return w.put(responses.ResponseInputItemUnionParam{OfMessage: item})
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		w.part = i
		if p.Type != model.TypeResult {
			content = append(content, w.content(p)...)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		if err := w.result(p.Result); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return flush()
}

// content returns a part of the user as content of a message.
func (w *inputWriter) content(p *model.Part) []responses.ResponseInputContentUnionParam {
	text := ""
	switch {
	case p.Type == model.TypeImage && isImage(p.MIMEType) && len(p.Data) > 0:
		return []responses.ResponseInputContentUnionParam{{OfInputImage: &responses.ResponseInputImageParam{
			Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(pieceOf(p).DataURL())}}}
	case p.Type == model.TypeDocument && p.MIMEType == model.PDF && len(p.Data) > 0:
		return []responses.ResponseInputContentUnionParam{{OfInputFile: &responses.ResponseInputFileParam{
			Filename: param.NewOpt(fileName(p)), FileData: param.NewOpt(pieceOf(p).DataURL())}}}
	case p.Type == model.TypeText:
		text = p.Text
	default:
		text = w.userText(p)
	}
	if text == "" {
		return nil
	}
	return []responses.ResponseInputContentUnionParam{{OfInputText: &responses.ResponseInputTextParam{Text: text}}}
}

// result writes the result of a call.
func (w *inputWriter) result(m *toolpost.Message) error {
	takes := provider.ImagesAndPDF()
	output := &responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(w.ids.Of(m.CallID))}
	var all []responses.ResponseFunctionCallOutputItemUnionParam
	pieces := offer.Pieces(m, takes...)
	for _, p := range pieces {
		if p.Data != nil || p.Text != "" {
			all = append(all, item(p))
		}
	}
	if offer.JoinText(pieces) != "" && !slices.ContainsFunc(pieces, func(p offer.Piece) bool { return p.Data != nil }) || len(all) == 0 {
		output.Output.OfString = param.NewOpt(offer.JoinText(pieces))
	} else {
		output.Output.OfResponseFunctionCallOutputItemArray = all
	}
	w.losses.AddMedia(w.message, w.part, m, takes)
	return w.put(responses.ResponseInputItemUnionParam{OfFunctionCallOutput: output})
}
