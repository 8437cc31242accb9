package gateway

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/upstream"
)

// A resolver gives the connections to one server what its configuration refers to, and the
// layer of its login. The secrets are hidden from then on.
type resolver struct {
	server      *config.Server
	read        func(context.Context, config.Reference) (string, error) // nil reads none
	credentials func(*config.Server) func(*http.Transport) http.RoundTripper
	secrets     *secret.Values

	mu   sync.Mutex
	last *config.Server // that connections got last; nil for none
}

func (g *Gateway) newResolver(s *config.Server) *resolver {
	r := &resolver{server: s, credentials: g.options.Credentials, secrets: hidden.UpstreamOptionsOf(&g.opts).Secrets}
	r.secrets.Add(s.Name, s.Secrets()...)
	if read := g.options.Resolve; read != nil {
		r.read = func(ctx context.Context, ref config.Reference) (string, error) {
			text, err := read(ctx, ref)
			r.secrets.Add(s.Name, text)
			return text, err
		}
	}
	return r
}

// resolve is the Resolve of [upstream.Options].
func (r *resolver) resolve(ctx context.Context) (*upstream.Config, error) {
	now, err := r.server.Resolve(ctx, r.read)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil || !sameSecrets(now, r.last) {
		r.secrets.Add(now.Name, now.Secrets()...)
		if r.credentials != nil && now.URL != "" {
			now.Wrap = r.credentials(now)
		}
		r.last = now
	}
	return &r.last.Config, nil
}

// sameSecrets reports whether the configuration of a server refers to the same as before.
func sameSecrets(a, b *config.Server) bool {
	return slices.Equal(a.Args, b.Args) && maps.Equal(a.Env, b.Env) && maps.Equal(a.Headers, b.Headers) && reflect.DeepEqual(withoutSubject(a.Auth), withoutSubject(b.Auth))
}

// withoutSubject returns a without its function, which cannot be compared.
func withoutSubject(a *config.Auth) *config.Auth {
	if a == nil {
		return nil
	}
	c := *a
	c.Exchange.Subject = nil
	return &c
}
