package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/config"
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
	log, err := openAuditLog(found.Config, s.secrets, s.log)
	if log == nil {
		return err
	}
	s.closer = append(s.closer, log.Close)
	s.observers, s.around = append(s.observers, log.Observe), append(s.around, log.Around)
	return nil
}

// openAuditLog opens the log of a configuration that has one. It returns nil if the log
// cannot be opened, and an error too if records are required.
func openAuditLog(cfg *config.Config, secrets *secretReader, logger *slog.Logger) (*audit.Log, error) {
	dir, err := auditDir()
	if err != nil {
		return nil, err
	}
	opts := *cfg.Audit
	opts.Hide, opts.Logger = secrets.known.WithMark(secret.Mark).Replace, logger
	log, err := audit.Open(dir, &opts)
	switch {
	case err == nil:
		return log, nil
	case opts.Required:
		return nil, err
	}
	logger.Error("calls are not recorded", "err", err)
	return nil, nil
}
