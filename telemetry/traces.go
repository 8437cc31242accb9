package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Traces sends a span for each request of a client, and below it one for each
// request to a server, to an OpenTelemetry collector. It is safe for concurrent use.
type Traces struct {
	provider *sdktrace.TracerProvider
	to       *collector
	tracer   trace.Tracer
	context  propagation.TextMapPropagator
}

// NewTraces returns traces as the variables OTEL_* of the environment configure
// them, nil if they set no endpoint or switch traces off. Version is that of the program.
// Errors of the exporter are logged, with slog.Default() if log is nil. Close sends what is
// left.
func NewTraces(ctx context.Context, version string, log *slog.Logger) (*Traces, error) {
	endpoint := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if endpoint == "" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if p := os.Getenv(name); p != "" && p != "http/protobuf" {
			return nil, fmt.Errorf("send traces: the variable %s is %q; only http/protobuf is supported", name, p)
		}
	}
	log = cmp.Or(log, slog.Default())
	to, err := newCollector(log)
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	exporter, err := otlptrace.New(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	about, err := resource.New(ctx, // the last one takes precedence
		resource.WithAttributes(attribute.String("service.name", "toolpost"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about),
		sdktrace.WithBatcher(&loggedExporter{SpanExporter: exporter, log: log}))
	return &Traces{
		provider: provider,
		to:       to,
		tracer:   provider.Tracer("github.com/toolpost/toolpost"),
		context:  propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
	}, nil
}

// Close sends the spans that have ended, until ctx ends.
func (t *Traces) Close(ctx context.Context) error {
	err := t.provider.Shutdown(ctx)
	_ = t.to.Stop(ctx) // never fails
	if err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	return nil
}

// A loggedExporter logs when spans cannot be sent, once for each kind of failure in
// a row, instead of writing to standard error.
type loggedExporter struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	last string // exports run one after the other
}

func (e *loggedExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != e.last {
		e.log.Warn("cannot send traces", "err", text)
	}
	e.last = text
	return nil
}

// Observe is an [observe.Observer]: a span of kind server. Its parent is the one in
// the _meta of the request.
func (t *Traces) Observe(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
	ctx = t.context.Extract(ctx, metaCarrier{raw: wire.Get(r.Params, "_meta")})
	attrs := requestAttributes(r.Method, r.Name)
	attrs = append(attrs, attribute.String(attrRequestID, strings.Trim(clip(string(r.ID)), `"`)), attribute.String(attrProtocol, r.Protocol))
	if r.Client.Name != "" {
		attrs = append(attrs, attribute.String(attrClientName, clip(r.Client.Name)))
	}
	if transport := networkTransport(r.Transport); transport != "" {
		attrs = append(attrs, attribute.String(attrTransport, transport))
	}
	ctx, span := t.tracer.Start(ctx, spanName(r.Method, r.Name), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
	return ctx, func(response *observe.Response) {
		if to := r.Target(); to != nil {
			span.SetAttributes(attribute.String(attrUpstream, to.Server))
		}
		if called := r.Called(); called != r.Name {
			span.SetName(spanName(r.Method, called))
			span.SetAttributes(requestAttributes(r.Method, called)...)
		}
		end(span, response.Outcome, response.Code)
	}
}

// Around is for the option Around of package gateway: a span of kind client. The server gets it
// as the parent of its own spans.
func (t *Traces) Around(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		attrs := append(requestAttributes(to.Method, to.Name), attribute.String(attrUpstream, to.Server))
		if transport := networkTransport(to.Transport); transport != "" {
			attrs = append(attrs, attribute.String(attrTransport, transport))
		}
		ctx, span := t.tracer.Start(ctx, spanName(to.Method, to.Name), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
		panicked := true
		defer func() {
			if panicked {
				end(span, observe.ToolError, 0)
			}
		}()
		inner := *call
		inner.Params = t.inject(ctx, call.Params)
		result, err := next(ctx, &inner)
		panicked = false
		outcome, code := outcomeOf(ctx, result, err)
		end(span, outcome, code)
		return result, err
	}
}

// inject returns params whose _meta has the context of the trace.
func (t *Traces) inject(ctx context.Context, params json.RawMessage) json.RawMessage {
	meta := wire.Get(params, "_meta")
	if !wire.IsObject(meta) {
		meta = nil
	}
	c := metaCarrier{raw: meta, set: map[string]string{}}
	t.context.Inject(ctx, c)
	if len(c.set) == 0 {
		return params
	}
	for _, name := range t.context.Fields() {
		if value := c.set[name]; value != "" {
			meta = wire.Set(meta, name, wire.Quote(value))
		}
	}
	return wire.Set(params, "_meta", meta)
}

// A metaCarrier carries the context of a trace in _meta (SEP-414): the members have
// no prefix.
type metaCarrier struct {
	raw json.RawMessage
	set map[string]string
}

// Get returns a member, empty if it is too long to be one of a trace.
func (c metaCarrier) Get(key string) string {
	if value := wire.Get(c.raw, key); len(value) <= maxCarried {
		return wire.Unquote(value)
	}
	return ""
}

// Set records a member.
func (c metaCarrier) Set(key, value string) { c.set[key] = value }

// Keys returns the members that a context may have.
func (c metaCarrier) Keys() []string { return []string{"traceparent", "tracestate", "baggage"} }

const (
	maxCarried = 8 << 10 // bytes of baggage, by its specification
	maxValue   = 200     // bytes of a foreign text in a span
)

// clip bounds a foreign text.
func clip(text string) string {
	if len(text) > maxValue {
		text = text[:maxValue]
	}
	return strings.ToValidUTF8(text, "")
}

// spanName returns the name of a span: a method, and the tool or prompt. A URI is
// not part of it.
func spanName(method, name string) string {
	if name == "" || method != methodCall && method != methodPrompt {
		return clip(method)
	}
	return method + " " + clip(name)
}

// requestAttributes returns the attributes of all requests. URIs are left out: they
// may contain secrets.
func requestAttributes(method, name string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{attribute.String(attrMethod, clip(method))}
	switch method {
	case methodCall:
		attrs = append(attrs, attribute.String(attrTool, clip(name)), attribute.String(attrOperation, executeTool))
	case methodPrompt:
		attrs = append(attrs, attribute.String(attrPrompt, clip(name)))
	}
	return attrs
}

// end ends a span with the outcome of its request.
func end(span trace.Span, outcome observe.Outcome, code int64) {
	if kind := errorType(outcome, code); kind != "" {
		span.SetAttributes(attribute.String(attrErrorType, kind))
		span.SetStatus(codes.Error, string(outcome))
		if code != 0 {
			span.SetAttributes(attribute.Int64(attrStatusCode, code))
		}
	}
	span.End()
}
