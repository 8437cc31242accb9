package main

import (
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/recording"
)

// openRecorder records into a file if the user wants it. Nothing is recorded of a
// folder.
func (s *service) openRecorder(path string, found *config.Config) error {
	if path == "" {
		return nil
	}
	if found == nil {
		return cli.Usagef("--record needs a configuration with servers; the tools of a folder are not recorded")
	}
	r, err := recording.Create(path, &recording.Options{Hide: s.secrets.Known.WithMark(secret.Mark).Replace, Logger: s.log})
	if err != nil {
		return cli.WrapUsage(err)
	}
	s.recorder = r
	s.observers = append(s.observers, r.Observe)
	s.closer = append(s.closer, r.Close)
	return nil
}

// recorded returns what records the calls of a gateway, nil if nothing does.
func (s *service) recorded() func(toolpost.Handler) toolpost.Handler {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.Middleware
}

// recordLists records the lists of a gateway whenever they change.
func (s *service) recordLists(gw *gateway.Gateway) {
	if s.recorder == nil {
		return
	}
	stop := gw.Watch(func(*gateway.Snapshot) {
		s.recorder.SetCatalogue(gw.Live().Set(), func(tool string) bool { return strings.HasPrefix(tool, "tool_output_cache") })
	})
	s.closer = append(s.closer, func() error { stop(); return nil })
}
