package telemetry_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/telemetry"
)

// read reads metrics with the parser of Prometheus. It returns the number of each
// time series: the value of a counter or gauge, the count of a histogram.
func read(t *testing.T, m *telemetry.Metrics) (series map[string]float64, families map[string]*dto.MetricFamily, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text = w.Body.String()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	series = map[string]float64{}
	for name, family := range families {
		for _, metric := range family.Metric {
			var labels []string
			for _, l := range metric.Label {
				if l.GetValue() != "" {
					labels = append(labels, l.GetName()+"="+l.GetValue())
				}
			}
			value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			series[strings.Join(append([]string{name}, labels...), " ")] = value
		}
	}
	return series, families, text
}

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics("1.2.3", "abc")
	c := newChain(t, m.Observe, m.Around)
	m.Upstreams(c.gateway.Status)
	m.CacheBytes(func() int64 { return 4711 })
	c.calls(t)
	c.calls(t)
	got, families, text := read(t, m)
	for name, want := range map[string]float64{
		"mcp_server_operation_duration_seconds gen_ai_tool_name=up__works mcp_method_name=tools/call":                                        2,
		"mcp_server_operation_duration_seconds error_type=tool_error gen_ai_tool_name=up__fails mcp_method_name=tools/call":                  2,
		"mcp_server_operation_duration_seconds error_type=-32050 gen_ai_tool_name=up__refuses mcp_method_name=tools/call":                    2,
		"mcp_server_operation_duration_seconds error_type=-32602 mcp_method_name=tools/call":                                                 2,
		"mcp_client_operation_duration_seconds gen_ai_tool_name=works mcp_method_name=tools/call toolpost_upstream=up":                       2,
		"mcp_client_operation_duration_seconds error_type=tool_error gen_ai_tool_name=fails mcp_method_name=tools/call toolpost_upstream=up": 2,
		"mcp_client_operation_duration_seconds error_type=-32050 gen_ai_tool_name=refuses mcp_method_name=tools/call toolpost_upstream=up":   2,
		"toolpost_upstream_up toolpost_upstream=up":             1,
		"toolpost_upstream_tools toolpost_upstream=up":          3,
		"toolpost_upstream_restarts_total toolpost_upstream=up": 0,
		"toolpost_upstream_inflight toolpost_upstream=up":       0,
		"toolpost_inflight":    0,
		"toolpost_cache_bytes": 4711,
		"toolpost_build_info commit=abc go=" + runtime.Version() + " version=1.2.3": 1,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, %v; want %v", name, value, ok, want)
		}
	}
	for _, name := range []string{"go_goroutines", "go_gc_heap_live_bytes", "process_open_fds"} {
		if families[name] == nil {
			t.Errorf("there is no metric %s", name)
		}
	}
	if kind := families["mcp_server_operation_duration_seconds"].GetType(); kind != dto.MetricType_HISTOGRAM {
		t.Errorf("the duration is a %v", kind)
	}
	for _, leak := range []string{secret, "tester", "127.0.0.1"} {
		if strings.Contains(text, leak) {
			t.Errorf("the metrics contain %s", leak)
		}
	}
}

// Whatever clients and servers send, the number of time series is bounded.
func TestMetricsAreBounded(t *testing.T) {
	const maxTools = 500
	m := telemetry.NewMetrics("", "")
	to := &observe.Target{Server: "s", Method: "tools/call"}
	for i := range 3 * maxTools {
		name := fmt.Sprint("tool", i)
		ctx, r := observe.Begin(t.Context())
		r.Method, r.Name = "tools/call", name
		r.SetTarget(to)
		_, end := m.Observe(ctx, r)
		end(&observe.Response{Outcome: observe.OK})
		_, r = observe.Begin(t.Context())
		r.Method = "foreign/" + name
		_, end = m.Observe(ctx, r)
		end(&observe.Response{Outcome: observe.ProtocolError, Code: int64(i)})
		_, err := m.Around(&observe.Target{Server: "s", Method: "tools/call", Name: name}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return toolpost.TextResult("x"), nil })(ctx, &toolpost.Call{Name: name})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, families, _ := read(t, m)
	for _, name := range []string{"mcp_server_operation_duration_seconds", "mcp_client_operation_duration_seconds"} {
		if n := len(families[name].Metric); n < maxTools || n > maxTools+2 {
			t.Errorf("%s has %d series; want %d, and those of others", name, n, maxTools)
		}
	}
}
