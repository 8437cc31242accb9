package login_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/upstream"
)

// An error names the party that it is about.
func TestErrorsNameTheParty(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	host := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u.Host
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	check := func(what string, err error, want ...string) {
		t.Helper()
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", what, err, part)
			}
		}
	}

	_, err := l.Login(t.Context(), &config.Server{Config: upstream.Config{Name: "it", URL: gone.URL + "/mcp"}}, nil, browser(t))
	check("no MCP server", err, "the MCP server "+host(gone.URL))

	w.edit = func(meta map[string]any) { meta["token_endpoint"] = "https://user@login.example.com/token" }
	_, err = l.Login(t.Context(), w.config(), nil, browser(t))
	check("a refused endpoint", err, "the authorization server "+w.as.URL+" names https://user@login.example.com/token")

	w.edit = nil
	w.expire()
	w.as.Close()
	_, err = ask(l, w.config())
	check("no authorization server", err, "renew its login: ask the authorization server "+host(w.as.URL))
}
