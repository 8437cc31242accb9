package monitor

import (
	"maps"
	"slices"
	"time"

	"github.com/toolpost/toolpost/internal/access/status"
)

// add counts a call.
func add(c *status.Counts, call *status.Call) {
	c.Calls++
	c.Bytes += call.BytesOut
	c.Tokens += call.Tokens
	if call.Failed() {
		c.Errors++
	}
}

// Status returns what is known now, with the calls and log lines after the one
// with that number. Servers are those of states, with what is counted of them.
func (m *Monitor) Status(after uint64, states []status.Server) *status.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	s := &status.Status{
		Started: m.started, Time: now, Seq: m.seq, Running: len(m.running), Servers: []status.Server{}, Clients: []status.Client{},
		Calls: m.calls.after(after, func(c *status.Call) uint64 { return c.Seq }),
		Logs:  m.logs.after(after, func(l *status.Log) uint64 { return l.Seq }),
	}
	running := map[string]int{}
	for r := range m.running {
		if to := r.Target(); to != nil {
			running[to.Server]++
		}
	}
	for _, state := range states {
		if counted := m.servers[state.Name]; counted != nil {
			state.Counts = counted.Counts
			state.P50, state.P95 = percentiles(counted.durations)
		}
		state.Running = running[state.Name]
		s.Servers = append(s.Servers, state)
	}
	for _, name := range slices.Sorted(maps.Keys(m.clients)) {
		c := m.clients[name]
		maps.DeleteFunc(c.sessions, func(_ string, seen time.Time) bool { return now.Sub(seen) > idleSession })
		s.Clients = append(s.Clients, status.Client{Name: name, Sessions: len(c.sessions), Counts: c.Counts, Last: c.last})
	}
	return s
}

// percentiles returns the median and the 95th percentile in milliseconds.
func percentiles(durations []time.Duration) (p50, p95 float64) {
	sorted := slices.Sorted(slices.Values(durations))
	of := func(p int) float64 { return sorted[(len(sorted)*p+99)/100-1].Seconds() * 1000 }
	if len(sorted) == 0 {
		return 0, 0
	}
	return of(50), of(95)
}
