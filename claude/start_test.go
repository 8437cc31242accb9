package claude_test

import (
	"context"
	"errors"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/cli"
)

// TestOpenWhileListing ends a start that waits for a toolset.
func TestOpenWhileListing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "echo")
	o.Toolset = toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if _, err := claude.Open(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Open ends with %v, want %v", err, context.Canceled)
	}
}

func TestOldCLI(t *testing.T) {
	_, err := run(t, "old", "go", options(t, "old"))
	if old := (*cli.VersionError)(nil); !errors.As(err, &old) {
		t.Errorf("a run of an old CLI ends with %v, want a *cli.VersionError", err)
	}
}

// old plays a CLI that lacks what is needed.
func old(f *fake) {
	f.begin()
	f.prompt()
	init := initLine(nil)
	init["claude_code_version"] = "1.0.128"
	f.write(init, assistant("done"), result("done", nil), state("idle"))
}

func TestMaxLine(t *testing.T) {
	o := options(t, "long")
	o.MaxLine = 1 << 20
	_, err := run(t, "long", "go", o)
	if long := (*cli.LineTooLongError)(nil); !errors.As(err, &long) {
		t.Errorf("a run with longer lines ends with %v, want a *cli.LineTooLongError", err)
	}
}
