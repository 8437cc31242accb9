package serve

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/access/owner"
)

// TestOwnerRequests: only who has read the note of the run may use its paths, not who has the
// owner's token.
func TestOwnerRequests(t *testing.T) {
	cfg := load(t, `{"mcpServers": {}}`)
	e, err := Open(t.Context(), cfg, &Options{Addr: "127.0.0.1:0", RequireToken: true, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	handler := e.protect(e.mcp)
	for name, tt := range map[string]struct {
		header, value, origin string
		status                int
	}{
		"nothing":                {"X", "x", "", http.StatusUnauthorized},
		"the owner's token":      {"Authorization", "Bearer " + e.access.token, "", http.StatusNotFound},
		"another key":            {owner.KeyHeader, "other", "", http.StatusUnauthorized},
		"no key":                 {owner.KeyHeader, "", "", http.StatusUnauthorized},
		"a web page and the key": {owner.KeyHeader, e.run.Key, "https://evil.example", http.StatusForbidden},
		"the key":                {owner.KeyHeader, e.run.Key, "", http.StatusConflict}, // there is no such tool
	} {
		for _, path := range []string{owner.ToolPath, owner.CallPath, owner.ServersPath} {
			r := httptest.NewRequest(http.MethodPost, e.listener.url(), strings.NewReader("{}"))
			r.URL.Path, r.URL.RawQuery = path, "tool=a__b&configuration="+e.applied.Load().(string)
			if path == owner.ServersPath {
				r.URL.RawQuery = "configuration=another" // otherwise 200
			}
			r.Header.Set(tt.header, tt.value)
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != tt.status {
				body, _ := io.ReadAll(w.Body)
				t.Errorf("%s, %s: %d %s, want %d", name, path, w.Code, body, tt.status)
			}
		}
	}
}

// TestApplied: what is served is the same as the file only after all of a change was applied.
func TestApplied(t *testing.T) {
	cfg := load(t, `{"mcpServers": {"a": {"command": "toolpost-of-no-folder"}}}`)
	e, err := Open(t.Context(), cfg, &Options{Addr: "127.0.0.1:0", Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := &reloader{Endpoint: e, guard: owner.NewGuard(cfg), last: cfg}
	first := e.applied.Load()
	if first == "" {
		t.Error("the first configuration is not known")
	}
	other := cfg.File + ".json" // the endpoint follows its own file
	for _, tt := range []struct {
		text string
		same bool // as the file
	}{
		{`{"mcpServers": {"a": {"command": "toolpost-of-no-folder", "deny": ["x"]}}}`, true},
		{`{"mcpServers": {"a": {"command": "toolpost-of-no-folder"}, "b": {"command": "new"}}}`, false}, // waits for an approval
		{`{"mcpServers": {"a": {"command": "toolpost-of-no-folder"}}, "audit": {}}`, false},             // needs a restart
		{`{"mcpServers": {"a": {"command": "toolpost-of-no-folder"}}}`, true},
	} {
		if err := os.WriteFile(other, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		next, err := Load(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		next.File = cfg.File
		want := owner.Fingerprint(next, "", "")
		r.reload(t.Context(), next, nil, false)
		if got := e.applied.Load(); got == first && tt.text != `{"mcpServers": {"a": {"command": "toolpost-of-no-folder"}}}` || (got == want) != tt.same || !tt.same && got != "" {
			t.Errorf("%s: got %q, want %q: %v", tt.text, got, want, tt.same)
		}
	}
	before := e.applied.Load()
	r.reload(t.Context(), nil, errors.New("it cannot be read"), false)
	if got := e.applied.Load(); got != before {
		t.Errorf("a file that cannot be read changed %q to %q", before, got)
	}
}
