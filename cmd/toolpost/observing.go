package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/monitor"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/owner"
	"github.com/toolpost/toolpost/internal/policy/limit"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/recording"
	"github.com/toolpost/toolpost/telemetry"
)

// observing is what watches the requests of a service. It is set before open.
type observing struct {
	monitor   *monitor.Monitor    // what "toolpost top" shows
	observers []observe.Observer  // of clients' requests, the outermost first
	around    []gateway.Around    // of requests to servers, the outermost first
	metrics   *telemetry.Metrics  // nil unless they are served
	limits    *limit.Limits       // of requests to servers; nil for a folder
	recorder  *recording.Recorder // nil if nothing is recorded
	secrets   *owner.Secrets      // it has the known secrets, which are hidden in all that is written
}

// newService chooses between a live table and log lines. Neither waits until
// stderr is read.
func (o *serveOptions) newService(stderr io.Writer, levelGiven bool) *service {
	direct := newLogger(stderr, slog.LevelError, o.logFormat)
	width, _ := terminal.Size(stderr)
	table := width > 0 && !o.stdio
	if table {
		stderr = terminal.Unsafe(stderr) // the board makes foreign text harmless
	}
	out := newLogBuffer(stderr, func(lines int) {
		direct.Error("log lines were dropped because they were not read in time", "lines", lines)
	})
	s := &service{closer: []func() error{out.Close}, clients: roster{seen: map[string]bool{}}}
	if table {
		b := &board{out: out, size: func() (int, int) { return terminal.Size(stderr) }, color: os.Getenv("NO_COLOR") == ""}
		level := o.logLevel
		if !levelGiven {
			level = slog.LevelError // the board shows the rest
		}
		s.log, s.view = newLogger(b, level, o.logFormat), b
		if !levelGiven {
			s.log = slog.New(&activity{s.log.Handler(), b})
			s.clients.log = b.note
		}
	} else {
		s.log = newLogger(out, o.logLevel, o.logFormat)
		s.view = &logView{log: s.log}
	}
	s.secrets = owner.NewSecrets()
	s.monitor = monitor.New(s.secrets.Known)
	s.observers = append(s.observers, s.monitor.Observe)
	s.log = slog.New(secret.NewHandler(s.monitor.Log(s.log.Handler()), s.secrets.Known))
	return s
}
