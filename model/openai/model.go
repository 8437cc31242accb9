// Package openai contains the models of OpenAI: [New] for the Responses API, and
// [NewChat] for the Chat Completions API, which many other providers support too.
package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A responsesModel is a model behind the Responses API.
type responsesModel struct{ *endpoint }

// New returns a model of OpenAI behind the Responses API. The server stores
// nothing: every request contains the whole conversation, with the encrypted
// reasoning. Each item of a response is one part, whose Raw is the item.
func New(name string, opts *Options) model.Model {
	return &responsesModel{newEndpoint("responses", name, opts)}
}

// Check implements [model.Model].
func (m *responsesModel) Check(r *model.Request) error {
	_, err := m.prepare(context.Background(), r)
	return err
}

// CheckBody returns the reason why the provider would refuse the body of a request. The fake
// providers of tests find it by its name.
func (m *responsesModel) CheckBody(body []byte) error { return checkResponses(body) }

// Stream implements [model.Model].
func (m *responsesModel) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return provider.Limit(m.origin, func(yield func(*model.Delta, error) bool) {
		p, err := m.prepare(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &responseStream{endpoint: m.endpoint, prepared: p, sink: &sink{yield: yield}, slots: map[looseInt]int{}}
		err = m.send(ctx, "responses", p.body, s.event)
		s.end(err, s.unfinishedError)
	})
}

// A prepared request is one that can be sent.
type preparedRequest struct {
	body   []byte
	tools  *toolset
	format *answerFormat // nil for text
	losses provider.Losses
}

// invalid returns the error of a request that the provider would refuse.
func (e *endpoint) invalid(err error) error {
	return &model.Error{Origin: e.origin, Kind: model.KindInvalid, Text: "the request is not sent, because the provider would refuse it", Err: err}
}

// prepare checks the request, and builds its body with write. Adapt returns the
// form of its tools; it is called once for a set.
func (e *endpoint) prepare(r *model.Request, adapt func() (*toolset, error), write func(*preparedRequest) error) (*preparedRequest, error) {
	p := &preparedRequest{tools: &toolset{}}
	err := r.Validate()
	if err == nil && r.Tools != nil {
		p.tools, err = e.tools.Get(r.Tools, adapt)
	}
	if err == nil && r.Output != nil {
		p.format, err = e.formats.Get(r.Output, func() (*answerFormat, error) { return newAnswerFormat(r.Output, e.opts.Dialect) })
	}
	if err == nil {
		err = write(p)
	}
	if err != nil {
		return nil, e.invalid(err)
	}
	return p, nil
}

// prepare builds the body of a request and checks it.
func (m *responsesModel) prepare(ctx context.Context, r *model.Request) (*preparedRequest, error) {
	adapt := func() (*toolset, error) {
		o, err := m.responsesTools(ctx, r.Tools)
		if err != nil {
			return nil, err
		}
		return newToolset(o, m.deferTools(o)...)
	}
	return m.endpoint.prepare(r, adapt, func(p *preparedRequest) error {
		in := &inputWriter{newWriter(m.endpoint, p.tools)}
		if err := in.messages(r.Messages, in.assistant, in.user); err != nil {
			return err
		}
		p.losses = in.losses
		return p.encode(m.params(r, p), member{"input", provider.Array(in.items)}, checkResponses)
	})
}

// encode sets the body of the request: the parameters, the tools, and the
// conversation. It returns the error of check.
func (p *preparedRequest) encode(params any, conversation member, check func(body []byte) error) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	p.body = withMembers(raw, member{"tools", p.tools.wire}, conversation, member{"stream", json.RawMessage("true")})
	return check(p.body)
}

// A responsesRequest is a request of the Responses API without tools and input.
type responsesRequest struct {
	Instructions    string     `json:"instructions,omitempty"`
	MaxOutputTokens int        `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string     `json:"prompt_cache_key,omitempty"`
	Store           bool       `json:"store"` // OpenAI stores a response unless this is false
	Include         []string   `json:"include,omitempty"`
	Model           string     `json:"model"`
	Reasoning       reasoning  `json:"reasoning,omitzero"`
	Text            textConfig `json:"text,omitzero"`
	ToolChoice      string     `json:"tool_choice,omitempty"`
}

// A reasoning is how much a model reasons, and what it shows of that.
type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// A textConfig is the form of the answer.
type textConfig struct {
	Format textFormat `json:"format"`
}

// A textFormat is the schema of the answer.
type textFormat struct {
	Name   string                     `json:"name"`
	Schema map[string]json.RawMessage `json:"schema"`
	Strict bool                       `json:"strict"`
	Type   string                     `json:"type"`
}

// params returns the request without tools and input.
func (m *responsesModel) params(r *model.Request, p *preparedRequest) *responsesRequest {
	params := &responsesRequest{Model: m.origin.Model, Instructions: r.System,
		PromptCacheKey: cacheKey(r.CacheKey), MaxOutputTokens: max(0, r.MaxTokens)}
	if canReason(m.origin.Model) {
		params.Include = []string{"reasoning.encrypted_content"}
		params.Reasoning.Effort = r.Effort
		if m.opts.Summaries {
			params.Reasoning.Summary = "auto"
		}
	}
	if r.NoCalls && p.tools.wire != nil {
		params.ToolChoice = "none"
	}
	if p.format != nil {
		schema, _ := members(p.format.schema()) // an adapted schema is an object
		params.Text.Format = textFormat{provider.AnswerName, schema, p.format.tool.Strict, "json_schema"}
	}
	return params
}

// canReason reports whether a model has the parameters of reasoning, which
// older models refuse.
func canReason(name string) bool {
	for _, old := range []string{"gpt-3", "gpt-4", "chatgpt-"} {
		if strings.HasPrefix(name, old) {
			return false
		}
	}
	return !strings.Contains(name, "-chat")
}

// deferTools marks the tools that are found by searching, and returns the tool
// that searches, if there are any.
func (m *responsesModel) deferTools(o *model.Offer[responsesTool]) []responsesTool {
	if m.opts.Defer == nil {
		return nil
	}
	var search []responsesTool
	for i, t := range o.Adapted.Tools {
		if m.opts.Defer(t.Original) {
			o.Tools[i].DeferLoading = true
			search = []responsesTool{{Type: "tool_search"}}
		}
	}
	return search
}

// A sink passes deltas to the consumer of a stream.
type sink struct {
	yield  func(*model.Delta, error) bool
	closed bool // the consumer has left, or has the response
}

// put passes a delta, and reports whether the consumer is still there.
func (s *sink) put(d *model.Delta) bool {
	if s.closed {
		return false
	}
	if !s.yield(d, nil) || d.Response != nil {
		s.closed = true
	}
	return !s.closed
}

// end yields the error of a stream that has no response.
func (s *sink) end(err error, unfinished func() error) {
	if s.closed {
		return
	}
	if err == nil {
		err = unfinished()
	}
	s.closed = true
	s.yield(nil, err)
}
