package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/usage"
)

// A responseStream reads the events of one response.
type responseStream struct {
	*endpoint
	*sink
	prepared *preparedRequest

	items []streamItem
	slots map[looseInt]int // indexes of items by the provider's index
}

// A streamItem is an output item.
type streamItem struct {
	typ  model.PartType
	name string          // of a call: the tool's own name
	raw  json.RawMessage // nil while it is being written
}

// event handles one event. Unknown events have no effect.
func (s *responseStream) event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	var ev responseEvent
	if err := decodeEvent(data, &ev); err != nil {
		return true, err
	}
	switch ev.Type {
	case "response.output_item.added", "response.output_item.done":
		err := s.itemEvent(&ev)
		return err != nil || s.closed, err
	case "response.completed", "response.incomplete":
		s.count(&ev.Response) // it may be malformed
		return true, s.finish(&ev.Response, strings.TrimPrefix(string(ev.Type), "response."))
	case "response.failed", "response.cancelled":
		s.count(&ev.Response)
		return true, s.failedResponse(&ev.Response)
	case "error":
		return true, s.failureError(readFailure(data))
	case "": // of a server between OpenAI and this package
		if f := errorMember(data); f != nil {
			return true, s.failureError(*f)
		}
		if r := wholeResponse(data); r != nil {
			return true, s.finish(r, "")
		}
	}
	return !s.deltaEvent(&ev), nil
}

// count passes on what a response is billed.
func (s *responseStream) count(r *response) {
	if t := tokensOf(&r.Usage); t != (usage.Tokens{}) {
		s.put(&model.Delta{Tokens: &t})
	}
}

// itemEvent handles the beginning or the end of an item.
func (s *responseStream) itemEvent(ev *responseEvent) error {
	at, err := s.slot(ev.OutputIndex)
	if err != nil {
		return err
	}
	item := &s.items[at]
	head := headOf(ev.Item)
	item.typ = partType(string(head.Type))
	if ev.Type == "response.output_item.done" {
		item.raw = ev.Item
	} else if item.typ == model.TypeCall {
		item.name = s.prepared.tools.OwnName(string(head.Name))
		s.put(&model.Delta{Part: at, Type: item.typ, Name: item.name})
	}
	return nil
}

// deltaEvent passes the piece of an item on, if the event has one, and reports
// whether the consumer wants more.
func (s *responseStream) deltaEvent(ev *responseEvent) bool {
	var typ model.PartType
	text := string(ev.Delta)
	switch ev.Type {
	case "response.output_text.delta", "response.refusal.delta":
		typ = model.TypeText
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		typ = model.TypeThinking
	case "response.reasoning_summary_part.added":
		if typ = model.TypeThinking; ev.SummaryIndex > 0 {
			text = "\n\n"
		}
	case "response.function_call_arguments.delta":
		typ = model.TypeCall
	}
	at, ok := s.slots[ev.OutputIndex]
	if !ok || typ == "" || text == "" || s.items[at].typ != typ {
		return true
	}
	return s.put(&model.Delta{Part: at, Type: typ, Name: s.items[at].name, Text: text})
}

// errorMember returns the error in an event that has no type, nil if there is
// none. Some servers write the event itself as the error.
func errorMember(data []byte) *failure {
	var event struct{ Error, Errors, Object, Type, Choices, Message, Detail json.RawMessage }
	if json.Unmarshal(data, &event) != nil {
		return nil
	}
	switch found := event.Error; {
	case string(event.Object) == `"error"`, string(event.Type) == `"error"`:
	case isError(found):
		data = found
	case event.Choices != nil:
		return nil
	case isPresent(event.Errors):
		data = event.Errors
	case len(event.Message) == 0 || event.Message[0] != '"':
		if !isPresent(event.Detail) {
			return nil
		}
	}
	f := readFailure(data)
	return &f
}

// isError reports whether a member for an error has one.
func isError(raw json.RawMessage) bool {
	return isPresent(raw) && !slices.Contains([]string{"{}", `""`, "false", "[]"}, string(raw))
}

