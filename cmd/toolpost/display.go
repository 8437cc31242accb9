package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/serve"
)

// A display is what people see of serve: a live table or log lines. It implements
// [serve.View].
type display struct {
	log     *slog.Logger
	view    view
	guide   guide
	clients roster
	out     *logBuffer
}

// newDisplay chooses between a live table and log lines. Neither waits until stderr is
// read.
func (o *serveOptions) newDisplay(stderr io.Writer, levelGiven bool) *display {
	direct := newLogger(stderr, slog.LevelError, o.logFormat)
	width, _ := terminal.Size(stderr)
	table := width > 0 && !o.stdio
	if table {
		stderr = terminal.Unsafe(stderr) // the board makes foreign text harmless
	}
	out := newLogBuffer(stderr, func(lines int) {
		direct.Error("log lines were dropped because they were not read in time", "lines", lines)
	})
	d := &display{out: out, clients: roster{seen: map[string]bool{}}}
	if !table {
		d.log = newLogger(out, o.logLevel, o.logFormat)
		d.view = &logView{log: d.log}
		return d
	}
	b := &board{out: out, size: func() (int, int) { return terminal.Size(stderr) }, color: os.Getenv("NO_COLOR") == ""}
	level := o.logLevel
	if !levelGiven {
		level = slog.LevelError // the board shows the rest
	}
	d.log, d.view = newLogger(b, level, o.logFormat), b
	if !levelGiven {
		d.log = slog.New(&activity{d.log.Handler(), b})
		d.clients.log = b.note
	}
	return d
}

func (d *display) close() { _ = d.out.Close() } // never fails

// Serving implements [serve.View].
func (d *display) Serving(a *serve.Access) {
	d.guide.access = a
	d.view.begin(&d.guide)
}

// Updated implements [serve.View].
func (d *display) Updated(s *gateway.Snapshot) { d.view.update(s) }

// Settled implements [serve.View].
func (d *display) Settled() { d.view.settle() }

// Adapted implements [serve.View].
func (d *display) Adapted(a *dialect.Adapted) { d.view.adapt(newAdaptation(a)) }
