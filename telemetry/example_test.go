package telemetry_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/telemetry"
	"github.com/toolpost/toolpost/tooltest"
)

// Observe is an option of mcpserver, Around one of gateway. Here one request is
// observed by hand.
func ExampleMetrics() {
	m := telemetry.NewMetrics("1.0.0", "")
	ctx, r := observe.Begin(context.Background())
	r.Method = "tools/list"
	_, end := m.Observe(ctx, r)
	end(&observe.Response{Outcome: observe.OK, Duration: 30 * time.Millisecond})

	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, _ := io.ReadAll(w.Body)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "mcp_server_operation_duration_seconds_count") {
			fmt.Print(line)
		}
	}
	// Output: mcp_server_operation_duration_seconds_count{error_type="",gen_ai_tool_name="",mcp_method_name="tools/list"} 1
}

// An agent whose model and tools are wrapped has spans and metrics. Without Traces
// and Metrics nothing is recorded.
func ExampleGenAI() {
	var t testing.TB = new(testing.T) // that of a test; programs use a provider's model
	m := telemetry.NewMetrics("1.0.0", "")
	g := &telemetry.GenAI{Metrics: m}
	a := agent.New(g.Model(tooltest.NewModel(t, tooltest.Turn{Text: "Hello!"})), g.Tools(toolpost.Tools{}), nil)

	ctx, end := g.Agent(context.Background(), "greeter", "")
	result, err := a.Do(ctx, agent.NewSession(), model.Part{Type: model.TypeText, Text: "Greet me."})
	end(err)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text)

	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "gen_ai_invoke_agent_duration_seconds_count") {
			fmt.Print(line)
		}
	}
	// Output:
	// Hello!
	// gen_ai_invoke_agent_duration_seconds_count{error_type="",gen_ai_agent_name="greeter"} 1
}
