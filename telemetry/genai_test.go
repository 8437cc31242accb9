package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/telemetry"
	"github.com/toolpost/toolpost/tooltest"
	"github.com/toolpost/toolpost/usage"
)

// exported runs with traces, and returns what a collector received.
func exported(t *testing.T, run func(*telemetry.Traces)) *receiver {
	t.Helper()
	r := &receiver{}
	web := httptest.NewServer(r)
	defer web.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", web.URL)
	traces, err := telemetry.NewTraces(t.Context(), "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run(traces)
	if err := traces.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r
}

// values returns the attributes of a span, with their types.
func values(s *tracepb.Span) map[string]any {
	all := map[string]any{}
	for _, a := range s.Attributes {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[a.Key] = int(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			all[a.Key] = v.BoolValue
		case *commonpb.AnyValue_DoubleValue:
			all[a.Key] = "a time"
		case *commonpb.AnyValue_ArrayValue:
			var list []string
			for _, e := range v.ArrayValue.Values {
				list = append(list, e.GetStringValue())
			}
			all[a.Key] = list
		}
	}
	return all
}

// weather returns a toolset whose results contain the secret.
func weather() toolpost.Toolset {
	tool := func(name string, h toolpost.Handler) *toolpost.Tool {
		return &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)}, Handler: h}
	}
	return toolpost.Tools{
		tool("weather", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult("rain, " + secret), nil
		}),
		tool("broken", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Failed.Errorf("no %s", secret)
		}),
	}
}

// TestGenAI runs an agent: its spans and metrics have the names and attributes of
// the conventions, and none of what was said.
func TestGenAI(t *testing.T) {
	m := tooltest.NewModel(t,
		tooltest.Turn{Tokens: usage.Tokens{Input: 10, CacheRead: 100, CacheWrite: 5, Output: 20, Reasoning: 7}, Parts: []model.Part{
			{Type: model.TypeThinking, Text: "hm " + secret},
			{Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: []byte(`{"city":"` + secret + `"}`)},
			{Type: model.TypeCall, ID: "c2", Name: "broken", Arguments: []byte(`{}`)},
		}},
		tooltest.Turn{Text: "It rains, " + secret},
	)
	metrics := telemetry.NewMetrics("", "")
	session := agent.NewSession()
	r := exported(t, func(traces *telemetry.Traces) {
		g := &telemetry.GenAI{Traces: traces, Metrics: metrics}
		a := agent.New(g.Model(m), g.Tools(weather()), &agent.Options{System: secret})
		ctx, end := g.Agent(t.Context(), "forecaster", session.ID())
		_, err := a.Do(ctx, session, model.Part{Type: model.TypeText, Text: "Weather? " + secret})
		end(err)
		if err != nil {
			t.Fatal(err)
		}
	})
	run := r.find(t, tracepb.Span_SPAN_KIND_INTERNAL, "invoke_agent forecaster")
	chat := r.find(t, tracepb.Span_SPAN_KIND_CLIENT, "chat script")
	tool := r.find(t, tracepb.Span_SPAN_KIND_INTERNAL, "execute_tool weather")
	broken := r.find(t, tracepb.Span_SPAN_KIND_INTERNAL, "execute_tool broken")
	for _, c := range []struct {
		span *tracepb.Span
		want map[string]any
	}{
		{run, map[string]any{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "forecaster", "gen_ai.conversation.id": session.ID()}},
		{chat, map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "test", "gen_ai.request.model": "script", "gen_ai.request.stream": true,
			"gen_ai.conversation.id": session.ID(), "gen_ai.response.id": "response_1", "gen_ai.response.model": "script",
			"gen_ai.response.finish_reasons": []string{"tool_call"}, "gen_ai.response.time_to_first_chunk": "a time",
			"gen_ai.usage.input_tokens": 115, "gen_ai.usage.output_tokens": 20, "gen_ai.usage.reasoning.output_tokens": 7,
			"gen_ai.usage.cache_read.input_tokens": 100, "gen_ai.usage.cache_creation.input_tokens": 5,
		}},
		{tool, map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "gen_ai.tool.type": "function",
			"gen_ai.tool.call.id": "c1", "gen_ai.conversation.id": session.ID(),
		}},
		{broken, map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "broken", "gen_ai.tool.type": "function",
			"gen_ai.tool.call.id": "c2", "gen_ai.conversation.id": session.ID(), "error.type": "tool_error",
		}},
	} {
		if diff := cmp.Diff(c.want, values(c.span)); diff != "" {
			t.Errorf("%s: %s", c.span.Name, diff)
		}
		if c.span != run && (!bytes.Equal(c.span.TraceId, run.TraceId) || !bytes.Equal(c.span.ParentSpanId, run.SpanId)) {
			t.Errorf("%s is not below the run of the agent", c.span.Name)
		}
		if failed := c.span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR; failed != (c.span == broken) {
			t.Errorf("%s: the status is %v", c.span.Name, c.span.Status)
		}
	}
	if len(r.spans) != 5 || strings.Contains(r.raw.String(), secret) {
		t.Errorf("%d spans, with what was said: %v", len(r.spans), strings.Contains(r.raw.String(), secret))
	}
	got, _, text := read(t, metrics)
	for name, want := range map[string]float64{
		"gen_ai_client_token_usage gen_ai_operation_name=chat gen_ai_provider_name=test gen_ai_request_model=script gen_ai_token_type=input":   2,
		"gen_ai_client_token_usage gen_ai_operation_name=chat gen_ai_provider_name=test gen_ai_request_model=script gen_ai_token_type=output":  2,
		"gen_ai_client_operation_duration_seconds gen_ai_operation_name=chat gen_ai_provider_name=test gen_ai_request_model=script":            2,
		"gen_ai_client_operation_time_to_first_chunk_seconds gen_ai_operation_name=chat gen_ai_provider_name=test gen_ai_request_model=script": 2,
		"gen_ai_execute_tool_duration_seconds gen_ai_tool_name=weather":                                                                        1,
		"gen_ai_execute_tool_duration_seconds error_type=tool_error gen_ai_tool_name=broken":                                                   1,
		"gen_ai_invoke_agent_duration_seconds gen_ai_agent_name=forecaster":                                                                    1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if strings.Contains(text, "toolpost_cost_usd_total{") || strings.Contains(text, secret) {
		t.Errorf("a model without a price has a cost, or a label is foreign:\n%s", text)
	}
}

