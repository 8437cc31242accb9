package claudecli

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/usage"
)

// An apiMessage is a message of the API while it arrives: as the events of its
// stream, and in between each finished block in a frame.
type apiMessage struct {
	id       string
	first    int                 // index of its first part
	next     int                 // index of the part of its next block
	blocks   map[int64]openBlock // those whose parts are kept, by the index in the stream
	usage    message.Usage
	stop     string // the worst word for its end; empty if there is none
	streamed bool
}

// An openBlock is a block that is being written.
type openBlock struct {
	part int
	kind model.PartType // the type of the part
	name string         // of a tool
}

// outputTool is the tool with which the model gives a structured output.
const outputTool = "StructuredOutput"

// begin begins a message, which restarts the response if the last one ended early.
func (t *turn) begin(id string, u message.Usage, streamed bool, early *model.Error) error {
	t.id = id
	t.message = &apiMessage{id: id, first: len(t.parts), next: len(t.parts), blocks: map[int64]openBlock{}, usage: u, streamed: streamed}
	return t.emitTokens(early)
}

// emitTokens yields the tokens so far: the end may be missing.
func (t *turn) emitTokens(restart *model.Error) error {
	return t.emit(&model.Delta{Restart: restart, Tokens: new(t.tokens.Add(tokensOf(&t.message.usage)))})
}

// event reads an event of the stream.
func (t *turn) event(e *message.StreamEvent) (*model.Response, error) {
	if e.Kind == "message_start" {
		var early *model.Error
		if t.message != nil {
			early = t.earlyEndError()
			t.discard()
		}
		return nil, t.begin(e.APIMessageID, e.Usage, true, early)
	}
	if t.message == nil || !t.message.streamed {
		return nil, nil
	}
	switch e.Kind {
	case "content_block_start":
		return nil, t.open(e)
	case "content_block_delta":
		return nil, t.add(e)
	case "message_delta":
		t.message.usage = larger(t.message.usage, e.Usage)
		t.message.stop = provider.Worse(t.message.stop, e.Delta.StopReason)
		if err := t.emitTokens(nil); err != nil {
			return nil, err
		}
		if t.message.cut() { // the sooner the CLI is interrupted, the better
			return t.finish()
		}
	case "message_stop":
		return t.finish()
	}
	return nil, nil
}

// earlyEndError returns the error of a message that did not end.
func (t *turn) earlyEndError() *model.Error {
	return &model.Error{Origin: t.m.origin, Kind: model.KindConnection, Text: "the stream ended early"}
}

// open begins a block.
func (t *turn) open(e *message.StreamEvent) error {
	b := openBlock{part: t.message.next, kind: kindOf(e.Block)}
	if use, ok := e.Block.(*message.ToolUse); ok {
		if !t.keeps(use) {
			return nil
		}
		b.name = t.c.tools.name(use.Name)
	}
	t.message.next++
	t.message.blocks[e.Index] = b
	if b.kind == model.TypeCall {
		return t.emit(&model.Delta{Part: b.part, Type: b.kind, Name: b.name})
	}
	return nil
}

// add adds to a block.
func (t *turn) add(e *message.StreamEvent) error {
	b, kept := t.message.blocks[e.Index]
	text := e.Delta.Text + e.Delta.Thinking + e.Delta.PartialJSON // one of them
	if !kept || text == "" {
		return nil
	}
	if err := t.grow(len(text)); err != nil {
		return err
	}
	return t.emit(&model.Delta{Part: b.part, Type: b.kind, Name: b.name, Text: text})
}

// keeps reports whether a call is for the agent.
func (t *turn) keeps(use *message.ToolUse) bool {
	return !t.c.request.NoCalls && (t.c.request.Output == nil || use.Name != outputTool)
}

func kindOf(b message.Block) model.PartType {
	switch b.(type) {
	case *message.Text:
		return model.TypeText
	case *message.Thinking:
		return model.TypeThinking
	case *message.ToolUse:
		return model.TypeCall
	}
	return model.TypeOpaque
}

// frame reads finished blocks.
func (t *turn) frame(a *message.Assistant) (*model.Response, error) {
	if a.Model == "<synthetic>" {
		t.trouble.message = a
		return nil, nil
	}
	if t.message != nil && !t.message.streamed && t.message.id != a.MessageID {
		t.count()
	}
	if t.message == nil {
		if err := t.begin(a.MessageID, a.Usage, false, nil); err != nil {
			return nil, err
		}
	}
	t.model = a.Model
	if err := t.grow(len(a.Message)); err != nil {
		return nil, err
	}
	if err := t.content(a); err != nil {
		return nil, err
	}
	t.message.stop = provider.Worse(t.message.stop, a.StopReason)
	if !t.message.streamed && t.message.stop != "" {
		return t.finish()
	}
	return nil, nil
}

