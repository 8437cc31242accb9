// Package telemetry exports what package observe sees: metrics for Prometheus, and
// traces over OTLP.
//
//	mcpserver ── Observe ──▶ Metrics ──▶ /metrics
//	gateway ──── Around ───▶ Traces ───▶ OTLP/HTTP
//	agent ────── GenAI ────▶ both
//
// Names follow the OpenTelemetry conventions for MCP and generative AI. Credentials
// are never exported; arguments, results and messages only if an
// option of [GenAI] says so.
package telemetry

import (
	"context"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// maxTools is how many tools have time series of their own. Calls of further tools
// are counted as those of "other".
const maxTools = 500

// liveHeap is the metric of package runtime that shows a leak: what the last
// collection left. The Go collector does not export it by itself.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

// Metrics counts and times requests. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	server   *prometheus.HistogramVec
	client   *prometheus.HistogramVec
	inflight prometheus.Gauge
	to       *prometheus.GaugeVec // requests under way, by server
	rulings  *prometheus.CounterVec
	tools    names // as clients know them
	targets  names // as servers do
	genAI    *genAIMetrics
}

// NewMetrics returns metrics without any requests. The metric build_info shows the version
// and the commit of the program.
func NewMetrics(version, commit string) *Metrics {
	duration := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets()}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		server:   duration(metricServer, "Duration of the requests of clients.", labelMethod, labelTool, labelErrorType),
		client:   duration(metricClient, "Duration of the requests to servers.", labelUpstream, labelMethod, labelTool, labelErrorType),
		inflight: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: metricNamespace, Name: "inflight", Help: "Requests of clients that are under way."}),
		to: prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: metricNamespace, Name: "upstream_inflight",
			Help: "Requests to the server that are under way."}, []string{labelUpstream}),
		rulings: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: metricNamespace, Name: "approvals_total",
			Help: "Requests that an approval rule matched, by what it, or the user, decided."}, []string{"decision"}),
		tools: names{known: map[string]bool{}}, targets: names{known: map[string]bool{}},
	}
	m.genAI = newGenAIMetrics(m.registry)
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: metricNamespace, Name: "build_info", Help: "The build, as labels; the value is 1.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.server, m.client, m.inflight, m.to, m.rulings, build,
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Upstreams adds the state of the servers, which status returns when the metrics
// are read.
func (m *Metrics) Upstreams(status func() []upstream.Status) {
	m.registry.MustRegister(newUpstreams(status))
}

// CacheBytes adds the size of the stored outputs, which size returns when the
// metrics are read.
func (m *Metrics) CacheBytes(size func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: metricNamespace, Name: "cache_bytes", Help: "Size of the outputs that are stored for clients.",
	}, func() float64 { return float64(size()) }))
}

// Handler serves the metrics in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Observe is an [observe.Observer].
func (m *Metrics) Observe(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
	m.inflight.Inc()
	return ctx, func(response *observe.Response) {
		m.inflight.Dec()
		if _, decision := r.Approval(); decision != "" {
			m.rulings.WithLabelValues(decision).Inc()
		}
		tool := ""
		if r.Method == methodCall && (response.Result != nil || r.Target() != nil) { // otherwise the client made up the name
			tool = m.tools.bound(r.Called())
		}
		m.server.WithLabelValues(method(r.Method), tool, errorLabel(response.Outcome, response.Code)).Observe(response.Duration.Seconds())
	}
}

// Around counts and measures requests to servers; it is for the option Around of package
// gateway.
func (m *Metrics) Around(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		start, running := time.Now(), m.to.WithLabelValues(to.Server)
		running.Inc()
		defer running.Dec()
		result, err := next(ctx, call)
		tool := ""
		if to.Method == methodCall {
			tool = m.targets.bound(to.Server + "\x00" + to.Name)
			if tool != other {
				tool = to.Name
			}
		}
		outcome, code := outcomeOf(ctx, result, err)
		m.client.WithLabelValues(to.Server, method(to.Method), tool, errorLabel(outcome, code)).Observe(time.Since(start).Seconds())
		return result, err
	}
}

// names bounds how many names become labels.
type names struct {
	mu    sync.Mutex
	known map[string]bool
}

// bound returns name, or other if too many names came before it.
func (n *names) bound(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[name] {
		return name
	}
	if len(n.known) >= maxTools {
		return other
	}
	n.known[name] = true
	return name
}

// method returns the label of a method. Those of extensions are not counted by name:
// clients choose them.
func method(name string) string {
	known := []string{
		methodCall, methodPrompt, "tools/list", "prompts/list", "resources/list", "resources/templates/list",
		"resources/read", "completion/complete", "server/discover",
	}
	if slices.Contains(known, name) {
		return name
	}
	return other
}

// errorLabel returns error.type; codes that JSON-RPC and MCP do not define are one.
func errorLabel(outcome observe.Outcome, code int64) string {
	if outcome != observe.ProtocolError || code >= -32768 && code <= -32600 || code >= -32099 && code <= -32000 {
		return errorType(outcome, code)
	}
	return typeOther
}

// upstreams collects the state of the servers.
type upstreams struct {
	status              func() []upstream.Status
	up, restarts, tools *prometheus.Desc
}

func newUpstreams(status func() []upstream.Status) *upstreams {
	about := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(metricNamespace+"_upstream_"+name, help, []string{labelUpstream}, nil)
	}
	return &upstreams{
		status:   status,
		up:       about("up", "Whether the server is ready."),
		restarts: about("restarts_total", "How often the server was connected again."),
		tools:    about("tools", "Tools that the server lists."),
	}
}

// Describe implements [prometheus.Collector].
func (u *upstreams) Describe(to chan<- *prometheus.Desc) {
	to <- u.up
	to <- u.restarts
	to <- u.tools
}

// Collect implements [prometheus.Collector].
func (u *upstreams) Collect(to chan<- prometheus.Metric) {
	for _, s := range u.status() {
		ready := 0.0
		if s.State == upstream.Ready {
			ready = 1
		}
		to <- prometheus.MustNewConstMetric(u.up, prometheus.GaugeValue, ready, s.Name)
		to <- prometheus.MustNewConstMetric(u.restarts, prometheus.CounterValue, float64(max(0, s.Connects-1)), s.Name)
		to <- prometheus.MustNewConstMetric(u.tools, prometheus.GaugeValue, float64(s.Tools), s.Name)
	}
}
