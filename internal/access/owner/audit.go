package owner

import (
	"log/slog"

	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/secret"
)

// OpenAudit opens the log of a configuration that has one. It returns nil if the log
// cannot be opened, and an error too if records are required.
func OpenAudit(cfg *config.Config, secrets *Secrets, logger *slog.Logger) (*audit.Log, error) {
	dir, err := AuditDir()
	if err != nil {
		return nil, err
	}
	opts := *cfg.Audit
	opts.Hide, opts.Logger = secrets.Known.WithMark(secret.Mark).Replace, logger
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
