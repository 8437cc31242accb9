package login_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A running process notices a logout and another login of another process, also
// while its own token would still be accepted.
func TestLoginChangesElsewhere(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	running, other := login.New(v, nil), login.New(v, nil)
	if _, err := other.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, running, w.config())
	before := w.lastToken()
	if _, err := other.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, running, w.config())
	if w.lastToken() == before {
		t.Error("the token of the earlier login is still sent")
	}
	w.edit = func(meta map[string]any) { delete(meta, "revocation_endpoint") }
	if _, err := other.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, running, w.config())
	if _, err := other.Logout(t.Context(), w.config()); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(running, w.config()); loginError(err) == nil {
		t.Errorf("after a logout that could not revoke the token: %q, %v", got, err)
	}
}

// A client that logs in as itself does not use the token that it got for another
// authorization server or for other scopes.
func TestClientOfAnotherConfiguration(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	w.clients["me"] = map[string][]string{"secret": {"s"}}
	cfg := w.config()
	cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.as.URL, Scopes: []string{"read", "write"}}
	mustAsk(t, login.New(v, nil), cfg)
	if got := w.access[w.lastToken()]; got != "read write" {
		t.Fatalf("scopes %q", got)
	}
	less := *cfg.Auth
	less.Scopes = []string{"read"}
	cfg.Auth = &less
	mustAsk(t, login.New(v, nil), cfg)
	if got := w.access[w.lastToken()]; got != "read" {
		t.Errorf("after a change of the scopes: a token with %q", got)
	}
	elsewhere := less
	elsewhere.Issuer = "https://login.example.com"
	cfg.Auth = &elsewhere
	if got, err := ask(login.New(v, nil), cfg); err == nil || !strings.Contains(err.Error(), "allows only https://login.example.com") {
		t.Errorf("after a change of the issuer: %q, %v", got, err)
	}
}

// The secret of a client that logs in as itself goes to the endpoint that the
// authorization server has now.
func TestClientEndpointMoves(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	w.clients["me"] = map[string][]string{"secret": {"s"}}
	cfg := w.config()
	cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.as.URL}
	mustAsk(t, login.New(v, nil), cfg)
	w.edit = func(meta map[string]any) { meta["token_endpoint"] = w.as.URL + "/moved" }
	w.expire()
	if _, err := ask(login.New(v, nil), cfg); err == nil {
		t.Error("the secret was sent to the endpoint of before")
	}
}

// A login of an authorization server that the configuration no longer allows is not
// used.
func TestLoginOfAnotherIssuer(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	if _, err := login.New(v, nil).Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	cfg := w.config()
	cfg.Auth = &config.Auth{Issuer: w.as.URL + "/"}
	mustAsk(t, login.New(v, nil), cfg)
	cfg.Auth = &config.Auth{Issuer: "https://login.example.com"}
	if got, err := ask(login.New(v, nil), cfg); loginError(err) == nil || !strings.Contains(err.Error(), "allows only https://login.example.com") {
		t.Errorf("got %q, %v", got, err)
	}
}

// A clock that was set back does not keep a refused token from being renewed.
func TestClockIsSetBack(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.expire()
	mustAsk(t, l, w.config())
	changeStored(t, v, func(r map[string]any) { r["forced"] = time.Now().Add(24 * time.Hour) })
	w.expire()
	mustAsk(t, l, w.config())
}
