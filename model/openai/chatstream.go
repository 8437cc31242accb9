package openai

import (
	"encoding/json"
	"slices"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/usage"
)

// A chatChunk is an event of a stream, or the response of a server that does not stream.
type chatChunk struct {
	ID      looseText       `json:"id"`
	Model   looseText       `json:"model"`
	Choices []chatChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Groq    struct {        // Groq's own member
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

// A chatChoice is one of the model's answers, or a piece of it.
type chatChoice struct {
	Index        looseInt        `json:"index"`
	FinishReason looseText       `json:"finish_reason"`
	Delta        json.RawMessage `json:"delta"`
	Message      json.RawMessage `json:"message"`
	Error        json.RawMessage `json:"error"`
}

// A chatUsage is what the Chat Completions API counts.
type chatUsage struct {
	PromptTokens     looseInt `json:"prompt_tokens"`
	CompletionTokens looseInt `json:"completion_tokens"`
	PromptCacheHit   looseInt `json:"prompt_cache_hit_tokens"` // DeepSeek's name of cached_tokens
	PromptDetails    struct {
		Cached     *looseInt `json:"cached_tokens"` // nil if the server does not count them
		CacheWrite looseInt  `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning looseInt `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// A chatStream puts a response together from its chunks.
type chatStream struct {
	*endpoint
	*sink
	prepared *preparedRequest

	id, model string
	reason    string   // the worst that was said of why the response ended; empty if that is not known
	ended     bool     // the server said that the stream is complete
	failure   *failure // in the choice
	usage     usage.Tokens
	slots     []*chatSlot
	tooMuch   error // why no more pieces are taken; nil if the consumer has left
}

// A chatSlot is a part that is being written.
type chatSlot struct {
	member string // of the assistant's message; empty for a call
	value  fragments
	call   chatCall
}

// event handles one chunk.
func (s *chatStream) event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		s.ended = true
		return true, nil
	}
	if f := errorMember(data); f != nil {
		return true, s.failureError(*f)
	}
	var chunk chatChunk
	if err := decodeEvent(data, &chunk); err != nil {
		return true, err
	}
	if s.id == "" {
		s.id = string(chunk.ID)
	}
	if s.model == "" {
		s.model = string(chunk.Model)
	}
	if u := usageOf(&chunk); u != nil {
		s.usage = chatTokens(u)
		if !s.put(&model.Delta{Tokens: new(s.usage)}) {
			return true, nil
		}
	}
	for i := range chunk.Choices {
		if c := &chunk.Choices[i]; c.Index == 0 && !s.choice(c) {
			return true, s.tooMuch
		}
	}
	return false, nil
}

// choice handles the answer in a chunk, and reports whether the consumer wants
// more.
func (s *chatStream) choice(c *chatChoice) bool {
	delta := c.Delta
	if !isObject(delta) {
		delta = c.Message // the server does not stream
	}
	s.reason = provider.Worse(s.reason, string(c.FinishReason))
	if isPresent(c.Error) {
		s.failure = new(readFailure(c.Error))
	}
	for name, value := range wire.Members(delta) {
		if isPresent(value) && !s.member(name, value) {
			return false
		}
	}
	return true
}

// member handles a member of a delta, and reports whether the consumer wants
// more.
func (s *chatStream) member(name string, value json.RawMessage) bool {
	if name == "tool_calls" {
		var calls []json.RawMessage
		_ = json.Unmarshal(value, &calls) // a list of other things has no calls
		return !slices.ContainsFunc(calls, func(c json.RawMessage) bool { return !s.callDelta(c) })
	}
	if !canSendMember(name, value) {
		return true
	}
	at := slices.IndexFunc(s.slots, func(slot *chatSlot) bool { return slot.member == name })
	if at < 0 {
		if string(value) == `""` || string(value) == "[]" {
			return true
		}
		if at = s.newSlot(chatSlot{member: name}); at < 0 {
			return false
		}
	}
	if name == "content" {
		value = s.slots[at].value.alike(value)
	}
	s.slots[at].value.add(value)
	typ := memberType(name)
	if typ == model.TypeOpaque {
		return true
	}
	return s.put(&model.Delta{Part: at, Type: typ, Text: contentText(value)})
}

// newSlot adds a slot and returns its index, -1 if there are too many.
func (s *chatStream) newSlot(slot chatSlot) int {
	if len(s.slots) >= provider.MaxParts {
		s.tooMuch = provider.ErrTooManyParts
		return -1
	}
	s.slots = append(s.slots, &slot)
	return len(s.slots) - 1
}

// canSendMember reports whether a member can be part of the assistant's message
// in later requests.
func canSendMember(name string, value json.RawMessage) bool {
	switch name {
	case "content":
		return value[0] == '"' || checkContent(value, true) == nil
	case "refusal":
		return value[0] == '"'
	case "index", "name", "function_call": // of other messages, or of an older API
		return false
	}
	return unlike(member{name, value}, "role", "content", "refusal", "tool_calls", "tool_call_id") != nil
}

// memberType returns the type of the part that a member of the assistant's
// message becomes. Servers have two names for thinking.
func memberType(name string) model.PartType {
	switch name {
	case "content", "refusal":
		return model.TypeText
	case "reasoning_content", "reasoning":
		return model.TypeThinking
	}
	return model.TypeOpaque
}

// contentText returns the text of a string, or of a list of content.
func contentText(value json.RawMessage) string {
	var list []struct{ Text string }
	if len(value) == 0 || value[0] != '[' || json.Unmarshal(value, &list) != nil {
		return stringOf(value)
	}
	text := ""
	for _, c := range list {
		text += c.Text
	}
	return text
}

// finish yields the response. The stream is complete if the server said so, or
// if it said why the response ended. Calls need a reason: without one, they may not be
// all, or refused.
func (s *chatStream) finish() error {
	if s.closed || (!s.ended && s.reason == "") {
		return nil
	}
	if s.failure != nil {
		return s.failureError(*s.failure)
	}
	if end, _ := provider.Ending(s.reason); end == provider.EndFailed {
		return s.failureError(failure{Code: "server_error", Message: "the response ended because of an error: " + s.reason})
	}
	if s.reason == "" && slices.ContainsFunc(s.slots, func(slot *chatSlot) bool { return slot.member == "" }) {
		return nil
	}
	m := &model.Message{Role: model.RoleAssistant}
	r := &model.Response{ID: s.id, Model: s.model, Message: m, Usage: s.usage, Losses: s.prepared.losses}
	ids := map[string]bool{}
	for i, slot := range s.slots {
		p := s.part(slot, i == len(s.slots)-1, ids)
		if slot.member == "refusal" {
			r.Refusal = p.Text
		}
		m.Parts = append(m.Parts, p)
	}
	r.Stop, r.Refusal = stopOf(s.reason, m, r.Refusal)
	decodeAnswer(s.prepared.format, r)
	s.put(&model.Delta{Response: r})
	return nil
}

// part returns the part of a slot. Ids are those of the calls before.
func (s *chatStream) part(slot *chatSlot, last bool, ids map[string]bool) model.Part {
	var p model.Part
	if slot.member == "" {
		end, _ := provider.Ending(s.reason)
		p = s.callPart(&slot.call, last && end == model.StopLength, ids)
	} else {
		value := slot.value.json()
		p = model.Part{Type: memberType(slot.member), Text: slot.member, Raw: withMembers([]byte("{}"), member{slot.member, value})}
		if p.Type != model.TypeOpaque {
			p.Text = contentText(value)
		}
	}
	origin := s.origin
	p.Origin = &origin
	return p
}

// callPart returns the part of a call.
func (s *chatStream) callPart(c *chatCall, cut bool, ids map[string]bool) model.Part {
	if c.id == "" || len(c.id) > maxID || ids[c.id] {
		c.id = newCallID()
	}
	ids[c.id] = true
	arguments := c.arguments.text()
	if !provider.IsName(c.name, maxName) {
		c.name = s.prepared.tools.WireName(c.name, maxName)
	}
	p := s.prepared.tools.call(c.id, c.name, arguments, cut && !json.Valid([]byte(arguments)))
	if object := objectText(arguments); object != arguments {
		quoteArguments(&p, arguments)
		c.arguments = newFragments(object)
	}
	p.Raw = c.json()
	return p
}

// usageOf returns the usage in a chunk, nil if it has none.
func usageOf(chunk *chatChunk) *chatUsage {
	for _, raw := range []json.RawMessage{chunk.Usage, chunk.Groq.Usage} {
		if isObject(raw) {
			u := new(chatUsage)
			_ = json.Unmarshal(raw, u) // all that fits
			return u
		}
	}
	return nil
}

// chatTokens returns the usage of a response.
func chatTokens(u *chatUsage) usage.Tokens {
	cached := u.PromptCacheHit
	if u.PromptDetails.Cached != nil {
		cached = *u.PromptDetails.Cached
	}
	return countTokens(u.PromptTokens, cached, u.PromptDetails.CacheWrite,
		u.CompletionTokens, u.CompletionDetails.Reasoning)
}
