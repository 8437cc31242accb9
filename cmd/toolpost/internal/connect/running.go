package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
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
	r := &RunningTool{client: t.runClient(cmd, cfg)}
	if r.client == nil {
		return nil
	}
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

// runClient returns a client of the serve that runs with the configuration, nil if nothing
// runs.
func (t *Target) runClient(cmd *cobra.Command, cfg *config.Config) *owner.RunClient {
	build := cli.ReadBuild()
	fingerprint, run := owner.Fingerprint(cfg, build.Version, build.Commit), owner.FindRun(cfg)
	if fingerprint == "" || run == nil {
		return nil
	}
	return run.Client(cmp.Or(t.RunPatience, runPatience), fingerprint, cmd.CommandPath())
}

// reportPatience is how long a command waits for what the serve that runs has of its servers.
const reportPatience = 5 * time.Second

// runningServers returns what the serve that runs with the configuration has of its servers,
// and its address. It returns nothing if the command does without.
func (t *Target) runningServers(cmd *cobra.Command, cfg *config.Config) (reports []gateway.ServerReport, address string) {
	if !t.shared && !t.onlyLists() || t.fresh || cfg.File == "" && cfg.URLs == "" {
		return nil, ""
	}
	client := t.runClient(cmd, cfg)
	if client == nil {
		return nil, ""
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), cmp.Or(t.RunPatience, reportPatience))
	defer cancel()
	reports, err := client.Servers(ctx)
	if err != nil || t.shared && !slices.ContainsFunc(reports, isReady) {
		return nil, ""
	}
	return reports, client.URL()
}

// isReady reports whether a server is ready where it was reported.
func isReady(r gateway.ServerReport) bool { return r.Known != nil }

// started returns the servers of a configuration that were started because they are not ready
// where they were reported, nil if none was reported.
func started(cfg *config.Config, reports []gateway.ServerReport) (names []string) {
	if len(reports) == 0 {
		return nil
	}
	for i := range cfg.Servers {
		s := &cfg.Servers[i]
		isReported := slices.ContainsFunc(reports, func(r gateway.ServerReport) bool { return r.Status.Name == s.Name && isReady(r) })
		if !isReported && !s.Disabled && s.Err == nil {
			names = append(names, s.Name)
		}
	}
	return names
}
