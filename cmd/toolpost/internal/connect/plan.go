package connect

import (
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// A startPlan says which servers of a configuration a command starts.
type startPlan struct {
	catalog  *gateway.Catalog // nil if nothing is stored
	onDemand func(server string, tried bool) bool
}

// patienceForRun is how long a call waits for the serve that runs.
const patienceForRun = 2 * time.Second

// openRunning opens the serve that runs with the configuration and has the tool that is to be
// called. It returns nil if there is none, or if it could not ask the user about the call.
func (t *Target) openRunning(cmd *cobra.Command, cfg *config.Config) *Session {
	if t.Tool == "" || t.fresh || cfg.File == "" && cfg.URLs == "" || len(cfg.Approvals) > 0 {
		return nil
	}
	run := owner.FindRun(cfg)
	if run == nil {
		return nil
	}
	part := &Target{Timeout: min(patienceForRun, t.Timeout), Address: run.URL}
	s, err := part.OpenServers(cmd, &config.Config{Servers: []config.Server{run.Server(path.Join(t.Profile, config.NoDialect))}}, nil)
	if err != nil {
		return nil
	}
	if s.Set.Lookup(t.Tool) == nil {
		_ = s.Close() // the configuration is opened instead
		return nil
	}
	return s
}

// Reopen is Open once more, which starts all servers.
func (t *Target) Reopen(cmd *cobra.Command, cfg *config.Config, s *Session) (*Session, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	t.fresh = true
	return t.Open(cmd, cfg)
}

// OpenStored opens what is stored of the servers of a configuration, and starts none.
func (t *Target) OpenStored(cmd *cobra.Command, found *config.Config) (*Session, error) {
	stored := *t
	stored.quick, stored.stored, stored.asks = true, true, false
	return stored.OpenServers(cmd, found, owner.Pins(found))
}

// plan has servers whose lists are stored start when they are needed. Where a tool is to be
// called, it does so also with servers that the name of the tool does not belong to.
func (t *Target) plan(cfg *config.Config) startPlan {
	if !t.quick || cfg.File == "" && cfg.URLs == "" {
		return startPlan{}
	}
	p := startPlan{catalog: owner.Catalog(cfg, slog.New(slog.DiscardHandler))}
	if t.fresh {
		return p
	}
	prefixes := gateway.Prefixes(cfg)
	p.onDemand = func(server string, tried bool) bool { return t.stored || tried || !t.mayOwn(server, prefixes) }
	return p
}

// mayOwn reports whether a server may have the tool that is called: its prefix begins the
// name, or no server's does.
func (t *Target) mayOwn(server string, prefixes map[string]string) bool {
	if t.Tool == "" {
		return true
	}
	best := ""
	for _, prefix := range prefixes {
		if strings.HasPrefix(t.Tool, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	prefix, has := prefixes[server]
	return best == "" || !has || prefix == best
}
