package connect

import (
	"context"
	"fmt"
	"log/slog"

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
	d := &directCalls{limits: limit.New(limit.Options{}), name: cmd.CommandPath()}
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
		return nil
	}
	return []gateway.Around{d.log.Around}
}

// record returns the tools, whose calls are recorded.
func (d *directCalls) record(ctx context.Context, set *toolpost.Set) (*toolpost.Set, error) {
	if d.log == nil {
		return set, nil
	}
	return toolpost.NewSet(ctx, toolpost.Wrap(set, observe.Observer(d.log.Observe).Calls(observe.Client{Name: d.name, Version: cli.ReadBuild().Version})))
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
