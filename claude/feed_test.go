package claude

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// dying is a CLI that takes no input and says a second later why.
type dying struct{ ended chan struct{} }

func (d *dying) ReadLine() ([]byte, error) {
	select {
	case <-time.After(time.Second):
		return nil, &ExitError{Code: 7}
	case <-d.ended:
		return nil, io.EOF
	}
}
func (d *dying) WriteLine([]byte) error { return io.ErrClosedPipe }
func (d *dying) Close() error           { return nil }

// fed runs a sequence of prompts with a transport, and returns why it ended.
func fed(t *testing.T, p Transport, prompts iter.Seq[Prompt]) (last error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	opts := &Options{Logger: slog.New(slog.DiscardHandler), Start: func(context.Context, *Command) (Transport, error) { return p, nil }}
	for _, err := range RunPrompts(ctx, prompts, opts) {
		last = err
	}
	return last
}

// TestFeedDead: prompts that come too late do not hide why the CLI ended.
func TestFeedDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := fed(t, &dying{ended: make(chan struct{})}, func(yield func(Prompt) bool) {
			for range 10 {
				if !yield(Prompt{Text: "hi"}) {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
		if exit := (*ExitError)(nil); !errors.As(err, &exit) || exit.Code != 7 {
			t.Errorf("the run ends with %v", err)
		}
	})
}

// TestFeedGoexit: a sequence that ends its goroutine ends the run.
func TestFeedGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &tape{ended: make(chan struct{})}
		err := fed(t, p, func(func(Prompt) bool) { runtime.Goexit() })
		if err == nil || !strings.Contains(err.Error(), "ended its goroutine") {
			t.Errorf("the run ends with %v", err)
		}
	})
}
