package board

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Logger returns a logger that shows calls and what else happens as dim lines on the board,
// and the records that problems takes as log lines.
func (b *Board) Logger(problems slog.Handler) *slog.Logger {
	return slog.New(&activity{problems, b})
}

type activity struct {
	slog.Handler // of problems
	board        *Board
}

// Enabled reports whether records of a level are shown.
func (h *activity) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || h.Handler.Enabled(ctx, level)
}

// Handle shows a record.
func (h *activity) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Message == "call":
		h.board.Note(r.Time, call(r))
	case r.Message == "configuration applied", r.Message == "stopping", r.Message == "stopped":
		h.board.Note(r.Time, r.Message)
	case h.Handler.Enabled(ctx, r.Level):
		return h.Handler.Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (h *activity) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &activity{h.Handler.WithAttrs(attrs), h.board}
}

// WithGroup implements [slog.Handler].
func (h *activity) WithGroup(name string) slog.Handler {
	return &activity{h.Handler.WithGroup(name), h.board}
}

// call describes a call: the client, the tool, the duration and the outcome.
func call(r slog.Record) string {
	values := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		values[a.Key] = a.Value.String()
		return true
	})
	ms, _, _ := strings.Cut(values["ms"], ".")
	line := fmt.Sprintf("%s called %s: %s ms, %s bytes", cli.Dash(values["client"]), values["tool"], ms, values["bytes"])
	if problem := values["err"]; problem != "" {
		line += ", " + problem
	} else if values["failed"] == "true" {
		line += ", failed"
	}
	return line
}

// maxClients is how many clients are distinguished. Further ones are not
// reported: their names may be made up without end.
const maxClients = 1000

// Clients reports clients when they come for the first time.
type Clients struct {
	Note func(when time.Time, text string) // nil reports nothing

	mu   sync.Mutex
	seen map[clientID]bool
}

// A clientID is what a client says of itself.
type clientID struct{ name, version string }

// Add reports a client, unless one of its name and version came before.
func (c *Clients) Add(client observe.Client) {
	if c.Note == nil {
		return
	}
	id := clientID{client.Name, client.Version}
	c.mu.Lock()
	known := c.seen[id] || len(c.seen) >= maxClients
	if !known {
		if c.seen == nil {
			c.seen = map[clientID]bool{}
		}
		c.seen[id] = true
	}
	c.mu.Unlock()
	if known {
		return
	}
	if name := strings.TrimSpace(id.name + " " + id.version); name != "" {
		c.Note(time.Now(), name+" connected")
	}
}

// adaptation describes the tools that clients of a dialect get: how many, how many of them
// have other schemas there, and those that are withheld.
func adaptation(a *dialect.Adapted) []string {
	id, changed := a.Dialect.ID, 0
	for _, t := range a.Tools {
		for _, l := range t.Losses {
			if !l.Kind.Exact() {
				changed++
				break
			}
		}
	}
	first := fmt.Sprintf("Tools for %s: %d", id, len(a.Tools))
	if changed > 0 {
		first += fmt.Sprintf(", %d of them with a simpler schema (toolpost lint --for %s says which)", changed, id)
	}
	lines := []string{first}
	for _, w := range a.Withheld {
		lines = append(lines, fmt.Sprintf("%s: tool %q is withheld: %s (%s)", id, w.Name, w.Why, w.Rule))
	}
	for _, f := range a.Findings {
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", id, f.Message, f.Rule))
	}
	return lines
}
