package openai

import (
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A messageItem is a message that no model of OpenAI wrote.
type messageItem struct {
	Content any    `json:"content"` // a text, or a list of inputContent
	Role    string `json:"role"`
	Type    string `json:"type"`
}

// A callItem is a call that another model made.
type callItem struct {
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
}

// An outputItem is the result of a call.
type outputItem struct {
	Output any    `json:"output"` // a text, or a list of inputContent
	CallID string `json:"call_id"`
	Type   string `json:"type"`
}

// An inputContent is a text, an image or a file.
type inputContent struct {
	Detail   string `json:"detail,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	FileData string `json:"file_data,omitempty"`
	Filename string `json:"filename,omitempty"`
	Text     string `json:"text,omitempty"`
	Type     string `json:"type"`
}

// An inputWriter writes messages as items of the Responses API.
type inputWriter struct {
	writer
}

// assistant writes a message of the assistant: raw items as they are, the
// others rebuilt.
func (w *inputWriter) assistant(m *model.Message) error {
	received := w.receivedParts(m, checkReceived)
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
		return w.put(callItem{argumentsText(p.Arguments), w.ids.Choose(p.ID), w.tools.WireName(p.Name, maxName), "function_call"})
	case model.TypeImage, model.TypeDocument:
		w.lose("the %s of the assistant is described in text", p.Type)
		return w.say(provider.DescribeMedia(p))
	}
	w.losses.AddForeign(w.message, w.part, p)
	return nil
}

// say adds a text of the assistant.
func (w *inputWriter) say(text string) error {
	return w.put(messageItem{text, "assistant", "message"})
}

// user writes a message of the user: the results of calls, and one item for the
// parts between them.
func (w *inputWriter) user(m *model.Message) error {
	var content []inputContent
	flush := func() error {
		if len(content) == 0 {
			return nil
		}
		item := messageItem{content, "user", "message"}
		content = nil
		return w.put(item)
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
func (w *inputWriter) content(p *model.Part) []inputContent {
	text := ""
	switch {
	case p.Type == model.TypeImage && isImage(p.MIMEType) && len(p.Data) > 0:
		return []inputContent{{Detail: "auto", ImageURL: p.DataURL(), Type: "input_image"}}
	case p.Type == model.TypeDocument && p.MIMEType == provider.PDF && len(p.Data) > 0:
		return []inputContent{{FileData: p.DataURL(), Filename: fileName(p), Type: "input_file"}}
	case p.Type == model.TypeText:
		text = p.Text
	default:
		text = w.userText(p)
	}
	if text == "" {
		return nil
	}
	return []inputContent{{Text: text, Type: "input_text"}}
}

// result writes the result of a call.
func (w *inputWriter) result(m *toolpost.ToolMessage) error {
	takes := provider.ImagesAndPDF()
	item := outputItem{CallID: w.ids.Of(m.CallID), Type: "function_call_output"}
	var all []inputContent
	parts, text := model.ResultParts(m, takes...)
	for _, p := range parts {
		if p.Data != nil || p.Text != "" {
			all = append(all, contentOf(p))
		}
	}
	if text != "" && !slices.ContainsFunc(parts, func(p model.Part) bool { return p.Data != nil }) || len(all) == 0 {
		item.Output = text
	} else {
		item.Output = all
	}
	w.losses.AddMedia(w.message, w.part, m, takes)
	return w.put(item)
}

// contentOf returns a part of a result as content of its item.
func contentOf(p model.Part) inputContent {
	switch {
	case p.Data == nil:
		return inputContent{Text: p.Text, Type: "input_text"}
	case p.MIMEType == provider.PDF:
		return inputContent{FileData: p.DataURL(), Filename: "document.pdf", Type: "input_file"}
	}
	return inputContent{ImageURL: p.DataURL(), Type: "input_image"}
}
