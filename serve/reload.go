package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// A reloader applies changes of a configuration file to a running gateway. What
// the user has not approved waits, unless every change is trusted.
type reloader struct {
	*Endpoint
	guard *owner.Guard
	last  *config.Config // that was applied

	store *trust.Store // nil if there is none: nothing can be approved then
	place string       // of the file in store
}

// reloadOnChange applies the configuration file again whenever it changes, or
// is approved, until the endpoint is closed.
func (e *Endpoint) reloadOnChange(found *config.Config) {
	r := &reloader{Endpoint: e, guard: owner.NewGuard(found), last: found}
	var approvals []string
	store, err := trust.Open()
	if err == nil {
		err = store.Prepare()
	}
	if err == nil {
		r.place, err = trust.Locate(found.File)
	}
	if err == nil {
		r.store = store
		approvals = []string{store.Path(r.place)}
	} else {
		e.log.Debug("cannot watch for approvals of changes", "err", err)
	}
	ctx, cancel := context.WithCancel(e.running)
	var watch sync.WaitGroup
	e.closer = append(e.closer, func() error { cancel(); watch.Wait(); return nil })
	first := true
	watch.Go(func() {
		config.Watch(ctx, found.File, func(cfg *config.Config, err error) {
			r.reload(ctx, cfg, err, first)
			first = false
		}, approvals...)
	})
}

// reload applies a configuration that was read, with the error of reading it.
// First reports whether it is the one that serve has started with.
func (r *reloader) reload(ctx context.Context, next *config.Config, err error, first bool) {
	if first && err == nil && next.Digest == r.last.Digest {
		return // what the program has set in it stays
	}
	var waiting []string
	if err == nil {
		next, waiting, err = r.apply(ctx, next)
	}
	switch {
	case err != nil:
		r.log.Error("configuration has errors; keeping the previous one", "file", r.last.File, "err", err)
		return
	case len(waiting) > 0:
		r.log.Warn("part of the configuration is waiting for your approval", "file", r.last.File, "servers", waiting, "next", r.remedy())
	case !first:
		r.log.Info("configuration applied", "file", r.last.File)
	}
	r.last = next
}

// apply uses what of a configuration may be used. It returns that, and what waits for an
// approval. On error nothing changes.
func (r *reloader) apply(ctx context.Context, next *config.Config) (admitted *config.Config, waiting []string, err error) {
	applied := r.fingerprint(next)
	owner.UseToken(next)
	admitted, waiting = r.admit(next)
	r.secrets.Learn(admitted)
	ready, err := admitted.ResolveCallers(ctx, r.secrets.Resolve)
	if err != nil {
		return nil, nil, err
	}
	if err := r.access.permit(ready); err != nil {
		return nil, nil, err
	}
	before := r.applied.Swap("") // until it is known what is served
	if err := r.gateway.Reload(ctx, admitted); err != nil {
		r.applied.Store(before)
		return nil, nil, err
	}
	if len(waiting) == 0 {
		r.applied.Store(applied)
	}
	r.endSessions(r.access.useProfiles(ready))
	r.access.useSecret(ready)
	return admitted, waiting, nil
}

// endSessions ends the sessions of callers whose tokens are good no longer.
func (r *reloader) endSessions(identities []string) {
	if len(identities) > 0 {
		r.log.Info("tokens of profiles have changed; sessions with the old ones end", "callers", identities)
		r.mcp.EndSessions(func(identity string) bool { return slices.Contains(identities, identity) })
	}
}

// admit returns what of a changed configuration may be used, and the servers
// that wait.
func (r *reloader) admit(next *config.Config) (*config.Config, []string) {
	if r.options.TrustChanges || r.store != nil && r.store.Approved(r.place, next.Digest) {
		r.guard.Approve(next)
	}
	return r.guard.Admit(r.last, next, r.remedy())
}

// remedy returns the command that approves the file.
func (r *reloader) remedy() string {
	if r.store == nil {
		return "start toolpost again to use it"
	}
	return fmt.Sprintf("run: toolpost trust %s", cleartext.ShellWord(r.place))
}
