package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A writer writes the messages of a request in the form of either API.
type writer struct {
	*endpoint
	tools  *toolset
	ids    *provider.CallIDs
	items  []json.RawMessage // of the request's conversation
	losses provider.Losses

	message, part int // where the writer is
}

func newWriter(e *endpoint, tools *toolset) writer {
	return writer{endpoint: e, tools: tools, ids: provider.NewCallIDs(idPrefix, maxID), losses: tools.Losses()}
}

func (w *writer) lose(format string, args ...any) {
	w.losses.Add(w.message, w.part, format, args...)
}

// put adds an item.
func (w *writer) put(item any) error {
	raw, err := json.Marshal(item)
	w.items = append(w.items, raw)
	return err
}

// messages writes all messages.
func (w *writer) messages(all []*model.Message, assistant, user func(*model.Message) error) error {
	for i, m := range all {
		w.message = i
		write := user
		if m.Role == model.RoleAssistant {
			write = assistant
		}
		if err := write(m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

// receivedParts reports for each part of a message of the assistant whether it is
// sent as it was received. A part whose raw form was damaged, for example in a
// stored session, is not.
func (w *writer) receivedParts(m *model.Message, check func(*model.Part) error) []bool {
	received := make([]bool, len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		if len(p.Raw) == 0 || !w.origin.Accepts(p.Origin) {
			continue
		}
		err := check(p)
		if received[i] = err == nil; err != nil {
			w.losses.AddDamaged(w.message, i, p, err)
		}
	}
	return received
}

// userText returns a part of the user that can be sent only as text.
func (w *writer) userText(p *model.Part) string {
	switch {
	case p.Type == model.TypeDocument && strings.HasPrefix(p.MIMEType, "text/"):
		w.lose("the document is sent as text")
		return strings.TrimSpace(p.Name + "\n\n" + string(p.Data))
	case p.Type == model.TypeImage || p.Type == model.TypeDocument:
		w.lose("the %s of type %s is described in text", p.Type, provider.MediaName(p.MIMEType))
		return provider.DescribeMedia(p)
	case p.Text != "" && p.Type != model.TypeOpaque:
		w.lose("%s of the user is sent as text", provider.PartName(p))
		return p.Text
	}
	w.lose("%s of the user is left out", provider.PartName(p))
	return ""
}

func isImage(mimeType string) bool { return slices.Contains(provider.Images(), mimeType) }

func fileName(p *model.Part) string {
	if p.Name == "" {
		return "document.pdf"
	}
	return p.Name
}

// objectText returns what a model wrote as arguments as the text of a JSON object: some
// write the text once more as a string of JSON. Without an object it is "{}".
func objectText(arguments string) string {
	var inner string
	for range 2 {
		if json.Unmarshal([]byte(arguments), &inner) == nil {
			arguments = inner
		}
	}
	return argumentsText(json.RawMessage(arguments))
}

// quoteArguments adds what the model wrote to the reason why its call cannot run: the
// call in the history does not have it.
func quoteArguments(p *model.Part, arguments string) {
	if p.Invalid != "" && arguments != "" {
		p.Invalid += " You wrote: " + cleartext.Clip(arguments, 500)
	}
}

// argumentsText returns the arguments of a call as the text of a JSON object.
func argumentsText(arguments json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil || object == nil {
		return "{}"
	}
	return string(arguments)
}
