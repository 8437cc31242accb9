package message

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Block is one content block: *Text, *Thinking, *ToolUse, *ToolResult, … or
// *UnknownBlock.
type Block interface {
	Kind() string
}

// A BlockHeader contains what all blocks have.
type BlockHeader struct {
	Type  string                     `json:"type"`
	Extra map[string]json.RawMessage `json:",embed"` // unknown members
	Raw   json.RawMessage            `json:"-"`      // the whole block
}

// Kind returns the block's type.
func (h *BlockHeader) Kind() string { return h.Type }

func (h *BlockHeader) origin() *BlockHeader { return h }

// A Text is text.
type Text struct {
	BlockHeader
	Text      string          `json:"text"`
	Citations json.RawMessage `json:"citations"`
}

// A Thinking is the model's thinking before its answer.
type Thinking struct {
	BlockHeader
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

// A RedactedThinking is thinking that the API does not show.
type RedactedThinking struct {
	BlockHeader
	Data string `json:"data"`
}

// A ToolUse is a call of a tool.
type ToolUse struct {
	BlockHeader
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Caller json.RawMessage `json:"caller"`
}

// A ToolResult is the result of a call.
type ToolResult struct {
	BlockHeader
	ToolUseID string  `json:"tool_use_id"`
	Content   []Block `json:"content"` // text that came as a string is one *Text
	IsError   bool    `json:"is_error"`
}

// Text returns the text of the result, its blocks joined by newlines.
func (b *ToolResult) Text() string { return textOf(b.Content) }

// A ServerToolUse is a call of a tool that the API runs itself.
type ServerToolUse struct {
	BlockHeader
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// A WebToolResult is the result of the API's web_search or web_fetch; its Type says which.
type WebToolResult struct {
	BlockHeader
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"` // of a search an array of results, or an object that is an error
}

// An Image is an image.
type Image struct {
	BlockHeader
	From Data `json:"source"`
}

// A Document is a file that the model reads, such as a PDF.
type Document struct {
	BlockHeader
	From      Data            `json:"source"`
	Title     string          `json:"title"`
	Context   string          `json:"context"`
	Citations json.RawMessage `json:"citations"`
}

// A Data is the data of an image or a document, or its location.
type Data struct {
	Type      string          `json:"type"` // base64, url, file, text or content
	MediaType string          `json:"media_type"`
	Data      string          `json:"data"`
	URL       string          `json:"url"`
	FileID    string          `json:"file_id"`
	Content   json.RawMessage `json:"content"`
}

// A ToolReference is the name of a tool that a tool search found.
type ToolReference struct {
	BlockHeader
	ToolName string `json:"tool_name"`
}

// An APIBlock is a block that has no type of its own here, such as a
// code_execution_tool_result: its Type names it, and Extra and Raw have its members.
type APIBlock struct{ BlockHeader }

// An UnknownBlock is a content block of an unknown type.
type UnknownBlock struct{ BlockHeader }

type knownBlock interface {
	Block
	origin() *BlockHeader
}

// A blockKind is a type of block with the members that it cannot be without.
type blockKind struct {
	new      func() knownBlock
	required []string
}

func blockOf[T any, P interface {
	*T
	knownBlock
}](required ...string) blockKind {
	return blockKind{func() knownBlock { return P(new(T)) }, required}
}

// untypedBlocks are the blocks that are decoded as an [APIBlock]: those of what the API
// runs itself, and those that only change what the model is given.
const untypedBlocks = "advisor_tool_result code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result " +
	"tool_search_tool_result mcp_tool_use mcp_tool_result mcp_tool_listing container_upload compaction fallback search_result tool_addition tool_removal"

func blockKinds() map[string]blockKind {
	all := map[string]blockKind{
		"text":                   blockOf[Text]("text"),
		"thinking":               blockOf[Thinking]("thinking"),
		"redacted_thinking":      blockOf[RedactedThinking](),
		"tool_use":               blockOf[ToolUse]("id", "name"),
		"tool_result":            blockOf[ToolResult]("tool_use_id"),
		"server_tool_use":        blockOf[ServerToolUse]("id", "name"),
		"web_search_tool_result": blockOf[WebToolResult]("tool_use_id"),
		"web_fetch_tool_result":  blockOf[WebToolResult]("tool_use_id"),
		"image":                  blockOf[Image]("source"),
		"document":               blockOf[Document]("source"),
		"tool_reference":         blockOf[ToolReference]("tool_name"),
	}
	for _, name := range strings.Fields(untypedBlocks) {
		all[name] = blockOf[APIBlock]()
	}
	return all
}

// blocks reads content: an array of blocks, or a string for one of text.
func (d *decoder) blocks(dec *jsontext.Decoder, to *[]Block) error {
	raw, err := d.next(dec)
	if err != nil {
		return err
	}
	at := below(d.at, dec.StackPointer())
	*to = nil
	switch jsontext.Value(raw).Kind() {
	case 'n':
		return nil
	case '"':
		t := &Text{BlockHeader: BlockHeader{Type: "text", Raw: raw}}
		*to = []Block{t}
		return d.decode(raw, at, &t.Text)
	}
	var parts []json.RawMessage
	if err := d.decode(raw, at, &parts); err != nil {
		return err
	}
	for i, part := range parts {
		b, err := d.block(part, at+"."+strconv.Itoa(i))
		if err != nil {
			return err
		}
		*to = append(*to, b)
	}
	return nil
}

// single reads one block; null is none.
func (d *decoder) single(dec *jsontext.Decoder, to *Block) error {
	raw, err := d.next(dec)
	if err != nil || jsontext.Value(raw).Kind() == 'n' {
		return err
	}
	*to, err = d.block(raw, below(d.at, dec.StackPointer()))
	return err
}

func (d *decoder) block(raw json.RawMessage, at string) (Block, error) {
	if jsontext.Value(raw).Kind() != '{' {
		return nil, &fieldError{at, errNoObject}
	}
	kind, err := text(raw, "type")
	if err != nil {
		return nil, &fieldError{at + ".type", err}
	}
	if kind == "" {
		return nil, &fieldError{at + ".type", errMissing}
	}
	known, ok := d.kinds[kind]
	if !ok || strings.Count(at, ".") > maxDepth {
		d.met("content_block", kind, raw)
		return &UnknownBlock{BlockHeader{Type: kind, Raw: raw}}, nil
	}
	b := known.new()
	if err := d.part(raw, at, b, known.required...); err != nil {
		return nil, err
	}
	source := b.origin()
	source.Type, source.Raw = kind, raw
	if _, untyped := b.(*APIBlock); untyped { // has no fields that are known
		return b, nil
	}
	for name, value := range source.Extra {
		d.met("field", "content_block/"+kind+"."+name, value)
	}
	return b, nil
}

// maxDepth is how many fields a block may be deep in a message: results hold
// blocks, but no results of results.
const maxDepth = 16

func textOf(blocks []Block) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(*Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}
