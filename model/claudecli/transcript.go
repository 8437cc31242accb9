package claudecli

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// first returns the whole conversation for a new session: the last message as a
// prompt, and those before it as text.
func (c *conversation) first() *input {
	in, messages := &input{}, c.request.Messages
	last := len(messages) - 1
	t := &transcript{in: in}
	for i, m := range messages {
		for j, p := range m.Parts {
			if i < last || p.Type == model.TypeResult {
				t.add(i, j, m.Role, p)
			}
		}
	}
	if t.text.Len() > 0 {
		in.blocks = append(t.blocks(), in.blocks...)
	}
	for j, p := range messages[last].Parts {
		if p.Type != model.TypeResult {
			in.add(last, j, p)
		}
	}
	return in
}

// A transcript is a conversation as text: one JSON object a line, so that
// nothing that a tool returned can pass for the message of a person.
type transcript struct {
	in          *input
	text        bytes.Buffer
	attachments []claude.Block
}

// A transcriptLine is one part of a message.
type transcriptLine struct {
	Role       model.Role      `json:"role"`
	Text       string          `json:"text,omitempty"`
	Call       string          `json:"tool_call,omitempty"` // the tool's name
	ID         string          `json:"id,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	ResultOf   string          `json:"result_of,omitempty"` // the id of the call
	IsError    bool            `json:"is_error,omitempty"`
	Attachment int             `json:"attachment,omitempty"` // the number of an image or document
	Name       string          `json:"name,omitempty"`
}

const asText = "it was sent as text: the CLI takes no earlier messages"

// add adds a part and reports what is lost of it.
func (t *transcript) add(message, part int, role model.Role, p model.Part) {
	line := transcriptLine{Role: role}
	switch p.Type {
	case model.TypeText:
		line.Text = p.Text
	case model.TypeImage, model.TypeDocument:
		line.Name = p.Name
		t.attach(&line, p)
	case model.TypeCall:
		line.Call, line.ID, line.Arguments = p.Name, p.ID, p.Arguments
	case model.TypeResult:
		t.addResult(message, part, p)
		return
	default:
		t.in.losses.Add(message, part, "it was left out: the CLI takes no %s of earlier messages", p.Type)
		return
	}
	t.write(line)
	if line.Attachment > 0 {
		t.in.losses.Add(message, part, "it was attached to the prompt: the CLI takes no earlier messages")
		return
	}
	t.in.losses.Add(message, part, asText)
}

func (t *transcript) addResult(message, part int, p model.Part) {
	id := p.Result.CallID
	parts, _ := model.ResultParts(p.Result, provider.ImagesAndPDF()...)
	for _, piece := range parts {
		line := transcriptLine{Role: model.RoleUser, ResultOf: id, IsError: p.Result.IsError, Text: piece.Text}
		if piece.Data != nil {
			t.attach(&line, piece)
		}
		t.write(line)
	}
	t.in.losses.Add(message, part, asText)
}

// attach adds an image or a document to the prompt. If the CLI does not take its
// type, a description becomes the text of the line.
func (t *transcript) attach(line *transcriptLine, p model.Part) {
	b, ok := media(p)
	if !ok {
		line.Text = b.Text
		return
	}
	t.attachments = append(t.attachments, b)
	line.Attachment = len(t.attachments)
}

func (t *transcript) write(line transcriptLine) {
	if len(line.Arguments) > 0 && !json.Valid(line.Arguments) {
		line.Arguments, line.Text = nil, string(line.Arguments)
	}
	e := json.NewEncoder(&t.text)
	e.SetEscapeHTML(false)
	_ = e.Encode(line) // strings and valid JSON can be encoded, and a buffer takes them
}

// blocks returns the transcript with its attachments.
func (t *transcript) blocks() []claude.Block {
	const before = "This conversation began in another session. Its earlier messages are below, one JSON object a line; " +
		"role is who wrote it, and an attachment follows below with its number. Continue the conversation: do not repeat calls that have a result.\n\n"
	blocks := []claude.Block{claude.Text(before + t.text.String())}
	for i, b := range t.attachments {
		blocks = append(blocks, claude.Text(fmt.Sprintf("Attachment %d:", i+1)), b)
	}
	return blocks
}
