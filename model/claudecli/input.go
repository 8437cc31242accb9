package claudecli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// An input is what a session receives of a request.
type input struct {
	blocks  []claude.Block // of a prompt; none if there are only results
	answers []callAnswer
	losses  provider.Losses
}

// A callAnswer is the answer to the call with that id.
type callAnswer struct {
	id string
	*answer
}

// next returns the new messages for an open session.
func (c *conversation) next(s *session) *input {
	in := &input{}
	for i, m := range c.request.Messages {
		if i < len(s.said) {
			continue
		}
		for j, p := range m.Parts {
			if p.Type != model.TypeResult {
				in.add(i, j, p)
				continue
			}
			a, lost := answerOf(p.Result)
			in.answers = append(in.answers, callAnswer{p.Result.CallID, a})
			if !slices.Contains(s.calls, p.Result.CallID) {
				lost = "the CLI itself has answered the call: there is no such tool"
			}
			if lost != "" {
				in.losses.Add(i, j, "%s", lost)
			}
		}
	}
	if len(in.answers) > 0 {
		in.moveMedia(len(c.request.Messages) - 1)
	}
	return in
}

// add adds a part of a user's message to the prompt.
func (in *input) add(message, part int, p model.Part) {
	switch p.Type {
	case model.TypeText:
		if strings.TrimSpace(p.Text) != "" {
			in.blocks = append(in.blocks, claude.Text(p.Text))
		}
	case model.TypeImage, model.TypeDocument:
		b, ok := media(p)
		if !ok {
			in.losses.Add(message, part, "the CLI takes no %s; it was described in words", p.MIMEType)
		}
		in.blocks = append(in.blocks, b)
	default:
		in.losses.Add(message, part, "the CLI takes no part of the type %s in a prompt; it was left out", p.Type)
	}
}

// moveMedia moves images and documents from the prompt to the last answer: the
// CLI takes only text while it works.
func (in *input) moveMedia(message int) {
	var moved []claude.Block
	in.blocks = slices.DeleteFunc(in.blocks, func(b claude.Block) bool {
		if b.Type == "text" {
			return false
		}
		moved = append(moved, b)
		return true
	})
	if len(moved) == 0 {
		return
	}
	for _, a := range slices.Backward(in.answers) {
		if a.result.IsError() {
			continue // only a success can be replaced
		}
		text, _ := a.result.FirstText()
		blocks := []claude.Block{claude.Text(text)}
		if a.blocks != nil {
			_ = json.Unmarshal(a.blocks, &blocks) // this package wrote them
		}
		a.setBlocks(append(blocks, moved...))
		in.losses.Add(message, -1, "the images and documents were sent with the result of a call")
		return
	}
	in.losses.Add(message, -1, "the images and documents were left out: the CLI takes none with results that are errors")
}

// media returns the block of an image or a document. For a type that the CLI
// does not take, it returns a text and false.
func media(p model.Part) (claude.Block, bool) {
	switch {
	case slices.Contains(provider.Images(), p.MIMEType):
		return claude.Media(p.MIMEType, p.Data), true
	case p.MIMEType == provider.PDF, strings.HasPrefix(p.MIMEType, "text/"):
		mediaType := "text/plain"
		if p.MIMEType == provider.PDF {
			mediaType = provider.PDF
		}
		b := claude.Media(mediaType, p.Data)
		b.Title = p.Name
		return b, true
	}
	return claude.Text(provider.DescribeMedia(&p)), false
}

// answerOf returns the result of a call for the CLI, and what is lost of it.
func answerOf(m *toolpost.ToolMessage) (a *answer, lost string) {
	takes := provider.ImagesAndPDF()
	if m.IsError {
		takes = nil // an error is text
	}
	var blocks []claude.Block
	hasMedia := false
	parts, text := model.ResultParts(m, takes...)
	for _, p := range parts {
		switch {
		case p.Data != nil:
			hasMedia = true
			blocks = append(blocks, claude.Media(p.MIMEType, p.Data))
		case p.Text != "":
			blocks = append(blocks, claude.Text(p.Text))
		}
	}
	switch {
	case m.IsError:
		a = &answer{result: toolpost.Failed.Resultf("%s", text)}
	case hasMedia:
		a = &answer{result: toolpost.TextResult(text)}
		a.setBlocks(blocks)
	default:
		a = &answer{result: toolpost.TextResult(text)}
	}
	for _, p := range m.Parts {
		if len(p.Data) > 0 && !slices.Contains(takes, p.MIMEType) {
			lost = "media that a result cannot contain were described in words"
		}
	}
	if len(text) > maxResult {
		lost = "the result is so long that the CLI sends only its beginning"
	}
	return a, lost
}

func (a *answer) setBlocks(blocks []claude.Block) {
	if raw, err := json.Marshal(blocks); err == nil { // blocks can always be encoded
		a.blocks = raw
	}
}
