package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/board"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/serve"
)

// A display is what people see of serve: a live table or log lines. It implements
// [serve.View].
type display struct {
	log     *slog.Logger
	view    view
	about   board.Intro
	clients board.Clients
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
	d := &display{out: out}
	if !table {
		d.log = newLogger(out, o.logLevel, o.logFormat)
		d.view = newLogView(d.log)
		return d
	}
	b := board.New(out, func() (int, int) { return terminal.Size(stderr) }, os.Getenv("NO_COLOR") == "")
	level := o.logLevel
	if !levelGiven {
		level = slog.LevelError // the board shows the rest
	}
	d.log, d.view = newLogger(b, level, o.logFormat), b
	if !levelGiven {
		d.log = b.Logger(d.log.Handler())
		d.clients.Note = b.Note
	}
	return d
}

func (d *display) close() {
	d.view.Close()
	_ = d.out.Close() // never fails
}

// Serving implements [serve.View].
func (d *display) Serving(a *serve.Access) {
	d.view.Describe(d.about)
	d.view.Serving(a)
}

// Updated implements [serve.View].
func (d *display) Updated(s *gateway.Snapshot) { d.view.Updated(s) }

// Settled implements [serve.View].
func (d *display) Settled() { d.view.Settled() }

// Adapted implements [serve.View].
func (d *display) Adapted(a *dialect.Adapted) { d.view.Adapted(a) }
