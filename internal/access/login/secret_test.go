package login_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A server does not choose who gets the client's secret.
func TestSecretNeedsIssuer(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"secret": {"s"}, "redirect_uri": {"*"}}
	cfg := w.config()
	cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s"}
	_, err := ask(login.New(vault.Folder(t.TempDir()), nil), cfg)
	if err == nil || !strings.Contains(err.Error(), "set auth.issuer") || !strings.Contains(err.Error(), w.as.URL) {
		t.Errorf("without an issuer: %v", err)
	}
	cfg.Auth.Issuer = w.as.URL
	mustAsk(t, login.New(vault.Folder(t.TempDir()), nil), cfg)
}

// A wrong secret of the client does not end the login.
func TestInvalidClientKeepsTokens(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"secret": {"s"}, "redirect_uri": {"*"}}
	cfg := w.config()
	cfg.Auth = &config.Auth{ClientID: "me"}
	l := login.New(vault.Folder(t.TempDir()), nil)
	if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.expire()
	w.redeem = func(rw http.ResponseWriter) bool {
		sendJSON(rw, 401, map[string]any{"error": "invalid_client"})
		return true
	}
	if _, err := ask(l, cfg); err == nil || loginError(err) != nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("got %v", err)
	}
	w.redeem = nil
	mustAsk(t, l, cfg)
}

// A logout authenticates with the secret that the configuration has now.
func TestLogoutWithCorrectedSecret(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"secret": {"old"}, "redirect_uri": {"*"}}
	cfg := w.config()
	cfg.Auth = &config.Auth{ClientID: "me", ClientSecret: "old", Issuer: w.as.URL}
	l := login.New(vault.Folder(t.TempDir()), nil)
	if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.clients["me"].Set("secret", "new")
	corrected := *cfg.Auth
	corrected.ClientSecret = "new"
	cfg.Auth = &corrected
	if found, err := l.Logout(t.Context(), cfg); !found || err != nil || len(w.revoked) != 2 {
		t.Errorf("logout: %v, %v; %d tokens are revoked", found, err, len(w.revoked))
	}
	elsewhere := corrected
	elsewhere.Issuer = "https://login.example.com"
	cfg.Auth = &corrected
	if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	elsewhere.ClientSecret = "of-another-issuer"
	cfg.Auth = &elsewhere
	if found, err := l.Logout(t.Context(), cfg); !found || err != nil {
		t.Errorf("the secret for another authorization server was sent: %v, %v", found, err)
	}
}
