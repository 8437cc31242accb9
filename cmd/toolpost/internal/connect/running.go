package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// runPatience is how long a call waits for the serve that runs to prove that it is the one
// that was noted.
const runPatience = 500 * time.Millisecond

// A RunningTool is a tool that the serve which runs with the configuration has, and that it
// calls for this command.
type RunningTool struct {
	toolpost.Definition
	client *owner.RunClient
}

// Running returns the tool that is called, of the serve that runs with the configuration. It
// returns nil if nothing runs, or if servers that this command starts itself might answer
// otherwise: this includes the flags that are about such a start.
func (t *Target) Running(cmd *cobra.Command, cfg *config.Config) *RunningTool {
	if cfg == nil || t.fresh || t.Profile != "" || cmd.Flags().Changed("timeout") || !reflect.ValueOf(cfg.Limits).IsZero() {
		return nil
	}
	build := cli.ReadBuild()
	fingerprint, run := owner.Fingerprint(cfg, build.Version, build.Commit), owner.FindRun(cfg)
	if fingerprint == "" || run == nil {
		return nil
	}
	r := &RunningTool{client: run.Client(cmp.Or(t.RunPatience, runPatience), fingerprint, cmd.CommandPath())}
	var err error
	if r.Definition, err = r.client.Tool(cmd.Context(), t.Tool); err != nil {
		r.Close()
		return nil
	}
	return r
}

// Call calls the tool. The error is [owner.ErrNotSame] if it was not called.
func (r *RunningTool) Call(ctx context.Context, arguments json.RawMessage) (*toolpost.Result, error) {
	return r.client.Call(ctx, r.Name, arguments)
}

// Close ends the connection.
func (r *RunningTool) Close() { r.client.Close() }
