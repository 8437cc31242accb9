package gateway

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
)

// A programKey is a key of the configuration file that only a program can apply, or an
// option of the gateway.
type programKey struct {
	name     string // as [Options].Applied has it
	set      bool   // it is set, and no option applies it
	needs    string // what applies it
	security bool   // without it, more is allowed than the file says
}

// programKeys returns the keys that the gateway itself does not apply.
func (o *Options) programKeys(cfg *config.Config) []programKey {
	withholds := func(s config.Server) bool { return s.Pinning.WithholdNew }
	limitsOutputs := func(s config.Server) bool { return len(s.Outputs) > 0 }
	hasToken := func(p config.Profile) bool { return p.Token != "" }
	output := cfg.Output.Lines != 0 || cfg.Output.Chars != 0 || cfg.Output.Errors != 0
	return []programKey{
		{"access", cfg.Access != nil, "a check of the tokens of requests", true},
		{"audit", cfg.Audit != nil, "an audit log in Options.Middleware", true},
		{"limits", !reflect.ValueOf(cfg.Limits).IsZero(), "limits in Options.Admit", true},
		{"token", slices.ContainsFunc(cfg.Profiles, hasToken), "a check of the tokens of profiles in requests", true},
		{"newTools", o.Pins == nil && slices.ContainsFunc(cfg.Servers, withholds), "Options.Pins", true},
		{"lock", cfg.Lock && (o.Pins == nil || !o.Pins.Shared), "Options.Pins", false},
		{"output", o.Store == nil && (output || slices.ContainsFunc(cfg.Servers, limitsOutputs)), "Options.Store", false},
	}
}

// unapplied returns a finding for each key that is set and that nothing applies. For
// keys on which security depends, it returns an error.
func (o *Options) unapplied(cfg *config.Config) (findings []toolpost.Finding, err error) {
	var ignored []string
	for _, k := range o.programKeys(cfg) {
		switch {
		case !k.set || slices.Contains(o.Applied, k.name):
		case k.security:
			ignored = append(ignored, fmt.Sprintf("%q needs %s", k.name, k.needs))
		default:
			findings = append(findings, toolpost.Finding{Message: fmt.Sprintf("the key %q has no effect: it needs %s", k.name, k.needs)})
		}
	}
	if len(ignored) > 0 {
		err = fmt.Errorf("the program does not apply all keys of the configuration: %s; apply them and name them in Options.Applied of package gateway, or remove them", strings.Join(ignored, ", "))
	}
	return findings, err
}

// orNoSecrets returns a completer that refuses references to secrets if there is none.
func orNoSecrets(complete config.Completer) config.Completer {
	if complete != nil {
		return complete
	}
	return func(_ context.Context, value string) (string, []string, error) {
		return config.Complete(value, func(config.Reference) (string, error) {
			return "", errors.New("this program reads no secrets; set Options.Complete of package gateway")
		})
	}
}
