package main

import (
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/owner"
)

// openAudit records the calls of a configuration that wants it.
func (s *service) openAudit(found *config.Config) error {
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
