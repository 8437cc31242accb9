package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// A server is not connected to without the login that its configuration describes.
func TestAuthThatNothingReads(t *testing.T) {
	wrap := func(base *http.Transport) http.RoundTripper { return base }
	credentials := func(*config.Server) func(*http.Transport) http.RoundTripper { return wrap }
	for _, tt := range []struct {
		name    string
		auth    *config.Auth
		wrap    func(*http.Transport) http.RoundTripper
		opts    Options
		refused bool
	}{
		{"no credentials", &config.Auth{}, nil, Options{}, true},
		{"no credentials of a client", &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s"}, nil, Options{}, true},
		{"never", &config.Auth{Type: "none"}, nil, Options{}, false},
		{"none", nil, nil, Options{}, false},
		{"wrap", &config.Auth{}, wrap, Options{}, false},
		{"credentials", &config.Auth{}, nil, Options{Credentials: credentials}, false},
	} {
		tt.opts.Logger = slog.New(slog.DiscardHandler)
		server := config.Server{Config: upstream.Config{Name: "it", URL: "http://127.0.0.1:9/mcp", Wrap: tt.wrap}, Auth: tt.auth}
		g, err := Start(t.Context(), &config.Config{Servers: []config.Server{server}}, &tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		reason := g.Status()[0].Reason()
		if refused := strings.Contains(reason, "Options.Credentials"); refused != tt.refused {
			t.Errorf("%s: %q", tt.name, reason)
		}
		_ = g.Close()
	}
}

// Connections go on while the secrets are the same, and all secrets are hidden: those in the
// configuration, those that it refers to, and the subject token that is read later.
func TestResolver(t *testing.T) {
	kept, layers := map[string]string{"pin": "p1n-of-today", "id": "client-one", "subject": "subj3ct-token"}, 0
	g, err := Start(t.Context(), &config.Config{}, &Options{
		Logger:  slog.New(slog.DiscardHandler),
		Resolve: func(_ context.Context, r config.Reference) (string, error) { return kept[r.Of], nil },
		Credentials: func(s *config.Server) func(*http.Transport) http.RoundTripper {
			layers++
			return func(base *http.Transport) http.RoundTripper { return base }
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close() //nolint:errcheck // it has no servers
	cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {"it": {"url": "https://mcp.example.com/mcp", "headers": {"X-Pin": "${keyring:pin}"},
		"auth": {"type": "token_exchange", "clientId": "${keyring:id}", "clientSecret": "written-s3cret", "issuer": "https://as.example.com",
			"exchange": {"issuer": "https://idp.example.com", "clientId": "idp", "subjectToken": "${keyring:subject}"}}}}}`), func(string) (string, bool) { return "", false })
	if err != nil || cfg.Servers[0].Err != nil {
		t.Fatal(err, cfg.Servers[0].Err)
	}
	r := g.newResolver(&cfg.Servers[0])
	resolve := func() *upstream.Config {
		t.Helper()
		c, err := r.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := resolve()
	if first.Headers["X-Pin"] != "p1n-of-today" || first.Wrap == nil || resolve() != first || layers != 1 {
		t.Errorf("got %v, %d layers", first.Headers, layers)
	}
	kept["id"] = "client-two"
	if second := resolve(); second == first || layers != 2 {
		t.Errorf("another client of the login has %d layers", layers)
	}
	if _, err := r.last.Auth.Exchange.Subject(t.Context()); err != nil {
		t.Error(err)
	}
	text := hidden.UpstreamOptionsOf(&g.opts).Secrets.Replace("p1n-of-today written-s3cret client-one client-two subj3ct-token")
	if strings.Trim(text, "[hiden] ") != "" {
		t.Errorf("these secrets are not hidden: %s", text)
	}
}
