package login_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

// keptSecrets are secrets that a configuration refers to.
type keptSecrets struct {
	mu    sync.Mutex
	texts map[string]string // by name; one that is missing cannot be read
	slow  map[string]bool   // those whose reading waits for its context
}

func (k *keptSecrets) set(name, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.texts[name] = text
	delete(k.slow, name)
}

func (k *keptSecrets) resolve(ctx context.Context, r config.Reference) (string, error) {
	k.mu.Lock()
	text, slow := k.texts[r.Of], k.slow[r.Of]
	k.mu.Unlock()
	if slow {
		<-ctx.Done()
	}
	if text == "" {
		return "", errors.New("there is no secret " + r.Of)
	}
	return text, nil
}

// logsIn returns a configuration whose servers log in with a secret: pairs of the name of a
// server and its secret.
func (w *world) logsIn(t *testing.T, servers ...string) *config.Config {
	t.Helper()
	var entries []string
	for pair := range slices.Chunk(servers, 2) {
		entries = append(entries, fmt.Sprintf(`%q: {"url": %q, "auth": {"type": "client_credentials", "clientId": "me", "clientSecret": %q, "issuer": %q}}`, pair[0], w.mcp.URL+"/mcp", pair[1], w.as.URL))
	}
	cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {`+strings.Join(entries, ", ")+`}}`), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// statusOf waits for a state of a server.
func statusOf(t *testing.T, g *gateway.Gateway, i int, want upstream.State, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	changed := make(chan struct{}, 1)
	stop := g.WatchSnapshot(func(*gateway.Snapshot) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	for {
		s := g.Status()[i]
		if s.State == want && (text == "" || strings.Contains(fmt.Sprint(s.Err), text)) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s is %s: %v; want %s", s.Name, s.State, s.Err, want)
		}
	}
}

// The secret of a login that cannot be read, or is wrong, has its server tried again, also
// at a reload. One that takes long keeps only its own server waiting.
func TestSecretsAreReadAtEachConnection(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"secret": {"new"}}
	kept := &keptSecrets{texts: map[string]string{}, slow: map[string]bool{"slow": true}}
	w.inner = mcpHandler(t)
	cfg := w.logsIn(t, "late", "${keyring:late}", "fine", "new", "slow", "${keyring:slow}")
	l := login.New(vault.Folder(t.TempDir()), nil)
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler), Resolve: kept.resolve, Credentials: func(cfg *config.Server) func(*http.Transport) http.RoundTripper {
		return l.Wrap(cfg, "toolpost login", nil)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close() //nolint:errcheck // it was used
	statusOf(t, g, 1, upstream.Ready, "")
	statusOf(t, g, 0, upstream.Failed, "the secret of its login: ${keyring:late}: there is no secret late")
	if s := g.Status()[2]; s.State != upstream.Connecting {
		t.Errorf("slow is %s: %v", s.State, s.Err)
	}
	again := *cfg
	again.Quiet = []string{"x*"}
	if err := g.Reload(t.Context(), &again); err != nil {
		t.Fatal(err)
	}
	kept.set("late", "new")
	statusOf(t, g, 0, upstream.Ready, "")
}

// A secret that was rotated is read again when the authorization server refuses the one
// of before.
func TestRotatedSecret(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"secret": {"one"}}
	w.inner = mcpHandler(t)
	kept := &keptSecrets{texts: map[string]string{"s": "one"}}
	cfg := w.logsIn(t, "it", "${keyring:s}")
	l := login.New(vault.Folder(t.TempDir()), nil)
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler), Resolve: kept.resolve, Credentials: func(cfg *config.Server) func(*http.Transport) http.RoundTripper {
		return l.Wrap(cfg, "toolpost login", nil)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close() //nolint:errcheck // it was used
	statusOf(t, g, 0, upstream.Ready, "")
	w.mu.Lock()
	w.clients["me"] = map[string][]string{"secret": {"two"}}
	clear(w.access)
	w.mu.Unlock()
	kept.set("s", "two")
	if text := callTool(t, g, "it__hello"); text != "hello" {
		t.Errorf("got %q", text)
	}
}

// mcpHandler serves an MCP server with one tool.
func mcpHandler(t *testing.T) http.Handler {
	hello := toolpost.New("hello", "Says hello.", func(context.Context, struct{}) (string, error) { return "hello", nil }, nil)
	s, err := mcpserver.New(t.Context(), toolpost.Tools{hello}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func callTool(t *testing.T, g *gateway.Gateway, name string) string {
	r, err := g.Live().Call(t.Context(), &toolpost.Call{Name: name, Arguments: []byte(`{}`)})
	if err != nil {
		return err.Error()
	}
	text, _ := r.FirstText()
	return text
}
