package telemetry_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/telemetry"
)

// Observe is an option of mcpserver, Around one of gateway. Here one request is
// observed by hand.
func ExampleMetrics() {
	m := telemetry.NewMetrics(telemetry.Build{Version: "1.0.0"})
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
