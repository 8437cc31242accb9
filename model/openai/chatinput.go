package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A chatItem is a message of another role than the assistant.
type chatItem struct {
	Content    any    `json:"content"` // a text, or a list of chatContent
	ToolCallID string `json:"tool_call_id,omitempty"`
	Role       string `json:"role"`
}

// A chatCallItem is a call that another model made.
type chatCallItem struct {
	ID       string `json:"id"`
	Function struct {
		Arguments string `json:"arguments"`
		Name      string `json:"name"`
	} `json:"function"`
	Type string `json:"type"`
}

// A chatContent is a text, an image or a file.
type chatContent struct {
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *chatFile `json:"file,omitempty"`
	Type     string    `json:"type"`
}

// An imageURL is the address of an image.
type imageURL struct {
	URL string `json:"url"`
}

// A chatFile is a file with its name.
type chatFile struct {
	FileData string `json:"file_data"`
	Filename string `json:"filename"`
}

func textContent(text string) chatContent { return chatContent{Text: text, Type: "text"} }

func imageContent(address string) chatContent {
	return chatContent{ImageURL: &imageURL{address}, Type: "image_url"}
}

func fileContent(data, name string) chatContent {
	return chatContent{File: &chatFile{data, name}, Type: "file"}
}

// A chatWriter writes messages of the Chat Completions API.
type chatWriter struct {
	writer
}

// conversation writes all messages of a request.
func (w *chatWriter) conversation(r *model.Request) error {
	if r.System != "" {
		if err := w.put(chatItem{Content: r.System, Role: "system"}); err != nil {
			return err
		}
	}
	return w.messages(r.Messages, w.assistant, w.user)
}

// An assistantMessage is a message of the assistant. Its values keep their
// bytes.
type assistantMessage struct {
	content json.RawMessage
	texts   []string
	calls   []json.RawMessage
	members []member // others, such as reasoning_content
	refuses bool
}

