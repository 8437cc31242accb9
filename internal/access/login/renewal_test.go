package login_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// automatic returns a configuration that logs in as itself, and counts the requests for
// tokens.
func (w *world) automatic(t *testing.T) (cfg *config.Server, tokens func() int) {
	w.clients["me"] = map[string][]string{"secret": {"s"}}
	cfg = w.config()
	cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.as.URL}
	asked := rewrite(t, w.as, func(*http.Request, *httptest.ResponseRecorder) {})
	return cfg, func() (n int) {
		for _, path := range asked() {
			if strings.HasSuffix(path, "/token") {
				n++
			}
		}
		return n
	}
}

// A server that refuses good tokens, or wants scopes that they have, does not cause a
// request for a token each time.
func TestServerRefusesGoodTokens(t *testing.T) {
	for name, scopes := range map[string]string{"refused": "", "insufficient": "more"} {
		w := newWorld(t)
		cfg, tokens := w.automatic(t)
		l := login.New(vault.Folder(t.TempDir()), nil)
		w.needs = ""
		rewrite(t, w.mcp, func(req *http.Request, rw *httptest.ResponseRecorder) {
			if req.Header.Get("Authorization") == "" || req.URL.Path != "/mcp" {
				return
			}
			rw.Code = http.StatusUnauthorized
			if scopes != "" {
				rw.Code = http.StatusForbidden
				rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scopes+`"`)
			}
		})
		for range 5 {
			if got, err := ask(l, cfg); err == nil && scopes == "" {
				t.Errorf("%s: got %q", name, got)
			}
		}
		if n := tokens(); n > 2 {
			t.Errorf("%s: %d requests for tokens, want 2", name, n)
		}
	}
}

// A login without a person that the vault did not take once is renewed when it has
// expired, not sent for ever.
func TestUnsavedTokenExpires(t *testing.T) {
	w := newWorld(t)
	cfg, _ := w.automatic(t)
	v := &fullVault{Vault: vault.Folder(t.TempDir())}
	l := login.New(v, nil)
	mustAsk(t, l, cfg)
	expireStored(t, v)
	w.mu.Lock()
	w.lifetime = 5 // seconds: not long enough to be sent later
	w.mu.Unlock()
	v.full = true
	if _, err := ask(l, cfg); err == nil {
		t.Error("a token that could not be kept was sent")
	}
	v.full = false
	w.mu.Lock()
	w.lifetime = 3600
	clear(w.access)
	w.mu.Unlock()
	var wasted atomic.Int32
	rewrite(t, w.mcp, func(req *http.Request, rw *httptest.ResponseRecorder) {
		if req.Header.Get("Authorization") != "" && rw.Code == http.StatusUnauthorized {
			wasted.Add(1)
		}
	})
	mustAsk(t, l, cfg)
	mustAsk(t, l, cfg)
	if n := wasted.Load(); n != 0 {
		t.Errorf("%d requests had a token that had expired", n)
	}
}

// A lockedVault is a keyring that waits for a person when it is asked for a secret the
// second time: [vault.Version] is what asks first.
type lockedVault struct {
	vault.Vault
	asked  atomic.Int32
	asks   chan struct{} // closed when it waits
	locked chan struct{} // closed when it is unlocked
}

func (v *lockedVault) Get(name string) ([]byte, error) {
	if v.asked.Add(1) == 2 {
		close(v.asks)
		<-v.locked
	}
	return v.Vault.Get(name)
}

// Requests wait for a locked keyring no longer than they live, and ask it once together.
func TestLockedVault(t *testing.T) {
	w, files := newWorld(t), vault.Folder(t.TempDir())
	if _, err := login.New(files, nil).Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	v := &lockedVault{Vault: files, asks: make(chan struct{}), locked: make(chan struct{})}
	l := login.New(v, nil)
	client := &http.Client{Transport: l.Wrap(w.config(), "toolpost login it", nil)(&http.Transport{DisableKeepAlives: true})}
	for i := range int32(3) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		go func() {
			<-v.asks
			for v.asked.Load() < 2+i { // the request has asked for the version
				runtime.Gosched()
			}
			time.AfterFunc(20*time.Millisecond, cancel) // time to ask once too often
		}()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.config().URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(req); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	if n := v.asked.Load(); n != 3+1 {
		t.Errorf("the keyring was asked %d times", n)
	}
	close(v.locked)
	mustAsk(t, l, w.config())
}

// The probe of a login uses the headers that the server has now.
func TestHeadersOfTheProbe(t *testing.T) {
	w := newWorld(t)
	cfg, _ := w.automatic(t)
	var mu sync.Mutex
	var keys []string
	rewrite(t, w.mcp, func(req *http.Request, _ *httptest.ResponseRecorder) {
		mu.Lock()
		defer mu.Unlock()
		if req.Header.Get("Authorization") == "" && req.URL.Path == "/mcp" {
			keys = append(keys, req.Header.Get("X-Key"))
		}
	})
	l := login.New(vault.Folder(t.TempDir()), nil)
	for _, key := range []string{"one", "two"} {
		next := *cfg
		next.Headers = map[string]string{"X-Key": key}
		w.expire()
		mustAsk(t, l, &next)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(keys, " ") != "one two" {
		t.Errorf("the probes had %q", keys)
	}
	for i := range 10 {
		next, auth := *cfg, *cfg.Auth
		next.Auth, auth.ClientSecret = &auth, strings.Repeat("s", i)
		l.Wrap(&next, "toolpost login it", nil)
	}
	if n := l.Sources(); n != 1 {
		t.Errorf("%d sources for one server whose secret was rotated", n)
	}
}

// A login that cannot be read does not hide the others.
func TestListWithUnreadableLogin(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	if err := v.Update(t.Context(), "login-broken", func([]byte) ([]byte, error) { return []byte("{"), nil }); err != nil {
		t.Fatal(err)
	}
	all, err := l.List()
	if len(all) != 1 || err == nil || !strings.Contains(err.Error(), "1 of the logins cannot be read") {
		t.Errorf("%d logins, %v", len(all), err)
	}
}

// A session that the probe of a login got is ended.
func TestProbeEndsItsSession(t *testing.T) {
	w := newWorld(t)
	w.lazy = "tools"
	var mu sync.Mutex
	var ended []string
	rewrite(t, w.mcp, func(req *http.Request, _ *httptest.ResponseRecorder) {
		mu.Lock()
		defer mu.Unlock()
		if req.Method == http.MethodDelete {
			ended = append(ended, req.Header.Get("Mcp-Session-Id"))
		}
	})
	if _, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Join(ended, " ") != "one" {
		t.Errorf("the sessions %q were ended", ended)
	}
}
