package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/policy/limit"
	"github.com/toolpost/toolpost/observe"
)

// directTransport is the transport of the calls of this command in the audit log.
const directTransport = "command"

// directCalls applies what a configuration says about recording and limits to the calls
// that a command makes itself, as serve applies it to those of its clients.
type directCalls struct {
	limits *limit.Limits
	log    *audit.Log // nil if calls are not recorded
	name   string     // of the command
}

// openCalls opens what the calls of a command need. A command that makes none records
// nothing.
func (t *Target) openCalls(cmd *cobra.Command, cfg *config.Config, secrets *owner.Secrets) (*directCalls, error) {
	d := &directCalls{limits: limit.New(cfg.Limits), name: cmd.CommandPath()}
	if !t.asks || cfg.Audit == nil {
		return d, nil
	}
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	var err error
	d.log, err = owner.OpenAudit(cfg, secrets, log)
	return d, err
}

// around is what happens around each request to a server.
func (d *directCalls) around() []gateway.Around {
	if d.log == nil {
		return []gateway.Around{d.limits.Around}
	}
	return []gateway.Around{d.limits.Around, d.log.Around}
}

// record returns the tools, whose calls are recorded.
func (d *directCalls) record(ctx context.Context, set *toolpost.Set) (*toolpost.Set, error) {
	if d.log == nil {
		return set, nil
	}
	return toolpost.NewSet(ctx, toolpost.Wrap(set, d.recordCall))
}

func (d *directCalls) recordCall(next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		ctx, seen := observe.Begin(ctx)
		seen.Method, seen.Name, seen.Arguments, seen.Start = "tools/call", call.Name, call.Arguments, time.Now()
		seen.Transport, seen.Client = directTransport, observe.Client{Name: d.name, Version: cli.ReadBuild().Version}
		ctx, end := d.log.Observe(ctx, seen)
		result, err := next(ctx, call)
		seen.SetResult(result)
		response := &observe.Response{Result: result, Duration: time.Since(seen.Start), Outcome: seen.OutcomeOf(ctx, err), Err: err}
		var protocol *toolpost.ProtocolError
		if errors.As(err, &protocol) {
			response.Code = protocol.Code
		}
		response.Bytes = sizeOf(result)
		end(response)
		return result, err
	}
}

// sizeOf returns the size of the JSON of a result, which may be too large for memory.
func sizeOf(result *toolpost.Result) int64 {
	if result == nil {
		return 0
	}
	if long := result.Encoded().Long; long != nil {
		return long.Size()
	}
	raw, err := result.MarshalJSON()
	if err != nil {
		return 0
	}
	return int64(len(raw))
}

func (d *directCalls) close() error {
	if d.log == nil {
		return nil
	}
	if err := d.log.Close(); err != nil {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}
