package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/internal/secret"
)

// stateDir is the folder for what is neither a setting nor a cache.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolpost"), nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("find the user's folder for states: %w", err)
		}
		return filepath.Join(dir, "toolpost"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the user's folder for states: %w", err)
	}
	return filepath.Join(home, ".local", "state", "toolpost"), nil
}

// auditDir is where serve writes the audit log.
func auditDir() (string, error) {
	dir, err := stateDir()
	return filepath.Join(dir, "audit"), err
}

// openAudit records the calls of a configuration that wants it.
func (s *service) openAudit(found *configuration) error {
	if found == nil || found.Audit == nil {
		return nil
	}
	dir, err := auditDir()
	if err != nil {
		return err
	}
	opts := *found.Audit
	opts.Hide, opts.Logger = s.secrets.known.WithMark(secret.Mark).Replace, s.log
	log, err := audit.Open(dir, &opts)
	if err != nil {
		if opts.Required {
			return err
		}
		s.log.Error("calls are not recorded", "err", err)
		return nil
	}
	s.closer = append(s.closer, log.Close)
	s.observers, s.around = append(s.observers, log.Observe), append(s.around, log.Around)
	return nil
}
