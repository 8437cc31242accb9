package claude

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/toolpost/toolpost/claude/cli"
	"github.com/toolpost/toolpost/claude/message"
)

// A Block is one content block of a prompt, in the form of the Messages API.
type Block struct {
	Type   string  `json:"type"` // text, image or document
	Text   string  `json:"text,omitempty"`
	Source *Source `json:"source,omitempty"`
}

// A Source is the data of an image or a document.
type Source struct {
	Type      string `json:"type"` // base64, url or file
	MediaType string `json:"media_type,omitempty"`
	Data      string `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// Text returns a block of text.
func Text(text string) Block { return Block{Type: "text", Text: text} }

// Media returns a block with an image (image/png, image/jpeg, image/gif,
// image/webp) or a document (application/pdf).
func Media(mediaType string, data []byte) Block {
	b := Block{Type: "image", Source: &Source{Type: "base64", MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)}}
	if mediaType == "application/pdf" {
		b.Type = "document"
	}
	return b
}

// RunContent is [Run] for content blocks, such as images. Content is a []Block,
// or anything else that encodes as content blocks of the Messages API.
func RunContent(ctx context.Context, content any, opts *Options) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		encoded, err := encodeContent(content)
		if err != nil {
			yield(nil, err)
			return
		}
		r, err := start(ctx, opts, true)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &Session{r}
		defer s.Close()
		if err := s.send(ctx, newUUID(), encoded, false); err != nil {
			yield(nil, s.because(err))
			return
		}
		for m, err := range s.Messages(context.WithoutCancel(ctx)) {
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// encodeContent encodes the content of a prompt. Null is refused: the CLI would
// wait for more.
func encodeContent(content any) (json.RawMessage, error) {
	encoded, err := json.Marshal(content)
	switch encoded := string(encoded); {
	case err != nil:
		return nil, fmt.Errorf("encode the prompt: %w", err)
	case encoded == "null", encoded == "[]", encoded == `""`:
		return nil, errors.New("the prompt has no content; give at least one block, such as claude.Text(…)")
	}
	return encoded, nil
}

// verbatimSince is the version of the CLI from which it can be told to take a
// prompt as it is.
const verbatimSince = "2.1.248"

// expandable matches JSON that may have a mention of a file, or a text that begins
// with a command.
var expandable = regexp.MustCompile(`(?i)@|\\u00(40|2f)|(^|"text":)\s*"(\s|\\[a-z])*/`)

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
	if cli.AtLeast(info.Version, verbatimSince) {
		return nil
	}
	return fmt.Errorf("send the prompt: it contains @ or begins with /, and the claude CLI of version %s would read files or run commands that it names; update the CLI to %s or later, or set ExpandPrompts if that is wanted",
		cmp.Or(info.Version, "unknown"), verbatimSince)
}
