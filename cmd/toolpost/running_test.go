package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestServeWithoutConfiguration checks that status finds the serve at the default address
// without a configuration. For a configuration without a running serve, status names the
// address where that serve would be.
func TestServeWithoutConfiguration(t *testing.T) {
	home := t.TempDir()
	t.Chdir(home)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"} {
		t.Setenv(name, home)
	}
	t.Setenv("MCP_URLS", "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"tools": 4}`))
	}))
	defer server.Close()
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())

	r := running{standard: server.URL}
	fetch, err := r.find(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := fetch(t.Context(), 0); err != nil || s.Tools != 4 || r.target.Address != server.URL {
		t.Errorf("got %+v, %v from %s", s, err, r.target.Address)
	}

	if err := os.WriteFile("other.json", []byte(`{"mcpServers": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.target.Config = "other.json"
	if _, err := r.find(cmd, nil); !errors.Is(err, errNotRunning) {
		t.Errorf("with another configuration: %v", err)
	}
	if err := r.nameOther(t.Context()); !errors.Is(err, errNotRunning) || !strings.HasSuffix(err.Error(), "see it with: toolpost status "+server.URL) {
		t.Errorf("the hint is %v", err)
	}

	server.Close()
	r.target.Config = ""
	if fetch, err = r.find(cmd, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := fetch(t.Context(), 0); err != errNotRunning {
		t.Errorf("nothing listens: %v", err)
	}
	if err := r.nameOther(t.Context()); err != errNotRunning {
		t.Errorf("nothing listens, the hint is %v", err)
	}
}
