package monitor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/toolpost/toolpost/internal/percentile"
	"github.com/toolpost/toolpost/observe"
)

// A Status is what a Monitor knows at one moment, and the answer of /status.
type Status struct {
	Version string    `json:"version"` // of toolpost
	Started time.Time `json:"started"`
	Time    time.Time `json:"time"`
	Seq     uint64    `json:"seq"`   // of the last call or log line
	Tools   int       `json:"tools"` // that clients can call
	Running int       `json:"running"`
	Servers []Server  `json:"servers"` // in the order of the configuration
	Clients []Client  `json:"clients"` // by name
	Calls   []Call    `json:"calls"`   // the oldest first
	Logs    []Log     `json:"logs"`    // the oldest first
}

// Counts are sums over requests.
type Counts struct {
	Calls  int64 `json:"calls"`
	Errors int64 `json:"errors"` // requests whose outcome is not ok or input_required
	Bytes  int64 `json:"bytes"`  // of results
	Tokens int64 `json:"tokens"` // of results, estimated
}

func (c *Counts) add(call *Call) {
	c.Calls++
	c.Bytes += call.BytesOut
	c.Tokens += call.Tokens
	if call.Failed() {
		c.Errors++
	}
}

// A Server is the state of one server and what is counted of it.
type Server struct {
	Name      string `json:"name"`
	State     string `json:"state"`
	Transport string `json:"transport,omitempty"`
	Version   string `json:"protocolVersion,omitempty"`
	Tools     int    `json:"tools"`
	Error     string `json:"error,omitempty"`
	Running   int    `json:"running"` // requests under way
	Counts
	P50 float64 `json:"p50Ms"` // of the last requests, in milliseconds
	P95 float64 `json:"p95Ms"`
}

// A Client is one client, by its own account.
type Client struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"` // that sent a request in the last 30 minutes
	Counts
	Last time.Time `json:"last"` // when its last request ended
}

// A Call is one request that has ended.
type Call struct {
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"` // when it began
	Client   string    `json:"client"`
	Session  string    `json:"-"`
	Server   string    `json:"server,omitempty"` // empty if it was answered without one
	Method   string    `json:"method"`
	Name     string    `json:"name,omitempty"` // of the tool or prompt, or a URI
	MS       float64   `json:"ms"`
	BytesIn  int64     `json:"bytesIn"`
	BytesOut int64     `json:"bytesOut"`
	Tokens   int64     `json:"tokens"` // of the result, estimated
	Outcome  string    `json:"outcome"`
	Error    string    `json:"error,omitempty"`
}

// Failed reports whether the call counts as an error.
func (c *Call) Failed() bool {
	return c.Outcome != string(observe.OK) && c.Outcome != string(observe.InputRequired)
}

// A Log is one log line.
type Log struct {
	Seq   uint64    `json:"seq"`
	Time  time.Time `json:"time"`
	Level string    `json:"level"`
	Text  string    `json:"text"` // message and attributes
}

// Status returns what is known now, with the calls and log lines after the one
// with that number. Servers are those of states, with what is counted of them.
func (m *Monitor) Status(after uint64, states []Server) *Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	s := &Status{
		Started: m.started, Time: now, Seq: m.seq, Running: len(m.running), Servers: []Server{}, Clients: []Client{},
		Calls: newer(last(m.calls, maxCalls), after, func(c Call) uint64 { return c.Seq }),
		Logs:  newer(last(m.logs, maxLogs), after, func(l Log) uint64 { return l.Seq }),
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
		s.Clients = append(s.Clients, Client{Name: name, Sessions: len(c.sessions), Counts: c.Counts, Last: c.last})
	}
	return s
}

// newer returns a copy of the items with a number above after.
func newer[T any](all []T, after uint64, seq func(T) uint64) []T {
	i, _ := slices.BinarySearchFunc(all, after+1, func(v T, want uint64) int { return cmp.Compare(seq(v), want) })
	return append([]T{}, all[i:]...)
}

// percentiles returns the median and the 95th percentile in milliseconds.
func percentiles(durations []time.Duration) (p50, p95 float64) {
	sorted := slices.Sorted(slices.Values(durations))
	return percentile.Of(sorted, 50).Seconds() * 1000, percentile.Of(sorted, 95).Seconds() * 1000
}
