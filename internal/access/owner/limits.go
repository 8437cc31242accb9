package owner

import (
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/policy/limit"
)

// Limits returns the limits of a configuration as package limit applies them.
func Limits(cfg *config.Config) limit.Options {
	l := cfg.Limits
	o := limit.Options{PerClient: limit.Rule(l.PerClient), PerTool: limit.Rule(l.PerTool), PerServer: limit.Rule(l.PerServer), Servers: map[string]limit.Rule{}}
	for name, r := range l.Servers {
		o.Servers[name] = limit.Rule(r)
	}
	return o
}
