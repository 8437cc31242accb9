package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/usage"
)

// An accumulator builds a response from the events of its stream.
type accumulator struct {
	origin   model.Origin
	request  *builtRequest
	id, name string
	blocks   []*streamedBlock
	byIndex  map[string]*streamedBlock // the provider's index, as it is written
	stop     string                    // the worst word for the end; empty if there is none
	refusal  string
	usage    usage.Tokens
	complete bool
}

func newAccumulator(origin model.Origin, request *builtRequest) *accumulator {
	return &accumulator{origin: origin, request: request, byIndex: map[string]*streamedBlock{}}
}

// add adds an event. It returns what the caller sees of it, nil for nothing.
// Unknown events are ignored.
func (a *accumulator) add(data []byte) (*model.Delta, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	event, problem := jsontree.ParseLenient(bytes.ToValidUTF8(data, []byte("\uFFFD")), maxLevels)
	if problem != nil {
		return nil, malformedError("the stream has an event that is not JSON: " + problem.Error())
	}
	switch textOf(event.Get("type")) {
	case "message_start":
		message := event.Get("message")
		a.id, a.name = textOf(message.Get("id")), textOf(message.Get("model"))
		a.count(message.Get("usage"))
		return &model.Delta{Tokens: new(a.usage)}, nil
	case "content_block_start":
		return a.start(event.Get("index"), event.Get("content_block"))
	case "content_block_delta":
		return a.extend(event.Get("index"), event.Get("delta")), nil
	case "message_delta":
		a.end(event.Get("delta"))
		a.count(event.Get("usage"))
		return &model.Delta{Tokens: new(a.usage)}, nil // the end may be missing
	case "message_stop":
		a.complete = true
	case "error":
		kind, text := errorBody(string(event.Raw))
		return nil, &eventError{kind, text}
	case "": // of a server between Anthropic and this package
		if kind, text := errorBody(string(event.Raw)); event.Get("error") != nil {
			return nil, &eventError{kind, text}
		}
	}
	return nil, nil
}

// readDocument adds the message of a server that does not stream.
func (a *accumulator) readDocument(body io.Reader) error {
	data, err := provider.ReadDocument(body)
	if err != nil {
		return &streamError{err}
	}
	message, problem := jsontree.ParseLenient(bytes.ToValidUTF8(data, []byte("\uFFFD")), maxLevels)
	if problem != nil {
		return &streamError{}
	}
	if !message.Get("type").IsText("message") {
		if _, err := a.add(data); err != nil {
			return err
		}
		return provider.NewForeignAnswerError(data)
	}
	a.id, a.name = textOf(message.Get("id")), textOf(message.Get("model"))
	for i, block := range message.Get("content").Items() {
		if _, err := a.start(&jsontree.Value{Raw: strconv.AppendInt(nil, int64(i), 10)}, block); err != nil {
			return err
		}
	}
	a.end(message)
	a.count(message.Get("usage"))
	a.complete = true
	return nil
}

// start begins a block.
func (a *accumulator) start(index, content *jsontree.Value) (*model.Delta, error) {
	switch {
	case index == nil || !isObject(content):
		return nil, malformedError("the stream has a block without an index or content")
	case len(a.blocks) == provider.MaxParts:
		return nil, provider.ErrTooManyParts
	}
	b := &streamedBlock{start: content, part: len(a.blocks), kind: textOf(content.Get("type"))}
	a.blocks = append(a.blocks, b)
	a.byIndex[string(index.Raw)] = b
	delta := &model.Delta{Part: b.part, Type: partType(b.kind)}
	switch delta.Type {
	case model.TypeText:
		delta.Text = textOf(content.Get("text"))
	case model.TypeThinking:
		delta.Text = textOf(content.Get("thinking"))
	case model.TypeCall:
		delta.Name = a.request.tools.OwnName(textOf(content.Get("name")))
	}
	return delta, nil
}

// extend adds a delta to its block. A delta without a block is ignored.
func (a *accumulator) extend(index, delta *jsontree.Value) *model.Delta {
	if index == nil || !isObject(delta) {
		return nil
	}
	b := a.byIndex[string(index.Raw)]
	if b == nil {
		return nil
	}
	b.apply(delta)
	shown := &model.Delta{Part: b.part, Type: partType(b.kind)}
	switch textOf(delta.Get("type")) {
	case "text_delta":
		shown.Text = textOf(delta.Get("text"))
	case "thinking_delta":
		shown.Text = textOf(delta.Get("thinking"))
	case "input_json_delta":
		shown.Text = textOf(delta.Get("partial_json"))
	}
	if shown.Text == "" || shown.Type == model.TypeOpaque {
		return nil
	}
	return shown
}

