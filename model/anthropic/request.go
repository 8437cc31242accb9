package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/model"
)

// A builder builds the body of one request.
type builder struct {
	m       *messagesModel
	r       *model.Request
	offer   *toolset
	ids     callIDs
	orphans map[position]bool // parts that are left out
	losses  []model.Loss
}

// build returns the request in the provider's form. The body is assembled by
// hand, because an encoder would change the bytes of raw parts.
func (m *messagesModel) build(r *model.Request) (*builtRequest, error) {
	if err := validate(m.origin, r.Messages); err != nil {
		return nil, err
	}
	o, err := m.offer(r.Tools)
	if err != nil {
		return nil, err
	}
	b := &builder{m: m, r: r, offer: o, ids: newCallIDs()}
	if o != nil {
		b.losses = append(b.losses, o.losses...)
	}
	b.orphans = b.findOrphans()
	output := b.outputFormat()
	messages := b.messages()
	maxTokens := r.MaxTokens
	if maxTokens == 0 {
		maxTokens = m.opts.MaxTokens
	}
	think := b.thinking(maxTokens, messages)

	var body object
	body.add("model", quote(m.origin.Model))
	body.add("max_tokens", strconv.AppendInt(nil, int64(maxTokens), 10))
	body.add("thinking", think.config)
	body.add("output_config", outputConfig(think.effort, output))
	b.addTools(&body, r.System+output.instructions())
	b.mark(messages)
	body.add("messages", encode(messages))
	body.add("stream", json.RawMessage("true"))
	return &builtRequest{body: body.close(), offer: o, output: output, losses: b.losses}, nil
}

// validate checks what no provider accepts. A conversation may end with a
// message that the provider paused.
func validate(origin model.Origin, messages []*model.Message) error {
	n := len(messages) - 1
	if n > 0 && isPaused(origin, messages[n]) {
		messages = messages[:n]
	}
	return model.Validate(messages)
}

// isPaused reports whether m can be continued by the provider: it contains a
// part that only the provider understands, and no calls that wait for results.
func isPaused(origin model.Origin, m *model.Message) bool {
	return m.Role == model.RoleAssistant && len(m.Calls()) == 0 && slices.ContainsFunc(m.Parts, func(p model.Part) bool {
		return p.Type == model.TypeOpaque && origin.Accepts(p.Origin) && len(p.Raw) > 0
	})
}

// addTools adds the tools and the system prompt, which begin the prompt. The
// last of them is marked for the cache.
func (b *builder) addTools(body *object, system string) {
	mark := b.cacheMark()
	if b.offer != nil && len(b.offer.tools) > 0 {
		toolsMark := mark
		if !isBlank(system) {
			toolsMark = ""
		}
		body.add("tools", b.offer.list(toolsMark))
		if b.r.NoCalls {
			body.add("tool_choice", json.RawMessage(`{"type":"none"}`))
		}
	}
	if !isBlank(system) {
		body.add("system", array([]json.RawMessage{withMember(textBlock(system), mark)}))
	}
}

// cacheMark returns the member that marks the end of a cached prefix, "" if the
// cache is off.
func (b *builder) cacheMark() string {
	switch b.m.opts.CacheTTL {
	case "none":
		return ""
	case "5m":
		return `"cache_control":{"type":"ephemeral"}`
	}
	return `"cache_control":{"type":"ephemeral","ttl":` + string(quote(b.m.opts.CacheTTL)) + `}`
}

// mark marks the last two messages of the user for the cache: the next request
// finds the last one as its last but one.
func (b *builder) mark(messages []*message) {
	mark := b.cacheMark()
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if m := messages[i]; m.role == model.RoleUser && m.mark(mark) {
			left--
		}
	}
}

// A message is a message in the provider's form.
type message struct {
	role   string
	blocks []block
}

// A block is one part of a message.
type block struct {
	raw      json.RawMessage
	kind     string // its type
	received bool   // the provider wrote it: its bytes must not change
}

// mark adds the mark of the cache to the last block that may have it, and
// reports whether there is one.
func (m *message) mark(mark string) bool {
	for i := len(m.blocks) - 1; i >= 0; i-- {
		if !m.blocks[i].received {
			m.blocks[i].raw = withMember(m.blocks[i].raw, mark)
			return true
		}
	}
	return false
}

// encode returns the messages as JSON.
func encode(messages []*message) json.RawMessage {
	var all []json.RawMessage
	for _, m := range messages {
		var blocks []json.RawMessage
		for _, b := range m.blocks {
			blocks = append(blocks, b.raw)
		}
		var o object
		o.add("role", quote(m.role))
		o.add("content", array(blocks))
		all = append(all, o.close())
	}
	return array(all)
}

// An object writes a JSON object, whose values keep their bytes.
type object struct{ b bytes.Buffer }

// add adds a member; one without a value is left out.
func (o *object) add(name string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	separator := byte(',')
	if o.b.Len() == 0 {
		separator = '{'
	}
	o.b.WriteByte(separator)
	o.b.Write(quote(name))
	o.b.WriteByte(':')
	o.b.Write(value)
}

// close returns the object.
func (o *object) close() json.RawMessage {
	if o.b.Len() == 0 {
		o.b.WriteByte('{')
	}
	o.b.WriteByte('}')
	return o.b.Bytes()
}

// array returns a JSON array, whose items keep their bytes.
func array(items []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// quote returns a JSON string. Bytes that are not UTF-8 are replaced.
func quote(text string) json.RawMessage {
	quoted, err := codec.Encode(text)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return quoted
}
