package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
)

// sessionCaps limit the sessions of clients over HTTP.
type sessionCaps struct {
	sessions, ofClient int
	timeout            time.Duration
}

func (o *sessionCaps) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.sessions, "max-sessions", 2000, "accept at most `N` sessions of clients")
	f.IntVar(&o.ofClient, "max-client-sessions", 500, "accept at most `N` sessions of one caller, or without tokens from one address")
	f.DurationVar(&o.timeout, "session-timeout", 30*time.Minute, "end sessions after this `TIME` without requests")
}

// check reports limits that would accept no session.
func (o *sessionCaps) check() error {
	if o.sessions < 1 || o.ofClient < 1 || o.timeout <= 0 {
		return cli.Usagef("--max-sessions, --max-client-sessions and --session-timeout must be above 0")
	}
	return nil
}
