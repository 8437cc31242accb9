package gateway

import (
	"context"

	"github.com/toolpost/toolpost/upstream"
)

// A ServerReport is what a gateway has of one server. As JSON it can be sent to another
// gateway; see [Options].Reported.
type ServerReport struct {
	Status upstream.Status
	Known  *upstream.Known // what the server listed last; nil unless it is ready
	Reason string          // why it is not ready, as [upstream.Status.Reason]; Status has no Err
}

// Report returns what the gateway has of each server. It leaves out servers whose tools run
// in this process, and one that lists something else just now.
func (g *Gateway) Report() (reports []ServerReport) {
	g.work.Lock() // a Reload under way comes first
	defer g.work.Unlock()
	for _, m := range g.current() {
		known := m.known()
		status := m.status()
		isReady := status.State == upstream.Ready && status.Err == nil
		switch {
		case isReady && known != nil && known == m.known():
			reports = append(reports, ServerReport{Status: status, Known: known})
		case !isReady:
			reason := status.Reason()
			status.Err = nil // it cannot be read from JSON
			reports = append(reports, ServerReport{Status: status, Reason: reason})
		}
	}
	return reports
}

// reportOf returns the report of a server, nil if there is none.
func (o *Options) reportOf(server string) *ServerReport {
	for i := range o.Reported {
		if r := &o.Reported[i]; r.Status.Name == server && r.Known != nil {
			return r
		}
	}
	return nil
}

// A reported is the connection to a server that is not started unless a request needs it. It
// has the state that was reported.
type reported struct {
	connection
	status upstream.Status
}

// startReported returns the connection to a server of which there is a report.
func (g *Gateway) startReported(c *upstream.Config, opts upstream.Options, r *ServerReport) (connection, error) {
	opts.Known, opts.OnDemand = r.Known, true
	up, err := g.start(c, &opts)
	if err != nil {
		return nil, err
	}
	return reported{up, r.Status}, nil
}

func (r reported) Status() upstream.Status { return r.status }

// Ready does not wait: the server was ready elsewhere.
func (reported) Ready(context.Context) error { return nil }

// Known returns what the server listed elsewhere, or here since a request started it.
func (r reported) Known() *upstream.Known { return (&link{up: r.connection}).known() }

func (r reported) Close() error { return end(r.connection) }
