package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/toolpost/toolpost/usage"
)

// genAIMetrics counts and times what agents do.
type genAIMetrics struct {
	tokens, operation, firstChunk, tool, agent *prometheus.HistogramVec
	cost                                       *prometheus.CounterVec
	models, tools, agents                      names
}

func newGenAIMetrics(registry *prometheus.Registry) *genAIMetrics {
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &genAIMetrics{
		tokens: histogram(metricTokens, "Tokens of the requests to models; those of input include the cached ones.",
			tokenBuckets(), labelOperation, labelProvider, labelModel, labelTokenType),
		operation: histogram(metricOperation, "Duration of the requests to models.",
			operationBuckets(), labelOperation, labelProvider, labelModel, labelErrorType),
		firstChunk: histogram(metricFirstChunk, "Time until the first piece of a response.",
			operationBuckets(), labelOperation, labelProvider, labelModel),
		tool:  histogram(metricTool, "Duration of the calls of tools by agents.", buckets(), labelTool, labelErrorType),
		agent: histogram(metricAgent, "Duration of the runs of agents.", buckets(), labelAgent, labelErrorType),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: metricNamespace, Name: "cost_usd_total",
			Help: "Cost of the requests to models whose price is known, in US dollars."}, []string{labelProvider, labelModel}),
		models: names{known: map[string]bool{}}, tools: names{known: map[string]bool{}}, agents: names{known: map[string]bool{}},
	}
	registry.MustRegister(m.tokens, m.operation, m.firstChunk, m.tool, m.agent, m.cost)
	return m
}

// recordRequest records a request to a model. Kind is error.type.
func (m *Metrics) recordRequest(q *observedRequest, kind string) {
	if m == nil {
		return
	}
	g, provider := m.genAI, providerName(q.origin)
	name := g.models.bound(clip(q.origin.Model))
	g.operation.WithLabelValues(opChat, provider, name, kind).Observe(time.Since(q.start).Seconds())
	if q.first > 0 {
		g.firstChunk.WithLabelValues(opChat, provider, name).Observe(q.first.Seconds())
	}
	if q.response == nil {
		return
	}
	t := q.response.Usage
	provider, name = providerName(q.answered), g.models.bound(clip(q.answered.Model))
	g.tokens.WithLabelValues(opChat, provider, name, "input").Observe(float64(t.Input + t.CacheRead + t.CacheWrite))
	g.tokens.WithLabelValues(opChat, provider, name, "output").Observe(float64(t.Output))
	if cost, known := usage.Default().Find(q.answered.Provider, q.answered.Model).Cost(t); known {
		g.cost.WithLabelValues(provider, name).Add(float64(cost) / float64(usage.Dollar))
	}
}

func (m *Metrics) recordTool(name, kind string, d time.Duration) {
	if m != nil {
		m.genAI.tool.WithLabelValues(m.genAI.tools.bound(clip(name)), kind).Observe(d.Seconds())
	}
}

func (m *Metrics) recordAgent(name, kind string, d time.Duration) {
	if m != nil {
		m.genAI.agent.WithLabelValues(m.genAI.agents.bound(clip(name)), kind).Observe(d.Seconds())
	}
}
