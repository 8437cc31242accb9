package serve

import (
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/recording"
	"strings"
)

// openAudit records the calls of a configuration that wants it.
func (s *Endpoint) openAudit(found *config.Config) error {
	if found == nil || found.Audit == nil {
		return nil
	}
	log, err := owner.OpenAudit(found, s.secrets, s.log)
	if log == nil {
		return err
	}
	s.closer = append(s.closer, log.Close)
	s.observers, s.around = append(s.observers, log.Observe), append(s.around, log.Around)
	return nil
}

// openRecorder records into a file if the user wants it. Nothing is recorded of a
// folder.
func (s *Endpoint) openRecorder(found *config.Config) error {
	path := s.options.Record
	if path == "" {
		return nil
	}
	if found == nil {
		return usagef("--record needs a configuration with servers; the tools of a folder are not recorded")
	}
	r, err := recording.Create(path, &recording.Options{Hide: s.secrets.Known.WithMark(secret.Mark).Replace, Logger: s.log})
	if err != nil {
		return wrapUsage(err)
	}
	s.recorder = r
	s.observers = append(s.observers, r.Observe)
	s.closer = append(s.closer, r.Close)
	return nil
}

// recorded returns what records the calls of a gateway, nil if nothing does.
func (s *Endpoint) recorded() func(toolpost.Handler) toolpost.Handler {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.Middleware
}

// recordLists records the lists of a gateway whenever they change.
func (s *Endpoint) recordLists() {
	if s.recorder == nil {
		return
	}
	stop := s.gateway.Watch(func(*gateway.Snapshot) {
		s.recorder.SetCatalogue(s.gateway.Live().Set(), func(tool string) bool { return strings.HasPrefix(tool, "tool_output_cache") })
	})
	s.closer = append(s.closer, func() error { stop(); return nil })
}