// assistant writes a message of the assistant: raw parts as they are, the others
// rebuilt.
func (w *chatWriter) assistant(m *model.Message) error {
	received := w.receivedParts(m, checkReceivedChat)
	var a assistantMessage
	for i := range m.Parts {
		p := &m.Parts[i]
		w.part = i
		if received[i] {
			w.raw(&a, p)
			continue
		}
		if err := w.rebuild(&a, p); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	if len(a.texts) == 0 && len(a.calls) == 0 && !a.refuses {
		if len(a.members) > 0 {
			w.lose("thinking without an answer is left out, because the provider refuses it")
		}
		return nil
	}
	w.items = append(w.items, a.encode())
	return nil
}

// encode returns the message.
func (a *assistantMessage) encode() json.RawMessage {
	switch {
	case len(a.texts) == 0:
		a.content = json.RawMessage("null")
	case len(a.texts) > 1 || a.content == nil:
		a.content, _ = json.Marshal(strings.Join(a.texts, "")) // a string
	}
	members := append([]member{{"content", a.content}}, a.members...)
	if len(a.calls) > 0 {
		members = append(members, member{"tool_calls", provider.Array(a.calls)})
	}
	return withMembers([]byte(`{"role":"assistant"}`), members...)
}

// raw adds a part in its raw form.
func (w *chatWriter) raw(a *assistantMessage, p *model.Part) {
	if p.Type == model.TypeCall {
		w.ids.Keep(p.ID)
		a.calls = append(a.calls, p.Raw)
		return
	}
	for name, value := range wire.Members(p.Raw) {
		switch name {
		case "content":
			a.texts = append(a.texts, p.Text)
			a.content = value
		case "refusal":
			a.refuses = true
			fallthrough
		default:
			a.members = append(a.members, member{name, value})
		}
	}
}

// checkReceivedChat returns the reason why the raw form of a part cannot be sent
// back.
func checkReceivedChat(p *model.Part) error {
	if p.Type == model.TypeCall {
		var m chatMessage
		err := json.Unmarshal(withMembers([]byte("{}"), member{"tool_calls", provider.Array([]json.RawMessage{p.Raw})}), &m)
		if err == nil {
			err = m.checkAssistant(map[string]bool{})
		}
		if err == nil && m.ToolCalls[0].ID != p.ID {
			err = fmt.Errorf("its id is %q, not %q", m.ToolCalls[0].ID, p.ID)
		}
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(p.Raw, &members); err != nil {
		return err
	}
	for name, value := range members {
		if len(members) == 1 && memberType(name) == p.Type && isPresent(value) && canSendMember(name, value) {
			return nil
		}
	}
	return errors.New("it is not an object with one member of the assistant's message")
}

// rebuild adds a part that another model wrote.
func (w *chatWriter) rebuild(a *assistantMessage, p *model.Part) error {
	switch p.Type {
	case model.TypeText:
		if p.Text != "" {
			a.texts = append(a.texts, p.Text)
		}
	case model.TypeImage, model.TypeDocument:
		w.lose("the %s of the assistant is described in text", p.Type)
		a.texts = append(a.texts, provider.DescribeMedia(p))
	case model.TypeCall:
		call := chatCallItem{ID: w.ids.Choose(p.ID), Type: "function"}
		call.Function.Name, call.Function.Arguments = w.tools.WireName(p.Name, maxName), argumentsText(p.Arguments)
		raw, err := json.Marshal(call)
		a.calls = append(a.calls, raw)
		return err
	default:
		w.losses.AddForeign(w.message, w.part, p)
	}
	return nil
}

// user writes a message of the user: first the results of calls, then one
// message with the rest and with the images of the results, which a result
// itself cannot contain here.
func (w *chatWriter) user(m *model.Message) error {
	var content []chatContent
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == model.TypeResult {
			w.part = i
			media, err := w.result(p.Result)
			if err != nil {
				return fmt.Errorf("part %d: %w", i, err)
			}
			content = append(content, media...)
		}
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type != model.TypeResult {
			w.part = i
			content = append(content, w.content(p)...)
		}
	}
	switch {
	case len(content) == 0:
		return nil
	case len(content) == 1 && content[0].Type == "text":
		return w.put(chatItem{Content: content[0].Text, Role: "user"})
	}
	return w.put(chatItem{Content: content, Role: "user"})
}

// content returns a part of the user as content of a message.
func (w *chatWriter) content(p *model.Part) []chatContent {
	text := ""
	switch {
	case p.Type == model.TypeImage && isImage(p.MIMEType) && len(p.Data) > 0:
		return []chatContent{imageContent(p.DataURL())}
	case p.Type == model.TypeDocument && p.MIMEType == provider.PDF && len(p.Data) > 0 && w.isOpenAI():
		return []chatContent{fileContent(p.DataURL(), fileName(p))}
	case p.Type == model.TypeText:
		text = p.Text
	default:
		text = w.userText(p)
	}
	if text == "" {
		return nil
	}
	return []chatContent{textContent(text)}
}

// result writes the result of a call, and returns the media that the user's
// message shows instead.
func (w *chatWriter) result(m *toolpost.ToolMessage) ([]chatContent, error) {
	takes := provider.Images()
	if w.isOpenAI() {
		takes = provider.ImagesAndPDF()
	}
	id := w.ids.Of(m.CallID)
	var lines []string
	var media []chatContent
	parts, _ := model.ResultParts(m, takes...)
	for _, p := range parts {
		if p.Data == nil {
			lines = append(lines, p.Text)
			continue
		}
		lines = append(lines, fmt.Sprintf("[%s: see the user's message after the results]", p.MIMEType))
		media = append(media, textContent(fmt.Sprintf("Of the result of the call %s (%s):", id, p.MIMEType)))
		if p.MIMEType == provider.PDF {
			media = append(media, fileContent(p.DataURL(), "document.pdf"))
		} else {
			media = append(media, imageContent(p.DataURL()))
		}
		w.lose("%s of a tool result is in the user's message after it", p.MIMEType)
	}
	w.losses.AddMedia(w.message, w.part, m, takes)
	return media, w.put(chatItem{Content: strings.Join(lines, "\n"), ToolCallID: id, Role: "tool"})
}
