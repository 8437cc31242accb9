package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A builder builds the body of one request.
type builder struct {
	m       *messagesModel
	r       *model.Request
	tools   *toolset
	ids     *provider.CallIDs
	orphans map[position]bool // parts that are left out
	losses  provider.Losses
}

// build returns the request in the provider's form. The body is assembled by
// hand, because an encoder would change the bytes of raw parts.
func (m *messagesModel) build(r *model.Request) (*builtRequest, error) {
	if err := validate(m.origin, r.Messages); err != nil {
		return nil, err
	}
	ts, err := m.toolset(r.Tools)
	if err != nil {
		return nil, err
	}
	b := &builder{m: m, r: r, tools: ts, ids: provider.NewCallIDs(idPrefix, maxID), losses: ts.Losses()}
	b.orphans = b.findOrphans()
	output := b.outputFormat()
	messages := b.messages()
	maxTokens := r.MaxTokens
	if maxTokens == 0 {
		maxTokens = m.opts.MaxTokens
	}
	think := b.thinking(maxTokens, messages)

	var body provider.Object
	body.AddText("model", m.origin.Model)
	body.Add("max_tokens", strconv.AppendInt(nil, int64(maxTokens), 10))
	body.Add("thinking", think.config)
	body.Add("output_config", outputConfig(think.effort, output))
	b.addTools(&body, r.System+output.instructions())
	b.mark(messages)
	body.Add("messages", encode(messages))
	body.Add("stream", json.RawMessage("true"))
	return &builtRequest{body: body.JSON(), tools: ts, output: output, losses: b.losses}, nil
}

// validate checks what no provider accepts. A conversation may end with a
// message that the provider paused.
func validate(origin model.Origin, messages []*model.Message) error {
	n := len(messages) - 1
	if n > 0 && isPaused(origin, messages[n]) {
		messages = messages[:n]
	}
	return (&model.Request{Messages: messages}).Validate()
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
func (b *builder) addTools(body *provider.Object, system string) {
	mark := b.cacheMark()
	if len(b.tools.tools) > 0 {
		toolsMark := mark
		if !isBlank(system) {
			toolsMark = nil
		}
		body.Add("tools", b.tools.list(toolsMark))
		if b.r.NoCalls {
			body.Add("tool_choice", json.RawMessage(`{"type":"none"}`))
		}
	}
	if !isBlank(system) {
		body.Add("system", provider.Array([]json.RawMessage{withMark(textBlock(system), mark)}))
	}
}

// cacheMark returns the mark of the end of a cached prefix, nil if the cache is
// off.
func (b *builder) cacheMark() json.RawMessage {
	if b.m.opts.CacheTTL == "none" {
		return nil
	}
	var mark provider.Object
	mark.AddText("type", "ephemeral")
	if b.m.opts.CacheTTL != defaultCacheTTL {
		mark.AddText("ttl", b.m.opts.CacheTTL)
	}
	return mark.JSON()
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
	role   model.Role
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
func (m *message) mark(mark json.RawMessage) bool {
	for i := len(m.blocks) - 1; i >= 0; i-- {
		if !m.blocks[i].received {
			m.blocks[i].raw = withMark(m.blocks[i].raw, mark)
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
		var o provider.Object
		o.AddText("role", string(m.role))
		o.Add("content", provider.Array(blocks))
		all = append(all, o.JSON())
	}
	return provider.Array(all)
}
