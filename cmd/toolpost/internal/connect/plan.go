package connect

import (
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// A startPlan describes which servers of a configuration a command starts.
type startPlan struct {
	catalog  *gateway.Catalog // nil if nothing is stored
	onDemand func(server string, tried bool) bool
}

// Reopen is Open once more, which starts all servers that may have the tool.
func (t *Target) Reopen(cmd *cobra.Command, cfg *config.Config, s *Session) (*Session, error) {
	if err := s.Close(); err != nil {
		return nil, err
	}
	t.owners = true
	return t.Open(cmd, cfg)
}

// OpenStored opens what is stored of the servers of a configuration, and starts none.
func (t *Target) OpenStored(cmd *cobra.Command, found *config.Config) (*Session, error) {
	stored := *t
	stored.quick, stored.stored, stored.asks = true, true, false
	return stored.OpenServers(cmd, found, owner.Pins(found))
}

// onlyLists reports whether the command lists tools and calls none.
func (t *Target) onlyLists() bool { return t.quick && !t.asks && !t.stored }

// plan has servers whose lists are stored start when they are needed. Where a tool is to be
// called, it is first looked for in what is stored, and no server is started for that; then
// those that may have it are. None is started if the lists are those of a serve that runs.
func (t *Target) plan(cfg *config.Config, isRunning bool) startPlan {
	if !t.quick || cfg.File == "" && cfg.URLs == "" {
		return startPlan{}
	}
	p := startPlan{catalog: owner.Catalog(cfg, slog.New(slog.DiscardHandler))}
	if t.fresh {
		return p
	}
	prefixes := gateway.Prefixes(cfg)
	p.onDemand = func(server string, tried bool) bool {
		return t.stored || isRunning || !t.owners && (tried || t.Tool != "") || !t.mayOwn(server, prefixes)
	}
	return p
}

// mayOwn reports whether a server may have the tool that is called: it has no prefix, its
// prefix begins the name, or no server's does.
func (t *Target) mayOwn(server string, prefixes map[string]string) bool {
	prefix, has := prefixes[server]
	if t.Tool == "" || !has || strings.HasPrefix(t.Tool, prefix) {
		return true
	}
	for _, other := range prefixes {
		if strings.HasPrefix(t.Tool, other) {
			return false
		}
	}
	return true
}
