package openai

import (
	"context"
	"iter"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

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
		s.end(err, s.unfinished)
	})
}

// prepare builds the body of a request and checks it.
func (m *chatModel) prepare(ctx context.Context, r *model.Request) (*prepared, error) {
	adapt := func() (*toolset, error) {
		o, err := ChatTools(ctx, r.Tools, m.toolOptions())
		if err != nil {
			return nil, err
		}
		return newToolset(o)
	}
	return m.endpoint.prepare(r, adapt, func(p *prepared) error {
		w := &chatWriter{newWriter(m.endpoint, p.tools)}
		if err := w.conversation(r); err != nil {
			return err
		}
		p.losses = w.losses
		return p.encode(m.params(r, p), member{"messages", provider.Array(w.items)}, CheckChat)
	})
}

// params returns the request without tools and messages.
func (m *chatModel) params(r *model.Request, p *prepared) sdk.ChatCompletionNewParams {
	params := sdk.ChatCompletionNewParams{
		Model:           m.origin.Model,
		PromptCacheKey:  optional(cacheKey(r.CacheKey)),
		ReasoningEffort: shared.ReasoningEffort(r.Effort),
		StreamOptions:   sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if m.isOpenAI() && !canReason(m.origin.Model) {
		params.ReasoningEffort = ""
	}
	if !m.isOpenAI() {
		params.PromptCacheKey = param.Opt[string]{} // few servers know it, and some refuse what they do not know
	}
	switch most := param.NewOpt(int64(r.MaxTokens)); {
	case r.MaxTokens <= 0:
	case m.isOpenAI():
		params.MaxCompletionTokens = most
	default:
		params.MaxTokens = most
	}
	if r.NoCalls && p.tools.wire != nil {
		params.ToolChoice.OfAuto = param.NewOpt("none")
	}
	if p.format != nil {
		format := shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: provider.AnswerName, Schema: p.format.schema(), Strict: param.NewOpt(p.format.tool.Strict)}
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: format}
	}
	return params
}