// wholeResponse returns the response of a server that does not stream, nil if it is not
// one.
func wholeResponse(data []byte) *response {
	var r response
	if decodeEvent(data, &r) != nil || r.Object != "response" || len(r.Output) == 0 {
		return nil
	}
	return &r
}

// slot returns the index of the item with the provider's index.
func (s *responseStream) slot(index looseInt) (int, error) {
	at, ok := s.slots[index]
	if ok {
		return at, nil
	}
	if len(s.items) >= provider.MaxParts {
		return 0, provider.ErrTooManyParts
	}
	at = len(s.items)
	s.items = append(s.items, streamItem{})
	s.slots[index] = at
	return at, nil
}

// endOf returns the worst word for the end of a response, "" if there is none. Event is
// the word of the event that brought it, "completed" or "incomplete", or "".
func endOf(r *response, event string) string {
	status := string(r.Status)
	switch r.Status {
	case "in_progress": // whatever the event is called
		status = ""
		if event == "completed" {
			event = ""
		}
	case "queued":
		status = string(provider.EndFailed)
	}
	if isError(r.Error) {
		return string(provider.EndFailed)
	}
	return provider.Worse(provider.Worse(event, status), string(r.IncompleteDetails.Reason))
}

// finish yields the response.
func (s *responseStream) finish(r *response, event string) error {
	word := endOf(r, event)
	end, _ := provider.Ending(word)
	if end == provider.EndFailed {
		return s.failedResponse(r)
	}
	read := itemReader{origin: s.origin, tools: s.prepared.tools, incomplete: end != model.StopEnd}
	m, err := s.message(r, &read)
	if err != nil {
		return err
	}
	if word == "" && len(m.Calls()) > 0 {
		return nil // they may not be all, or refused
	}
	response := &model.Response{ID: string(r.ID), Model: string(r.Model), Message: m, Losses: s.prepared.losses, Usage: tokensOf(&r.Usage)}
	response.Stop, response.Refusal = stopOf(word, m, read.refusal)
	decodeAnswer(s.prepared.format, response)
	s.put(&model.Delta{Response: response})
	return nil
}

// message returns the message of a response. The items that came by themselves count;
// others are those of the response's own list.
func (s *responseStream) message(r *response, read *itemReader) (*model.Message, error) {
	for i, item := range r.Output {
		at, err := s.slot(looseInt(i))
		if err != nil {
			return nil, err
		}
		if s.items[at].raw == nil {
			s.items[at] = streamItem{typ: partType(string(headOf(item).Type)), raw: item}
		}
	}
	m := &model.Message{Role: model.RoleAssistant}
	ids := map[string]bool{}
	for _, item := range s.items {
		if item.raw == nil {
			return nil, s.malformedError("an output item has no content")
		}
		p := read.part(item.raw)
		if p.Type == model.TypeCall && p.Name == "" {
			return nil, s.malformedError("a function call has no name")
		}
		if p.Type == model.TypeCall && (p.ID == "" || ids[p.ID]) { // of a compatible server
			p.ID, p.Raw = newCallID(), nil
		}
		ids[p.ID] = true
		m.Parts = append(m.Parts, p)
	}
	return m, nil
}

// stopOf returns why a response ended that ends with a word, and the words of a refusal;
// the message may have some. Servers say "stop" also after calls.
func stopOf(word string, m *model.Message, refusal string) (stop model.StopReason, text string) {
	end, known := provider.Ending(word)
	switch {
	case !known:
		return model.StopRefusal, provider.Incomplete(word)
	case end == model.StopLength:
		return model.StopLength, ""
	case end == model.StopRefusal:
		return model.StopRefusal, cmp.Or(refusal, "the provider's filter stopped the response")
	case refusal != "":
		return model.StopRefusal, refusal
	case len(m.Calls()) > 0:
		return model.StopCalls, ""
	}
	return model.StopEnd, ""
}

// failedResponse returns the error of a response that failed.
func (s *responseStream) failedResponse(r *response) error {
	if isError(r.Error) {
		return s.failureError(readFailure(r.Error))
	}
	return s.failureError(failure{Code: "server_error", Message: fmt.Sprintf("the response failed; its status is %q", r.Status)})
}

