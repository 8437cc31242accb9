package login_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/upstream"
)

// TestServersWithoutLogins: a login at a server that has none, or that cannot be reached,
// fails with what to do.
func TestServersWithoutLogins(t *testing.T) {
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			fmt.Fprint(w, "<html></html>")
		}
	}
	site, key := httptest.NewServer(page(200)), httptest.NewServer(page(401))
	defer site.Close()
	defer key.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]string{
		site.URL: "offers no login", key.URL: "write it to the headers of its entry",
		strings.Replace(site.URL, "http:", "https:", 1): "it does not speak TLS; use http://",
		gone.URL: "nothing listens at its address",
	} {
		_, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), &config.Server{Config: upstream.Config{Name: "it", URL: url + "/mcp"}}, nil, browser(t))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}
