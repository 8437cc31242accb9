package telemetry

import (
	"context"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/observe"
)

// GenAI records what agents do, by the conventions for generative AI: requests to
// models, calls of tools, and runs of agents.
//
//	Agent ── ctx ──▶ agent.Run ──┬── Model ──▶ provider    chat MODEL
//	invoke_agent AGENT           └── Tools ──▶ handler     execute_tool TOOL
//
// The messages, arguments and results are recorded only if Contents is set. It is safe for
// concurrent use.
type GenAI struct {
	Traces  *Traces  // nil for no spans
	Metrics *Metrics // nil for no metrics

	// Contents records instructions, messages, arguments and results in spans,
	// without what looks like a secret. They contain what users write.
	Contents bool
}

// start begins a span.
func (g *GenAI) start(ctx context.Context, name string, kind trace.SpanKind, attrs []attribute.KeyValue) (context.Context, trace.Span) {
	tracer := noop.NewTracerProvider().Tracer("")
	if g.Traces != nil {
		tracer = g.Traces.tracer
	}
	return tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
}

// A conversation is the id of the conversation that a context belongs to.
type conversation struct{}

// conversationAttribute returns gen_ai.conversation.id, or nothing if it is unknown.
func conversationAttribute(ctx context.Context, other string) []attribute.KeyValue {
	id, _ := ctx.Value(conversation{}).(string)
	if id == "" {
		id = other
	}
	if id == "" {
		return nil
	}
	return []attribute.KeyValue{attribute.String(attrConversation, clip(id))}
}

// fail records how an operation failed; an empty kind means that it did not.
func fail(span trace.Span, kind string) {
	if kind != "" {
		span.SetAttributes(attribute.String(attrErrorType, kind))
		span.SetStatus(codes.Error, kind)
	}
}

// Agent begins a run of an agent. Run the agent with the context that it returns,
// and call end with the error of the run, once. The conversation is the id of the
// session; it may be empty.
func (g *GenAI) Agent(ctx context.Context, name, conversationID string) (inner context.Context, end func(error)) {
	if conversationID != "" {
		ctx = context.WithValue(ctx, conversation{}, conversationID)
	}
	attrs := append(conversationAttribute(ctx, ""), attribute.String(attrOperation, opInvokeAgent), attribute.String(attrAgent, clip(name)))
	start := time.Now()
	ctx, span := g.start(ctx, opInvokeAgent+" "+clip(name), trace.SpanKindInternal, attrs)
	return ctx, func(err error) {
		kind := failureType(err)
		fail(span, kind)
		span.End()
		g.Metrics.recordAgent(name, kind, time.Since(start))
	}
}

// Tools returns ts with its calls recorded.
func (g *GenAI) Tools(ts toolpost.Toolset) toolpost.Toolset {
	return toolpost.Map(ts, func(t *toolpost.Tool) *toolpost.Tool {
		next := t.Handler
		t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return g.call(ctx, t.Name, call, next)
		}
		return t
	})
}

func (g *GenAI) call(ctx context.Context, name string, call *toolpost.Call, next toolpost.Handler) (result *toolpost.Result, err error) {
	attrs := append(conversationAttribute(ctx, ""),
		attribute.String(attrOperation, executeTool), attribute.String(attrTool, clip(name)), attribute.String(attrToolType, typeFunction))
	if call.ID != "" {
		attrs = append(attrs, attribute.String(attrCallID, clip(call.ID)))
	}
	if g.Contents {
		attrs = append(attrs, content(attrArguments, call.Arguments)...)
	}
	start, kind := time.Now(), string(observe.ToolError)
	ctx, span := g.start(ctx, executeTool+" "+clip(name), trace.SpanKindInternal, attrs)
	defer func() { // a panic is a failure of the tool
		fail(span, kind)
		span.End()
		g.Metrics.recordTool(name, kind, time.Since(start))
	}()
	result, err = next(ctx, call)
	kind = errorType(outcomeOf(ctx, result, err))
	if g.Contents && result != nil {
		span.SetAttributes(resultContent(result)...)
	}
	return result, err
}

// Model returns m with its requests recorded. Of a model that retries, a request
// with all its attempts is one span.
func (g *GenAI) Model(m model.Model) model.Model { return &observedModel{m, g} }

// An observedModel records its requests.
type observedModel struct {
	model.Model
	genAI *GenAI
}

