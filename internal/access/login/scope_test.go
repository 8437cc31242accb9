package login_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A request whose token is renewed and then lacks a scope reports the scope, and the
// next login asks for it beside the others.
func TestScopeAfterRenewal(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.expire()
	w.needs = "write"
	got, err := ask(l, w.config())
	if e := loginError(err); e == nil || !e.More || !strings.Contains(e.Why, `"write"`) {
		t.Fatalf("got %q, %v", got, err)
	}
	if w.refreshes != 1 {
		t.Errorf("%d refreshes", w.refreshes)
	}
	status, err := l.Login(t.Context(), w.config(), nil, browser(t))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(status.Scopes); !slices.Equal(status.Scopes, []string{"read", "write"}) {
		t.Errorf("the login has %q", status.Scopes)
	}
	mustAsk(t, l, w.config())
}

// A client that logs in as itself gets the scope at once, also after a renewal.
func TestScopeOfAClient(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"secret": {"s"}}
	cfg := w.config()
	cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.as.URL}
	l := login.New(vault.Folder(t.TempDir()), nil)
	mustAsk(t, l, cfg)
	w.expire()
	w.needs = "write"
	mustAsk(t, l, cfg)
}

// A server that wants a login for its tools only names the scopes when they are listed.
func TestScopeOfTools(t *testing.T) {
	w := newWorld(t)
	w.lazy = "tools"
	status, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), w.config(), nil, browser(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(status.Scopes, []string{"tools"}) {
		t.Errorf("the login has %q", status.Scopes)
	}
}