// TestGenAIContents records what was said, without what looks like a secret.
func TestGenAIContents(t *testing.T) {
	const key = "sk-ant-0123456789"
	m := tooltest.NewModel(t,
		tooltest.Turn{Parts: []model.Part{
			{Type: model.TypeThinking, Text: "hm"}, {Type: model.TypeCall, ID: "c1", Name: "weather", Arguments: []byte(`{"city":"Ulm","password":"hunter3"}`)},
		}},
		tooltest.Turn{Text: "The key is " + key},
		tooltest.Turn{Text: strings.Repeat("long ", 100<<10)},
	)
	r := exported(t, func(traces *telemetry.Traces) {
		g := &telemetry.GenAI{Traces: traces, Contents: true}
		a := agent.New(g.Model(m), g.Tools(weather()), &agent.Options{System: "Be brief."})
		session := agent.NewSession()
		for _, prompt := range []string{"Weather?", "More."} {
			if _, err := a.Do(t.Context(), session, model.Part{Type: model.TypeText, Text: prompt}, model.Part{Type: model.TypeImage, Data: []byte("png"), MIMEType: "image/png"}); err != nil {
				t.Fatal(err)
			}
		}
	})
	var chats []map[string]any
	for _, s := range r.spans {
		if s.Name == "chat script" {
			chats = append(chats, values(s))
		}
	}
	tool := values(r.find(t, tracepb.Span_SPAN_KIND_INTERNAL, "execute_tool weather"))
	for _, c := range []struct{ what, got, want string }{
		{"system", fmt.Sprint(chats[0]["gen_ai.system_instructions"]), `[{"type":"text","content":"Be brief."}]`},
		{"input", fmt.Sprint(chats[0]["gen_ai.input.messages"]), `[{"role":"user","parts":[{"type":"text","content":"Weather?"},{"type":"image","mime_type":"image/png"}]}]`},
		{"output", fmt.Sprint(chats[0]["gen_ai.output.messages"]), `[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},` +
			`{"type":"tool_call","id":"c1","name":"weather","arguments":{"city":"Ulm","password":"[secret]"}}],"finish_reason":"tool_call"}]`},
		{"result", fmt.Sprint(chats[1]["gen_ai.input.messages"]), `{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"rain, ` + secret + `"}]}`},
		{"answer", fmt.Sprint(chats[1]["gen_ai.output.messages"]), `"content":"The key is [secret]"}],"finish_reason":"stop"}]`},
		{"arguments", fmt.Sprint(tool["gen_ai.tool.call.arguments"]), `{"city":"Ulm","password":"[secret]"}`},
		{"tool result", fmt.Sprint(tool["gen_ai.tool.call.result"]), `"rain, ` + secret + `"`},
		{"too long", fmt.Sprint(chats[2]["gen_ai.output.messages"]), "<nil>"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s is %s, want %s", c.what, c.got, c.want)
		}
	}
	if strings.Contains(r.raw.String(), key) || strings.Contains(r.raw.String(), "hunter3") {
		t.Error("the traces contain secrets")
	}
}

