// Package status describes the answer of an endpoint to GET /status: its servers, its
// clients, and the last calls and log lines. A program that shows what an endpoint does,
// such as "toolpost top", decodes it.
package status

import (
	"time"

	"github.com/toolpost/toolpost/observe"
)

// Path is where an endpoint answers its owner with its state, a Status as JSON.
const Path = "/status"

// A Status is what an endpoint knows about itself at one moment.
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
	Tokens int64 `json:"tokens"` // of results without lists, estimated
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

	Server string `json:"server,omitempty"` // that it is about
}
