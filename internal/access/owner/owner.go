// Package owner finds what belongs to the user who runs Toolpost, the owner: the
// configuration and its approval, the token, the values of secrets that a configuration
// refers to, the logins, and the folders for settings, state and caches.
package owner

import (
	"fmt"

	"github.com/toolpost/toolpost/config"
)

// A UsageError is a mistake of the user in the configuration, the environment or a file,
// or an option that cannot be applied. Its text says what to change.
type UsageError struct{ Err error }

// Error implements error.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Risk describes what callers could do with the tools that Toolpost itself adds
// to a configuration.
func Risk(cfg *config.Config) string {
	for _, s := range cfg.Servers {
		if s.Source != nil && !s.Source.ReadOnly && !s.Disabled && s.Err == nil {
			return "write to " + s.Product() + " as you"
		}
	}
	return ""
}

// DefaultAddress is the HOST:PORT that an endpoint listens on by default.
const DefaultAddress = "127.0.0.1:7717"
