package main

import (
	"log/slog"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/board"
	"github.com/toolpost/toolpost/serve"
)

// A view shows the state of serve to people.
type view interface {
	serve.View
	Describe(board.Intro) // before Serving
	Close()
}

// A logView writes log lines, first about what is served.
type logView struct {
	serve.View
	log   *slog.Logger
	about board.Intro
}

func newLogView(log *slog.Logger) *logView { return &logView{View: serve.NewLogView(log), log: log} }

func (v *logView) Describe(a board.Intro) { v.about = a }

func (v *logView) Serving(a *serve.Access) {
	v.View.Serving(a)
	switch {
	case v.about.Empty:
		v.log.Warn(board.NoServers)
	case v.about.Chosen:
		v.log.Info(v.about.Folder)
	case v.about.Folder != "":
		v.log.Info("no configuration: "+v.about.Folder, "next", board.NoConfiguration)
	}
}

func (v *logView) Close() {}