// content adds the parts of the finished blocks of a frame.
func (t *turn) content(a *message.Assistant) error {
	var raw struct {
		Content []json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(a.Message, &raw) // a text instead of blocks has no raw form
	if len(raw.Content) != len(a.Content) {
		raw.Content = make([]json.RawMessage, len(a.Content))
	}
	for i, b := range a.Content {
		if err := t.block(b, raw.Content[i]); err != nil {
			return err
		}
	}
	return nil
}

// block adds the part of a finished block.
func (t *turn) block(b message.Block, raw json.RawMessage) error {
	if len(t.parts) >= provider.MaxParts {
		return provider.ErrTooManyParts
	}
	origin := t.m.origin
	p := model.Part{Type: kindOf(b)}
	said := ""
	switch b := b.(type) {
	case *message.Text:
		p.Text, said = b.Text, b.Text
	case *message.Thinking:
		p.Text, said = b.Thinking, b.Thinking
	case *message.ToolUse:
		if !t.keeps(b) {
			if b.Name != outputTool {
				t.losses.Add(-1, -1, "the model called %q although it must not; the call was refused", t.c.tools.name(b.Name))
			}
			return nil
		}
		p, said = t.c.tools.call(b), string(b.Input)
	default:
		p.Text = b.Kind()
	}
	p.Origin, p.Raw = &origin, raw
	t.parts = append(t.parts, p)
	if t.message.streamed || said == "" {
		return nil
	}
	return t.emit(&model.Delta{Part: len(t.parts) - 1, Type: p.Type, Name: p.Name, Text: said})
}

// cut reports whether the message ended early, or in a way that is not known. The CLI
// would go on in its own way.
func (m *apiMessage) cut() bool {
	end, _ := provider.Ending(m.stop)
	return end != model.StopEnd && end != model.StopPause
}

// finish ends the message. It returns the response if the CLI cannot or must not
// go on by itself.
func (t *turn) finish() (*model.Response, error) {
	m := t.message
	t.count()
	switch end, known := provider.Ending(m.stop); {
	case end == provider.EndFailed:
		return nil, &model.Error{Kind: model.KindServer, Text: "the response ended because of an error: " + t.m.quote(m.stop)}
	case end == model.StopRefusal:
		r := t.response(model.StopRefusal)
		r.Refusal = "the model or its provider refuses to answer"
		if !known {
			r.Refusal = provider.Incomplete(t.m.quote(m.stop))
		}
		return r, nil
	case end == model.StopLength:
		return t.response(model.StopLength), nil
	case !hasCalls(t.parts[m.first:]):
		return nil, nil
	case m.stop == "": // they may not be all, or refused
		return nil, t.earlyEndError()
	}
	return t.response(model.StopCalls), nil
}

func hasCalls(parts []model.Part) bool {
	return slices.ContainsFunc(parts, func(p model.Part) bool { return p.Type == model.TypeCall })
}

// count adds the tokens of the message.
func (t *turn) count() {
	t.tokens = t.tokens.Add(tokensOf(&t.message.usage))
	t.message = nil
}

func tokensOf(u *message.Usage) usage.Tokens {
	return usage.Tokens{
		Input: int(u.InputTokens), CacheRead: int(u.CacheReadInputTokens), CacheWrite: int(u.CacheCreationInputTokens),
		LongCacheWrite: int(u.CacheCreation.Ephemeral1hInputTokens), Output: int(u.OutputTokens), Reasoning: int(u.OutputTokensDetails.ThinkingTokens),
	}
}

// larger returns the larger one of each number: the end of a stream repeats some
// of its start and leaves out others.
func larger(a, b message.Usage) message.Usage {
	a.InputTokens = max(a.InputTokens, b.InputTokens)
	a.OutputTokens = max(a.OutputTokens, b.OutputTokens)
	a.CacheCreationInputTokens = max(a.CacheCreationInputTokens, b.CacheCreationInputTokens)
	a.CacheCreation.Ephemeral1hInputTokens = max(a.CacheCreation.Ephemeral1hInputTokens, b.CacheCreation.Ephemeral1hInputTokens)
	a.CacheReadInputTokens = max(a.CacheReadInputTokens, b.CacheReadInputTokens)
	a.OutputTokensDetails.ThinkingTokens = max(a.OutputTokensDetails.ThinkingTokens, b.OutputTokensDetails.ThinkingTokens)
	return a
}
