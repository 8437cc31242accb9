package main

import (
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/monitor"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/recording"
	"github.com/toolpost/toolpost/telemetry"
)

// observing is what watches the requests of a service. It is set before open.
type observing struct {
	monitor   *monitor.Monitor    // what "toolpost top" shows
	observers []observe.Observer  // of clients' requests, the outermost first
	around    []gateway.Around    // of requests to servers, likewise
	metrics   *telemetry.Metrics  // nil unless they are served
	recorder  *recording.Recorder // nil if nothing is recorded
	secrets   *secretReader       // of the servers; it hides them in what is recorded
}
