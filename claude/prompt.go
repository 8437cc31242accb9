package claude

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/claude/internal/cliversion"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A Prompt is a message to the model. [Run], [Session.Turn] and [Session.Send] take
// its text and blocks alone.
type Prompt struct {
	Text   string
	Blocks []Block // come after Text, such as images

	UUID   string // a Result that answers the prompt contains it; a new one if empty
	NoTurn bool   // only adds to the conversation: the model reads it with the next prompt

	// Priority determines when the CLI takes a prompt that it receives during a turn:
	// "now" interrupts the turn, "next" is before the next request to the model within
	// the turn, "later" after the turn; "next" if empty.
	Priority string
}

// A Block is one content block of a prompt: text, or an image or a document with one of Data,
// URL and FileID.
type Block struct {
	Type string // text, image or document
	Text string

	MediaType string // of Data
	Data      []byte
	URL       string
	FileID    string // of a file that the API has
	Title     string // of a document

	Raw json.RawMessage // the whole block in the form of the Messages API, in place of the other fields
}

// Text returns a block of text.
func Text(text string) Block { return Block{Type: "text", Text: text} }

// Media returns a block with an image (image/png, image/jpeg, image/gif,
// image/webp) or a document (application/pdf, text/plain).
func Media(mediaType string, data []byte) Block {
	b := Block{Type: "image", MediaType: mediaType, Data: data}
	if mediaType == "application/pdf" || mediaType == "text/plain" {
		b.Type = "document"
	}
	return b
}

// A blockSource is the data of an image or a document, or where it is.
type blockSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
	FileID    string `json:"file_id,omitempty"`
}

// MarshalJSON returns the block in the form of the Messages API.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Raw != nil {
		return b.Raw, nil
	}
	return json.Marshal(struct {
		Type   string       `json:"type"`
		Text   string       `json:"text,omitempty"`
		Source *blockSource `json:"source,omitempty"`
		Title  string       `json:"title,omitempty"`
	}{b.Type, b.Text, b.source(), b.Title})
}

// source returns nil for a block of text.
func (b Block) source() *blockSource {
	switch {
	case b.FileID != "":
		return &blockSource{Type: "file", FileID: b.FileID}
	case b.URL != "":
		return &blockSource{Type: "url", URL: b.URL}
	case b.MediaType == "text/plain":
		return &blockSource{Type: "text", MediaType: b.MediaType, Data: strings.ToValidUTF8(string(b.Data), "\uFFFD")}
	case b.MediaType != "":
		return &blockSource{Type: "base64", MediaType: b.MediaType, Data: base64.StdEncoding.EncodeToString(b.Data)}
	}
	return nil
}

// content returns the content blocks of a prompt that the CLI would accept.
func (p *Prompt) content() (json.RawMessage, error) {
	blocks := p.Blocks
	switch {
	case p.UUID != "" && !uuidPattern.MatchString(p.UUID):
		return nil, fmt.Errorf("the UUID %q of the prompt is not a UUID; leave it out to have one generated", p.UUID)
	case !slices.Contains([]string{"", "now", "next", "later"}, p.Priority):
		return nil, fmt.Errorf("unknown Priority %q; use now, next or later", p.Priority)
	case strings.TrimSpace(p.Text) != "":
		blocks = slices.Concat([]Block{Text(p.Text)}, blocks)
	case len(blocks) == 0:
		return nil, errors.New("the prompt is empty; give a task")
	}
	content, err := json.Marshal(blocks)
	if err != nil {
		return nil, fmt.Errorf("encode the prompt: %w", err)
	}
	return content, nil
}

// A userLine is a prompt as the CLI reads it.
type userLine struct {
	Type            string      `json:"type"`
	UUID            string      `json:"uuid"`
	SessionID       string      `json:"session_id"`
	ParentToolUseID *string     `json:"parent_tool_use_id"`
	Message         userContent `json:"message"`
	Priority        string      `json:"priority,omitempty"`
	ShouldQuery     *bool       `json:"shouldQuery,omitempty"`
	Verbatim        bool        `json:"client_composed,omitempty"` // no @file is read and no /command is run
}

type userContent struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// send writes a prompt. With watch, turns keeps the result that answers it.
func (s *Session) send(ctx context.Context, uuid string, p *Prompt, watch bool) error {
	content, err := p.content()
	err = errors.Join(err, checkWord(s.opts.logger(), "Priority", p.Priority, "now", "next", "later"))
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if err := s.checkVerbatim(ctx, content); err != nil {
		return err
	}
	l := userLine{
		Type: "user", UUID: uuid, Message: userContent{Role: "user", Content: content},
		Priority: p.Priority, Verbatim: !s.opts.ExpandPrompts,
	}
	if p.NoTurn {
		l.ShouldQuery = new(bool)
	} else {
		s.turns.sent(uuid, watch)
	}
	if err := s.conn.write(l); err != nil {
		return s.because(err)
	}
	return nil
}

// verbatimSince is the version of the CLI from which it can be told to take a
// prompt as it is.
const verbatimSince = "2.1.248"

// expandable matches JSON that may have a mention of a file, or a text that begins
// with a command.
var expandable = lazyregexp.New(`(?i)@|\\u00(40|2f)|(^|"text":)\s*"(\s|\\[a-z])*/`)

// checkVerbatim refuses to send a prompt that the CLI may expand although it
// must not. It waits for the CLI's version if the prompt
// may mention a file or begins with a command.
func (s *Session) checkVerbatim(ctx context.Context, content []byte) error {
	if s.opts.ExpandPrompts || !expandable.Match(content) {
		return nil
	}
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	if cliversion.AtLeast(info.Version, verbatimSince) {
		return nil
	}
	return fmt.Errorf("send the prompt: it contains @ or begins with /, and the claude CLI of version %s would read files or run commands that it names; update the CLI to %s or later, or set ExpandPrompts if that is wanted",
		cmp.Or(info.Version, "unknown"), verbatimSince)
}