// tokensOf returns the usage of a response.
func tokensOf(u *responseUsage) usage.Tokens {
	t := countTokens(u.InputTokens, u.InputDetails.CachedTokens, u.InputDetails.CacheWriteTokens,
		u.OutputTokens, u.OutputDetails.ReasoningTokens)
	t.LongCacheWrite = int(max(0, min(u.InputDetails.CacheWriteDetails.Ttl12hTokens, looseInt(t.CacheWrite))))
	return t
}

// countTokens returns the tokens of a request. OpenAI counts those of the cache
// as part of the input.
func countTokens(input, cached, written, output, reasoning looseInt) usage.Tokens {
	count := func(n, most looseInt) int { return int(max(0, min(n, most))) }
	const most = 1 << 40
	t := usage.Tokens{CacheRead: count(cached, input), Output: count(output, most), Reasoning: count(reasoning, output)}
	t.CacheWrite = count(written, input-looseInt(t.CacheRead))
	t.Input = count(input-looseInt(t.CacheRead)-looseInt(t.CacheWrite), most)
	return t
}

// partType returns the type of part that an item becomes.
func partType(item string) model.PartType {
	switch item {
	case "message":
		return model.TypeText
	case "function_call":
		return model.TypeCall
	case "reasoning":
		return model.TypeThinking
	}
	return model.TypeOpaque
}

// An itemReader makes parts of output items.
type itemReader struct {
	origin     model.Origin
	tools      *toolset
	incomplete bool   // the response is
	refusal    string // what a message says instead of an answer
}

// An itemText is a text in an item.
type itemText struct{ Type, Text, Refusal string }

// part returns the part of an item. A message is one text: its refusals are
// also in there.
func (r *itemReader) part(raw json.RawMessage) model.Part {
	var item struct {
		Type      string          `json:"type"`
		Status    string          `json:"status"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Content   []itemText
		Summary   []itemText
	}
	var p model.Part
	_ = json.Unmarshal(raw, &item) // of members with other types than these, only the raw form remains
	switch p.Type = partType(item.Type); p.Type {
	case model.TypeText:
		for _, c := range item.Content {
			p.Text += c.Text + c.Refusal
			r.refusal += c.Refusal
		}
	case model.TypeThinking:
		texts := item.Summary
		if len(texts) == 0 {
			texts = item.Content
		}
		var all []string
		for _, t := range texts {
			all = append(all, t.Text)
		}
		p.Text = strings.Join(all, "\n\n")
	case model.TypeCall:
		arguments := stringOf(item.Arguments)
		cut := item.Status == "incomplete" || (r.incomplete && !json.Valid([]byte(arguments)))
		p = r.tools.call(item.CallID, item.Name, arguments, cut)
		if objectText(arguments) != arguments || item.Arguments[0] != '"' {
			quoteArguments(&p, arguments)
			raw = nil // the provider takes the text of an object only
		}
	default:
		p.Text = item.Type
	}
	origin := r.origin
	p.Origin = &origin
	if p.Raw = raw; checkReceived(&p) != nil {
		p.Raw = nil
	}
	return p
}

// checkReceived returns the reason why the provider would not accept an item of
// its own again, for example because it is a call with a name that the model
// invented. A part without its raw form is rebuilt.
func checkReceived(p *model.Part) error {
	var item wireItem
	if err := json.Unmarshal(p.Raw, &item); err != nil {
		return err
	}
	switch err := item.check(); {
	case err != nil:
		return err
	case partType(item.Type) != p.Type:
		return fmt.Errorf("it is an item of the type %q", item.Type)
	case p.Type == model.TypeCall && item.CallID != p.ID:
		return fmt.Errorf("its call_id is %q, not %q", item.CallID, p.ID)
	case item.Type != "function_call" && outputOf(item.Type) != "" || !item.isOutput():
		return fmt.Errorf("an item of the type %q cannot be sent back", item.Type)
	}
	return nil
}
