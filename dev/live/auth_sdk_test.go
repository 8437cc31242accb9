//go:build unix

package live

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// TestAuthServers logs in with the client of the official SDK: what the tests
// of our login need works without our login.
func TestAuthServers(t *testing.T) {
	for name := range authServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newProtectedServer(t, newAuthServer(t, name, object{}), false)
			user := newBrowser()
			user.stop = func(u *url.URL) bool { return u.Port() == "1" }
			config := &auth.AuthorizationCodeHandlerConfig{
				RedirectURL: "http://127.0.0.1:1/callback",
				AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
					to, page, err := user.visit(ctx, args.URL)
					if err != nil || page != "" {
						return nil, errors.Join(err, errors.New(page))
					}
					q := to.Query()
					return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
				},
			}
			if name == "oidc-provider" {
				config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
					RedirectURIs: []string{config.RedirectURL}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"},
				}}
			} else {
				config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: "of a test"}
			}
			handler, err := auth.NewAuthorizationCodeHandler(config)
			if err != nil {
				t.Fatal(err)
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "live", Version: "1"}, nil)
			s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.resource(), OAuthHandler: handler, HTTPClient: http.DefaultClient}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, c := range []call{{"read", map[string]any{}, "read something"}, {"write", map[string]any{}, "wrote something"}} {
				if err := try(t, s, c); err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
			}
			if n := server.tokens(); n != 2 {
				t.Errorf("%d tokens, want one, and one with the scope of write", n)
			}
		})
	}
}
