package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolpost/toolpost/telemetry"
)

// A receiver is an OTLP/HTTP receiver of traces.
type receiver struct {
	mu      sync.Mutex
	raw     bytes.Buffer
	headers http.Header
	spans   []*tracepb.Span
	service string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(req.Body)
	}
	raw, err := io.ReadAll(body)
	var export tracepb.TracesData // an ExportTraceServiceRequest has the same fields
	if err != nil || req.URL.Path != "/v1/traces" || proto.Unmarshal(raw, &export) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw.Write(raw)
	r.headers = req.Header
	for _, of := range export.ResourceSpans {
		for _, a := range of.Resource.Attributes {
			if a.Key == "service.name" {
				r.service = a.Value.GetStringValue()
			}
		}
		for _, scope := range of.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

// find returns the span of a kind and name.
func (r *receiver) find(t *testing.T, kind tracepb.Span_SpanKind, name string) *tracepb.Span {
	t.Helper()
	for _, s := range r.spans {
		if s.Kind == kind && s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no span %s of kind %v", name, kind)
	return nil
}

// attributes returns those of a span, as text.
func attributes(s *tracepb.Span) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[a.Key] = a.Value.GetStringValue()
		if n := a.Value.GetIntValue(); n != 0 {
			all[a.Key] = json.Number(strings.TrimSpace(string(mustJSON(n)))).String()
		}
	}
	return all
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestTraces(t *testing.T) {
	r := &receiver{}
	web := httptest.NewServer(r)
	defer web.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", web.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
	traces, err := telemetry.NewTraces(t.Context(), "1.2.3", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(t, traces.Observe, traces.Around)
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	if _, err := c.client.CallTool(t.Context(), &mcp.CallToolParams{
		Meta: mcp.Meta{"traceparent": "00-" + trace + "-" + parent + "-01", "tracestate": "vendor=1", "baggage": "tenant=acme", "mine": "kept"},
		Name: "up__works", Arguments: map[string]any{"password": secret},
	}); err != nil {
		t.Fatal(err)
	}
	meta := c.lastMeta()
	c.calls(t)
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	server := r.find(t, tracepb.Span_SPAN_KIND_SERVER, "tools/call up__works")
	client := r.find(t, tracepb.Span_SPAN_KIND_CLIENT, "tools/call works")
	if hex.EncodeToString(server.TraceId) != trace || hex.EncodeToString(server.ParentSpanId) != parent {
		t.Errorf("the span of the client's request is in trace %x below %x", server.TraceId, server.ParentSpanId)
	}
	if !bytes.Equal(client.TraceId, server.TraceId) || !bytes.Equal(client.ParentSpanId, server.SpanId) {
		t.Error("the span of the request to the server is not below that of the client's request")
	}
	var got map[string]any
	if err := json.Unmarshal(meta, &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "progressToken")
	for name := range got {
		if strings.HasPrefix(name, "io.modelcontextprotocol/") {
			delete(got, name) // what each request of 2026-07-28 says
		}
	}
	want := map[string]any{
		"traceparent": "00-" + trace + "-" + hex.EncodeToString(client.SpanId) + "-01", "tracestate": "vendor=1", "baggage": "tenant=acme", "mine": "kept",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("_meta that the server got: %s", diff)
	}
	about := attributes(server)
	for name, value := range map[string]string{
		"mcp.method.name": "tools/call", "gen_ai.tool.name": "up__works", "gen_ai.operation.name": "execute_tool", "network.transport": "tcp",
		"toolpost.upstream": "up", "toolpost.client.name": "tester",
	} {
		if about[name] != value {
			t.Errorf("%s is %q, want %q", name, about[name], value)
		}
	}
	if about["jsonrpc.request.id"] == "" || about["mcp.protocol.version"] == "" || about["error.type"] != "" {
		t.Errorf("attributes are %v", about)
	}
	failed := r.find(t, tracepb.Span_SPAN_KIND_CLIENT, "tools/call fails")
	if attributes(failed)["error.type"] != "tool_error" || failed.Status.Code != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("the failed call has %v, %v", attributes(failed), failed.Status)
	}
	refused := attributes(r.find(t, tracepb.Span_SPAN_KIND_SERVER, "tools/call up__refuses"))
	if refused["error.type"] != "-32050" || refused["rpc.response.status_code"] != "-32050" {
		t.Errorf("the refused call has %v", refused)
	}
	if r.service != "toolpost" || r.headers.Get("X-Key") != "abc" {
		t.Errorf("service %q, headers %v", r.service, r.headers)
	}
	if raw := r.raw.String(); strings.Contains(strings.ReplaceAll(raw, "no_such_tool_"+secret, ""), secret) || strings.Contains(raw, "password") {
		t.Error("the traces contain arguments, results or credentials")
	}
}

// Traces are off unless the environment names a collector.
func TestTracesAreOff(t *testing.T) {
	for _, env := range []map[string]string{
		{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
	} {
		t.Run("", func(t *testing.T) {
			for name, value := range env {
				t.Setenv(name, value)
			}
			if traces, err := telemetry.NewTraces(t.Context(), "", nil); traces != nil || err != nil {
				t.Errorf("got %v, %v", traces, err)
			}
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := telemetry.NewTraces(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("got %v, want what is supported", err)
	}
}