// Retries implements what [model.Retries] asks.
func (m *observedModel) Retries() bool { return model.Retries(m.Model) }

// Stream implements [model.Model].
func (m *observedModel) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		q := m.begin(ctx, r)
		defer q.end()
		for d, err := range m.Model.Stream(q.ctx, r) {
			q.note(d, err)
			if !yield(d, err) {
				return
			}
		}
		q.finished = true
	}
}

// An observedRequest is a request under way.
type observedRequest struct {
	ctx      context.Context
	genAI    *GenAI
	span     trace.Span
	origin   model.Origin
	answered model.Origin // the model that answered: another one after a fallback
	start    time.Time
	first    time.Duration // until the first chunk; 0 before it
	restarts int
	response *model.Response
	err      error
	finished bool // otherwise the consumer left, or a panic came
}

func (m *observedModel) begin(ctx context.Context, r *model.Request) *observedRequest {
	q := &observedRequest{genAI: m.genAI, origin: m.Origin(), start: time.Now()}
	attrs := append(conversationAttribute(ctx, r.CacheKey),
		attribute.String(attrOperation, opChat), attribute.String(attrProvider, providerName(q.origin)),
		attribute.String(attrRequestModel, clip(q.origin.Model)), attribute.Bool(attrStream, true))
	if r.MaxTokens > 0 {
		attrs = append(attrs, attribute.Int(attrMaxTokens, r.MaxTokens))
	}
	if r.Output != nil {
		attrs = append(attrs, attribute.String(attrOutputType, "json"))
	}
	if m.genAI.Contents {
		attrs = append(attrs, requestContents(r)...)
	}
	q.ctx, q.span = m.genAI.start(ctx, opChat+" "+clip(q.origin.Model), trace.SpanKindClient, attrs)
	return q
}

// note records what arrives.
func (q *observedRequest) note(d *model.Delta, err error) {
	switch {
	case err != nil:
		q.err = err
	case d == nil:
	case d.Restart != nil:
		q.restarts++
	case d.Response != nil:
		q.response, q.answered = d.Response, answeredBy(d.Response, q.origin)
	}
	if err == nil && d != nil && d.Restart == nil && d.Tokens == nil && q.first == 0 {
		q.first = time.Since(q.start)
	}
}

func (q *observedRequest) end() {
	kind := failureType(q.err)
	if kind == "" && q.response == nil {
		kind = typeOther
		if !q.finished {
			kind = typeCanceled
		}
	}
	if q.restarts > 0 {
		q.span.SetAttributes(attribute.Int(attrRestarts, q.restarts))
	}
	if q.first > 0 {
		q.span.SetAttributes(attribute.Float64(attrFirstChunk, q.first.Seconds()))
	}
	if q.response != nil {
		q.span.SetAttributes(attribute.String(attrProvider, providerName(q.answered)))
		q.span.SetAttributes(responseAttributes(q.response)...)
		if q.genAI.Contents {
			q.span.SetAttributes(responseContents(q.response)...)
		}
	}
	fail(q.span, kind)
	q.span.End()
	q.genAI.Metrics.recordRequest(q, kind)
}

// answeredBy returns the origin of a response.
func answeredBy(r *model.Response, asked model.Origin) model.Origin {
	if r.Message != nil {
		for _, p := range r.Message.Parts {
			if p.Origin != nil {
				return *p.Origin
			}
		}
	}
	return asked
}

// responseAttributes describe a response without its content.
func responseAttributes(r *model.Response) []attribute.KeyValue {
	t := r.Usage
	attrs := []attribute.KeyValue{
		attribute.StringSlice(attrFinishReasons, []string{finishReason(r.Stop)}),
		attribute.Int(attrInputTokens, t.Input+t.CacheRead+t.CacheWrite), attribute.Int(attrOutputTokens, t.Output),
		attribute.Int(attrCacheRead, t.CacheRead), attribute.Int(attrCacheCreation, t.CacheWrite),
	}
	if t.Reasoning > 0 {
		attrs = append(attrs, attribute.Int(attrReasoning, t.Reasoning))
	}
	if r.ID != "" {
		attrs = append(attrs, attribute.String(attrResponseID, clip(r.ID)))
	}
	if r.Model != "" {
		attrs = append(attrs, attribute.String(attrResponseModel, clip(r.Model)))
	}
	return attrs
}