// TestGenAIErrors: every way in which a request ends has its error.type.
func TestGenAIErrors(t *testing.T) {
	metrics := telemetry.NewMetrics("", "")
	overloaded := &model.Error{Kind: model.KindOverloaded, Text: secret}
	ask := func(ctx context.Context, m model.Model) (n int) {
		for _, err := range m.Stream(ctx, &model.Request{Messages: []*model.Message{model.UserText("hi there")}, MaxTokens: 9, CacheKey: "key", Output: schema.MustParse(`{}`)}) {
			if n++; err == nil && n == 2 {
				break
			}
		}
		return n
	}
	r := exported(t, func(traces *telemetry.Traces) {
		g := &telemetry.GenAI{Traces: traces, Metrics: metrics}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		ask(t.Context(), g.Model(tooltest.NewModel(t, tooltest.Turn{Err: overloaded})))
		ask(t.Context(), g.Model(tooltest.NewModel(t, tooltest.Turn{Err: errors.New(secret)})))
		ask(t.Context(), g.Model(tooltest.NewModel(t, tooltest.Turn{Err: context.DeadlineExceeded})))
		ask(cancelled, g.Model(tooltest.NewModel(t, tooltest.Turn{Text: "never"})))
		ask(t.Context(), g.Model(tooltest.NewModel(t, tooltest.Turn{Text: "a text that is left"})))
		ask(t.Context(), g.Model(model.Fallback(tooltest.NewModel(t, tooltest.Turn{Err: overloaded}), tooltest.NewModel(t, priced("gemini", "gemini-2.5-flash")))))
		ask(t.Context(), (&telemetry.GenAI{}).Model(tooltest.NewModel(t, tooltest.Turn{Text: "nothing is recorded"})))
		_, end := g.Agent(t.Context(), "a", "")
		end(fmt.Errorf("run: %w", overloaded))
	})
	var kinds []string
	for _, s := range r.spans {
		v := values(s)
		kinds = append(kinds, fmt.Sprint(v["error.type"]))
		if s.Name == "chat script" && (v["gen_ai.request.max_tokens"] != 9 || v["gen_ai.output.type"] != "json" || v["gen_ai.conversation.id"] != "key") {
			t.Errorf("got %v", v)
		}
	}
	if got := strings.Join(kinds, " "); got != "overloaded _OTHER timeout canceled canceled <nil> overloaded" {
		t.Errorf("got %s", got)
	}
	fallen := values(r.spans[5])
	if fallen["toolpost.restarts"] != 1 || fallen["gen_ai.provider.name"] != "gcp.gemini" || fallen["gen_ai.request.model"] != "script" {
		t.Errorf("after a fallback: got %v", fallen)
	}
	if strings.Contains(r.raw.String(), secret) {
		t.Error("the traces contain the text of an error")
	}
	got, families, _ := read(t, metrics)
	cost := families["toolpost_cost_usd_total"].GetMetric()
	if len(cost) != 1 || cost[0].GetCounter().GetValue() != 0.000028 { // 10 × $0.30 and 10 × $2.50 per million
		t.Errorf("the cost is %v", cost)
	}
	const failed = "gen_ai_client_operation_duration_seconds error_type=canceled gen_ai_operation_name=chat gen_ai_provider_name=test gen_ai_request_model=script"
	if got[failed] != 2 {
		t.Errorf("got %v", got)
	}
}

// priced returns a turn of another model.
func priced(provider, name string) tooltest.Turn {
	return tooltest.Turn{Tokens: usage.Tokens{Input: 10, Output: 10}, Parts: []model.Part{
		{Type: model.TypeOpaque, Origin: &model.Origin{Provider: provider, API: "generate", Model: name}},
	}}
}

// TestGenAIPanic ends the span of a tool that panics.
func TestGenAIPanic(t *testing.T) {
	r := exported(t, func(traces *telemetry.Traces) {
		g := &telemetry.GenAI{Traces: traces}
		set, err := toolpost.NewSet(t.Context(), g.Tools(toolpost.Tools{{
			Definition: toolpost.Definition{Name: "panics", Input: schema.MustParse(`{"type":"object"}`)},
			Handler:    func(context.Context, *toolpost.Call) (*toolpost.Result, error) { panic(secret) },
		}}))
		if err != nil {
			t.Fatal(err)
		}
		if r, err := set.Call(t.Context(), &toolpost.Call{Name: "panics", Arguments: json.RawMessage(`{}`)}); err != nil || !r.IsError() {
			t.Errorf("got %v, %v", r, err)
		}
	})
	if v := values(r.spans[0]); v["error.type"] != "tool_error" {
		t.Errorf("got %v", v)
	}
}