// end reads why the response ends.
func (a *accumulator) end(delta *jsontree.Value) {
	a.stop = provider.Worse(a.stop, textOf(delta.Get("stop_reason")))
	details := delta.Get("stop_details")
	for _, name := range []string{"category", "explanation"} { // the last one that is there
		if text := textOf(details.Get(name)); text != "" {
			a.refusal = text
		}
	}
}

// count reads the usage so far, which only grows.
func (a *accumulator) count(u *jsontree.Value) {
	grow := func(to *int, v *jsontree.Value) {
		if v != nil && v.Kind == jsontree.KindInteger {
			*to = max(*to, jsontree.ParseDecimal(v.Raw).Count())
		}
	}
	grow(&a.usage.Input, u.Get("input_tokens"))
	grow(&a.usage.CacheRead, u.Get("cache_read_input_tokens"))
	grow(&a.usage.CacheWrite, u.Get("cache_creation_input_tokens"))
	grow(&a.usage.LongCacheWrite, u.Get("cache_creation").Get("ephemeral_1h_input_tokens"))
	grow(&a.usage.Output, u.Get("output_tokens"))
	grow(&a.usage.Reasoning, u.Get("output_tokens_details").Get("thinking_tokens"))
}

// A streamedBlock is a block that is being written.
type streamedBlock struct {
	start *jsontree.Value // the block as it began
	part  int             // its index in the message
	kind  string

	// grown are the members that deltas change: the inside of JSON strings, as the
	// provider wrote it, or the values of other members.
	grown map[string]*member
	input strings.Builder // the arguments of a call, as far as they are written
}

// A member is a member of a block that deltas change.
type member struct {
	text  bytes.Buffer // the inside of a string
	items []json.RawMessage
	value json.RawMessage // of a member that is not a string, or an array as it was
}

// deltaMembers are the members that the known types of deltas extend. Others,
// such as an estimate of the tokens so far, are not part of the block.
var deltaMembers = map[string]string{"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}

// apply adds a delta. The members of an unknown delta extend the members of the
// block that have their names; in a block of an unknown type they may be new.
func (b *streamedBlock) apply(delta *jsontree.Value) {
	kind := textOf(delta.Get("type"))
	switch kind {
	case "input_json_delta":
		b.input.WriteString(textOf(delta.Get("partial_json")))
		return
	case "citations_delta":
		if c := delta.Get("citation"); c != nil {
			m := b.member("citations")
			m.items = append(m.items, c.Raw)
		}
		return
	}
	known := deltaMembers[kind]
	for _, v := range delta.Members() {
		extends := v.Name == known
		if known == "" {
			extends = v.Name != "type" && (b.start.Get(v.Name) != nil || partType(b.kind) == model.TypeOpaque)
		}
		switch {
		case !extends:
		case v.Kind == jsontree.KindString:
			b.member(v.Name).text.Write(v.Raw[1 : len(v.Raw)-1])
		default:
			b.member(v.Name).value = v.Raw
		}
	}
}

// member returns the member with a name, which begins as it is in the block.
func (b *streamedBlock) member(name string) *member {
	if b.grown == nil {
		b.grown = map[string]*member{}
	}
	m := b.grown[name]
	if m != nil {
		return m
	}
	m = new(member)
	b.grown[name] = m
	if v := b.start.Get(name); v != nil {
		switch v.Kind {
		case jsontree.KindString:
			m.text.Write(v.Raw[1 : len(v.Raw)-1])
		case jsontree.KindArray:
			for _, item := range v.Items() {
				m.items = append(m.items, item.Raw)
			}
			m.value = v.Raw
		default:
			m.value = v.Raw
		}
	}
	return m
}

// raw returns the member as JSON.
func (m *member) raw() json.RawMessage {
	switch {
	case m.items != nil:
		return provider.Array(m.items)
	case m.text.Len() == 0 && m.value != nil:
		return m.value
	}
	return append(append(json.RawMessage{'"'}, m.text.Bytes()...), '"')
}

// raw returns the block with all deltas, and the given input if it is not nil.
// Members keep their order; new ones follow.
func (b *streamedBlock) raw(input json.RawMessage) json.RawMessage {
	var o provider.Object
	written := map[string]bool{}
	for _, v := range b.start.Members() {
		value := json.RawMessage(v.Raw)
		if m := b.grown[v.Name]; m != nil {
			value = m.raw()
		}
		if v.Name == "input" && input != nil {
			value = input
		}
		written[v.Name] = true
		o.Add(v.Name, value)
	}
	for _, name := range slices.Sorted(maps.Keys(b.grown)) {
		if !written[name] {
			o.Add(name, b.grown[name].raw())
		}
	}
	if input != nil && !written["input"] {
		o.Add("input", input)
	}
	return o.JSON()
}
