// Package monitor remembers what a running gateway did last: its requests, their
// servers and clients, and log lines. "toolpost top" shows it.
//
//	observe.Observer ──▶ Monitor ──▶ Status ── GET /status ──▶ toolpost top
//	slog.Handler ──────────┘
//
// Everything is bounded, and arguments and results are never kept.
package monitor

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/observe"
)

// The limits of a Monitor.
const (
	maxCalls     = 500  // the last ones
	maxLogs      = 500  // the last ones
	maxClients   = 200  // those that were seen longest ago are counted as otherClients
	maxServers   = 1000 // as many as a configuration has
	maxDurations = 256  // of one server, for percentiles
	maxSessions  = 500  // of one client
	longestText  = 300  // bytes of a name or error
)

// otherClients is the name under which clients beyond maxClients are counted.
const otherClients = "(other clients)"

// idleSession is the time after which a session counts no more.
const idleSession = 30 * time.Minute

// A Monitor records requests and log lines. It may be used by several goroutines.
type Monitor struct {
	started time.Time
	secrets *secret.Values

	mu      sync.Mutex
	seq     uint64 // of the last call or log line
	calls   recent[status.Call]
	logs    recent[status.Log]
	servers map[string]*server
	clients map[string]*client
	running map[*observe.Request]bool
}

// A server is what is known about the requests to one server.
type server struct {
	status.Counts
	durations []time.Duration // the last ones, in the order of next
	next      int
}

// A client is what is known about one client.
type client struct {
	status.Counts
	last     time.Time
	sessions map[string]time.Time // when each was seen last
}

// New returns a Monitor that has seen nothing. It hides the secrets that are known when
// a request ends or a line is logged; they may be nil.
func New(secrets *secret.Values) *Monitor {
	return &Monitor{secrets: secrets, started: time.Now(), servers: map[string]*server{}, clients: map[string]*client{}, running: map[*observe.Request]bool{}}
}

// Observe is an [observe.Observer].
func (m *Monitor) Observe(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
	m.mu.Lock()
	m.running[r] = true
	m.mu.Unlock()
	return ctx, func(response *observe.Response) { m.end(r, response) }
}

// end records a request that has ended.
func (m *Monitor) end(r *observe.Request, response *observe.Response) {
	call := status.Call{
		Time: r.Start, Client: clientName(r.Client), Session: r.Session, Method: shorten(r.Method), Name: m.withoutSecrets(r.Called()),
		MS: response.Duration.Seconds() * 1000, BytesIn: int64(len(r.Params)), BytesOut: response.Bytes,
		Outcome: string(response.Outcome),
	}
	if isCall(r) { // lists are for the client, which decides what of them a model reads
		call.Tokens = tokens(response.Bytes)
	}
	if to := r.Target(); to != nil {
		call.Server = to.Server
	}
	if response.Err != nil {
		call.Error = m.withoutSecrets(response.Err.Error())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.running, r)
	m.count(&call, response.Duration)
	call.Session = "" // it may be what a client authenticates with
	if !isCall(r) {
		return
	}
	m.seq++
	call.Seq = m.seq
	m.calls.add(call, maxCalls)
}

// isCall reports whether a request is shown as a call: it has a name, or went to
// a server. Handshakes, lists and pings are only counted.
func isCall(r *observe.Request) bool { return r.Name != "" || r.Target() != nil }

// bytesPerToken is how many bytes of JSON make a token, about.
const bytesPerToken = 4

func tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// count adds a call to its server and its client.
func (m *Monitor) count(call *status.Call, d time.Duration) {
	c := m.client(call.Client)
	add(&c.Counts, call)
	c.last = time.Now()
	if _, known := c.sessions[call.Session]; call.Session != "" && (known || len(c.sessions) < maxSessions) {
		c.sessions[call.Session] = c.last
	}
	if call.Server == "" {
		return
	}
	s := m.servers[call.Server]
	if s == nil {
		if len(m.servers) >= maxServers {
			return
		}
		s = &server{}
		m.servers[call.Server] = s
	}
	add(&s.Counts, call)
	if len(s.durations) < maxDurations {
		s.durations = append(s.durations, d)
	} else {
		s.durations[s.next] = d
	}
	s.next = (s.next + 1) % maxDurations
}

// client returns what is counted for the client of that name.
func (m *Monitor) client(name string) *client {
	if m.clients[name] == nil && len(m.clients) >= maxClients {
		m.forgetClient()
	}
	if m.clients[name] == nil {
		m.clients[name] = &client{sessions: map[string]time.Time{}}
	}
	return m.clients[name]
}

// forgetClient counts the client that was seen longest ago as one of the others, so
// that made-up names do not take the places of clients for ever.
func (m *Monitor) forgetClient() {
	oldest := ""
	for name, c := range m.clients {
		if name != otherClients && (oldest == "" || c.last.Before(m.clients[oldest].last)) {
			oldest = name
		}
	}
	gone, others := m.clients[oldest], m.clients[otherClients]
	delete(m.clients, oldest)
	if others == nil {
		others = &client{sessions: map[string]time.Time{}}
		m.clients[otherClients] = others
	}
	others.Calls, others.Errors = others.Calls+gone.Calls, others.Errors+gone.Errors
	others.Bytes, others.Tokens = others.Bytes+gone.Bytes, others.Tokens+gone.Tokens
	if gone.last.After(others.last) {
		others.last = gone.last
	}
}

func clientName(c observe.Client) string {
	name := strings.TrimSpace(c.Name + " " + c.Version)
	if name == "" {
		name = c.UserAgent
	}
	if name == "" {
		name = "unknown"
	}
	return shorten(name)
}

// withoutSecrets returns the beginning of a name or error without the known secrets, and
// without what looks like one: the addresses of resources may contain passwords.
func (m *Monitor) withoutSecrets(s string) string {
	const enough = 8 * longestText // so that no secret is cut in a part that is shown
	return shorten(secret.RedactText(m.secrets.Replace(s[:min(len(s), enough)])))
}

func shorten(s string) string { return cleartext.Clip(s, longestText) }

// A recent holds the last values of many.
type recent[T any] struct {
	values []T
	next   int // the place of the oldest value, once there are so many that a new one replaces it
}

// add adds a value. The oldest of more than most is forgotten.
func (r *recent[T]) add(v T, most int) {
	if len(r.values) < most {
		r.values = append(r.values, v)
		return
	}
	r.values[r.next] = v
	r.next = (r.next + 1) % most
}

// after returns the values whose number is greater than another one, the oldest first.
func (r *recent[T]) after(number uint64, numberOf func(*T) uint64) []T {
	found := []T{}
	for i := range r.values {
		if v := &r.values[(r.next+i)%len(r.values)]; numberOf(v) > number {
			found = append(found, *v)
		}
	}
	return found
}
