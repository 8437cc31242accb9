package owner

import (
	"reflect"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/policy/limit"
)

// Limits returns the [gateway.Options].Limits that apply the limits of a configuration.
func Limits(l *limit.Limits) func(*config.Config) (admit, around gateway.Around) {
	return func(cfg *config.Config) (admit, around gateway.Around) {
		l.Set(limits(cfg))
		if reflect.ValueOf(cfg.Limits).IsZero() {
			return nil, nil
		}
		return l.Admit, l.Around
	}
}

// limits returns the limits of a configuration as package limit applies them.
func limits(cfg *config.Config) limit.Options {
	l := cfg.Limits
	o := limit.Options{PerClient: limit.Rule(l.PerClient), PerTool: limit.Rule(l.PerTool), PerServer: limit.Rule(l.PerServer), Servers: map[string]limit.Rule{}}
	for name, r := range l.Servers {
		o.Servers[name] = limit.Rule(r)
	}
	return o
}
