package openai

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A chatModel is a model behind the Chat Completions API.
type chatModel struct{ *endpoint }

// NewChat returns a model behind the Chat Completions API, of OpenAI or of a
// compatible server. A response arrives in fragments, so the Raw of a part is
// put together from them: for a call the object in tool_calls, for another part
// an object with the member of the assistant's message, such as
// {"reasoning_content": "…"}. Members that are not known are opaque parts.
// Arguments of a call that are not a JSON object are empty in Raw, because
// servers refuse them in every later request; Invalid quotes them.
func NewChat(name string, opts *Options) model.Model {
	return &chatModel{newEndpoint("chat", name, opts)}
}

// Check implements [model.Model].
func (m *chatModel) Check(r *model.Request) error {
	_, err := m.prepare(context.Background(), r)
	return err
}

// CheckBody returns the reason why the provider would refuse the body of a request. The fake
// providers of tests find it by its name.
func (m *chatModel) CheckBody(body []byte) error { return checkChat(body) }

// Stream implements [model.Model].
func (m *chatModel) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return provider.Limit(m.origin, func(yield func(*model.Delta, error) bool) {
		p, err := m.prepare(ctx, r)
		if err != nil {
			yield(nil, err)
			return
		}
		s := &chatStream{endpoint: m.endpoint, prepared: p, sink: &sink{yield: yield}}
		err = m.send(ctx, chatPath, p.body, s.event)
		if err == nil {
			err = s.finish()
		}
		s.end(err, s.unfinishedError)
	})
}

// prepare builds the body of a request and checks it.
func (m *chatModel) prepare(ctx context.Context, r *model.Request) (*preparedRequest, error) {
	adapt := func() (*toolset, error) {
		o, err := m.chatTools(ctx, r.Tools)
		if err != nil {
			return nil, err
		}
		return newToolset(o)
	}
	return m.endpoint.prepare(r, adapt, func(p *preparedRequest) error {
		w := &chatWriter{newWriter(m.endpoint, p.tools)}
		if err := w.conversation(r); err != nil {
			return err
		}
		p.losses = w.losses
		return p.encode(m.params(r, p), member{"messages", provider.Array(w.items)}, checkChat)
	})
}

// A chatRequest is a request of the Chat Completions API without tools and messages.
type chatRequest struct {
	Model               string        `json:"model"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	PromptCacheKey      string        `json:"prompt_cache_key,omitempty"`
	ReasoningEffort     string        `json:"reasoning_effort,omitempty"`
	StreamOptions       streamOptions `json:"stream_options"`
	ResponseFormat      *chatFormat   `json:"response_format,omitempty"`
	ToolChoice          string        `json:"tool_choice,omitempty"`
}

// A streamOptions is what a stream contains.
type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// A chatFormat is the form of the answer.
type chatFormat struct {
	JSONSchema chatSchema `json:"json_schema"`
	Type       string     `json:"type"`
}

// A chatSchema is the schema of the answer.
type chatSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// params returns the request without tools and messages.
func (m *chatModel) params(r *model.Request, p *preparedRequest) *chatRequest {
	params := &chatRequest{Model: m.origin.Model, StreamOptions: streamOptions{IncludeUsage: true}}
	if m.isOpenAI() {
		params.PromptCacheKey = cacheKey(r.CacheKey) // few other servers know it, and some refuse what they do not know
		params.MaxCompletionTokens = max(0, r.MaxTokens)
	} else {
		params.MaxTokens = max(0, r.MaxTokens)
	}
	if !m.isOpenAI() || canReason(m.origin.Model) {
		params.ReasoningEffort = r.Effort
	}
	if r.NoCalls && p.tools.wire != nil {
		params.ToolChoice = "none"
	}
	if p.format != nil {
		params.ResponseFormat = &chatFormat{chatSchema{provider.AnswerName, p.format.tool.Strict, p.format.schema()}, "json_schema"}
	}
	return params
}
