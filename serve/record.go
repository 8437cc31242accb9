package serve

import (
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/secret"
)

// openAudit records the calls of a configuration that wants it.
func (e *Endpoint) openAudit(found *config.Config) error {
	if found == nil || found.Audit == nil {
		return nil
	}
	log, err := owner.OpenAudit(found, e.secrets, e.log)
	if log == nil {
		return err
	}
	e.audited = found.Audit
	e.closer = append(e.closer, log.Close)
	e.observers, e.around = append(e.observers, log.Observe), append(e.around, log.Around)
	return nil
}

// openRecorder records what is served if the user wants it. Nothing is recorded of a
// folder.
func (e *Endpoint) openRecorder(found *config.Config) error {
	if e.options.Record == nil {
		return nil
	}
	if found == nil {
		return usagef("--record needs a configuration with servers; the tools of a folder are not recorded")
	}
	r, err := e.options.Record(e.secrets.Known.WithMark(secret.Mark).Replace, e.log)
	if err != nil {
		return wrapUsage(err)
	}
	e.recorder = r
	e.closer = append(e.closer, r.Close)
	return nil
}

// recordMiddleware returns what records the calls of a gateway, nil if nothing does.
func (e *Endpoint) recordMiddleware() func(toolpost.Handler) toolpost.Handler {
	if e.recorder == nil {
		return nil
	}
	return e.recorder.Middleware
}

// recordLists records the lists of a gateway whenever they change.
func (e *Endpoint) recordLists() {
	if e.recorder == nil {
		return
	}
	stop := e.gateway.WatchSnapshot(func(*gateway.Snapshot) {
		e.recorder.SetCatalogue(e.gateway.Live().Set(), func(tool string) bool { return strings.HasPrefix(tool, "tool_output_cache") })
	})
	e.closer = append(e.closer, func() error { stop(); return nil })
}
