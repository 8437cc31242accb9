package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/offer"
)

// An inputWriter writes messages as items of the Responses API.
type inputWriter struct {
	*endpoint
	tools  *toolset
	ids    callIDs
	items  []json.RawMessage
	losses []model.Loss

	message, part int // where the writer is
}

func (w *inputWriter) lose(format string, args ...any) {
	w.losses = append(w.losses, model.Loss{Message: w.message, Part: w.part, Text: fmt.Sprintf(format, args...)})
}

func (w *inputWriter) messages(all []*model.Message) error {
	for i, m := range all {
		w.message = i
		var err error
		if m.Role == model.RoleAssistant {
			err = w.assistant(m)
		} else {
			err = w.user(m)
		}
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

// put adds an item of the SDK's types.
func (w *inputWriter) put(item responses.ResponseInputItemUnionParam) error {
	raw, err := json.Marshal(item)
	w.items = append(w.items, raw)
	return err
}

// assistant writes a message of the assistant: raw items as they are, the
// others rebuilt.
func (w *inputWriter) assistant(m *model.Message) error {
	w.ids.begin()
	last := lastItem(w.origin, m)
	for i := range m.Parts {
		p := &m.Parts[i]
		w.part = i
		if w.origin.Accepts(p.Origin) && p.Raw != nil {
			if p.Type == model.TypeThinking && i > last {
				w.lose("reasoning that no other item follows is left out, because the provider refuses it")
				continue
			}
			if p.Type == model.TypeCall {
				w.ids.keep(p.ID)
			}
			w.items = append(w.items, p.Raw)
			continue
		}
		if err := w.rebuild(p); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// lastItem returns the index of the last part that becomes an item other than
// reasoning, -1 if there is none.
func lastItem(origin model.Origin, m *model.Message) int {
	for i, p := range slices.Backward(m.Parts) {
		raw := origin.Accepts(p.Origin) && p.Raw != nil
		switch {
		case p.Type == model.TypeThinking:
		case raw, p.Type == model.TypeCall, p.Type == model.TypeText && p.Text != "",
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
			CallID: w.ids.choose(p.ID), Name: w.tools.wireName(p.Name), Arguments: argumentsText(p.Arguments)}})
	case model.TypeImage, model.TypeDocument:
		w.lose("the %s of the assistant is described in text", p.Type)
		return w.say(describeMedia(p))
	}
	w.lose("%s of %s is left out", partName(p), originName(p.Origin))
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
			Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(dataURL(p))}}}
	case p.Type == model.TypeDocument && p.MIMEType == model.PDF && len(p.Data) > 0:
		return []responses.ResponseInputContentUnionParam{{OfInputFile: &responses.ResponseInputFileParam{
			Filename: param.NewOpt(fileName(p)), FileData: param.NewOpt(dataURL(p))}}}
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

// userText returns a part of the user that can be sent only as text.
func (w *inputWriter) userText(p *model.Part) string {
	text, loss := mediaText(p)
	if loss != "" {
		w.lose("%s", loss)
	}
	return text
}

// result writes the result of a call.
func (w *inputWriter) result(m *toolpost.Message) error {
	takes := []string{model.JPEG, model.PNG, model.GIF, model.WebP, model.PDF}
	output := &responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(w.ids.of(m.CallID))}
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
	for _, p := range m.Parts {
		if len(p.Data) > 0 && !slices.Contains(takes, p.MIMEType) {
			w.lose("%s of a tool result is described in text", mediaName(p.MIMEType))
		}
	}
	return w.put(responses.ResponseInputItemUnionParam{OfFunctionCallOutput: output})
}

func isImage(mimeType string) bool {
	return slices.Contains([]string{model.JPEG, model.PNG, model.GIF, model.WebP}, mimeType)
}

func dataURL(p *model.Part) string {
	return "data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

func fileName(p *model.Part) string {
	if p.Name == "" {
		return "document.pdf"
	}
	return p.Name
}

// mediaText returns a part of the user as text, and what is lost by that.
func mediaText(p *model.Part) (text, loss string) {
	switch {
	case p.Type == model.TypeDocument && strings.HasPrefix(p.MIMEType, "text/"):
		return strings.TrimSpace(p.Name + "\n\n" + string(p.Data)), "the document is sent as text"
	case p.Type == model.TypeImage || p.Type == model.TypeDocument:
		return describeMedia(p), "the " + p.Type + " of type " + mediaName(p.MIMEType) + " is described in text"
	case p.Text != "" && p.Type != model.TypeOpaque:
		return p.Text, partName(p) + " of the user is sent as text"
	}
	return "", partName(p) + " of the user is left out"
}

func describeMedia(p *model.Part) string {
	return fmt.Sprintf("[%s of type %s, %d bytes, which cannot be shown to you]", strings.TrimSpace(p.Type+" "+p.Name), mediaName(p.MIMEType), len(p.Data))
}

func mediaName(mimeType string) string {
	if mimeType == "" {
		return "an unknown type"
	}
	return mimeType
}

// partName returns what a loss calls a part.
func partName(p *model.Part) string {
	if p.Type == model.TypeOpaque && p.Text != "" {
		return fmt.Sprintf("%s %q", p.Type, p.Text)
	}
	return p.Type
}

func originName(o *model.Origin) string {
	if o == nil {
		return "an unknown model"
	}
	return o.String()
}

// argumentsText returns the arguments of a call as the text of a JSON object.
func argumentsText(arguments json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil || object == nil {
		return "{}"
	}
	return string(arguments)
}
