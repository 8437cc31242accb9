package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/mcpserver"
)

// activity is the log of a board: what happens while serving is one dim line
// each, and problems are log lines.
type activity struct {
	slog.Handler // of problems
	board        *board
}

// Enabled reports whether records of a level are shown.
func (a *activity) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || a.Handler.Enabled(ctx, level)
}

// Handle shows a record.
func (a *activity) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Message == "call":
		a.board.note(r.Time, callLine(r))
	case r.Message == "configuration applied", r.Message == "stopping", r.Message == "stopped":
		a.board.note(r.Time, r.Message)
	case a.Handler.Enabled(ctx, r.Level):
		return a.Handler.Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (a *activity) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &activity{a.Handler.WithAttrs(attrs), a.board}
}

// WithGroup implements [slog.Handler].
func (a *activity) WithGroup(name string) slog.Handler {
	return &activity{a.Handler.WithGroup(name), a.board}
}

// callLine describes a call: the client, the tool, the duration and the outcome.
func callLine(r slog.Record) string {
	values := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value.String()
		return true
	})
	line := fmt.Sprintf("%s called %s: %s ms, %s bytes", cli.Dash(values["client"]), values["tool"], before(values["ms"], "."), values["bytes"])
	if problem := values["err"]; problem != "" {
		line += ", " + problem
	} else if values["failed"] == "true" {
		line += ", failed"
	}
	return line
}

func before(s, separator string) string {
	first, _, _ := strings.Cut(s, separator)
	return first
}

// note writes a dim line about what happens.
func (b *board) note(when time.Time, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	width, _ := b.size()
	line := terminal.Cut(cleartext.Printable(when.Format(time.TimeOnly)+"  "+text), width)
	if b.color {
		line = "\x1b[2m" + line + "\x1b[0m"
	}
	b.clear()
	_, _ = fmt.Fprintln(b.out, line) // there is no other place to report the error
	if !b.settled && b.shown != nil {
		b.draw(false)
	}
}

// maxClients is how many clients are distinguished. Further ones are not
// reported: their names may be made up without end.
const maxClients = 1000

// A roster reports clients when they come for the first time.
type roster struct {
	mu   sync.Mutex
	seen map[string]bool
	log  func(when time.Time, text string) // nil reports nothing
}

func (r *roster) add(c mcpserver.Client) {
	name := strings.TrimSpace(c.Name + " " + c.Version)
	if r.log == nil || name == "" {
		return
	}
	r.mu.Lock()
	known := r.seen[name] || len(r.seen) >= maxClients
	if !known {
		r.seen[name] = true
	}
	r.mu.Unlock()
	if !known {
		r.log(time.Now(), name+" connected")
	}
}
