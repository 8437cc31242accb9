package login_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/upstream"
)

// browser is a person whose browser follows redirects and then shows a page.
func browser(t *testing.T) *login.Person {
	return &login.Person{Visit: func(_ context.Context, page *login.Page) error {
		go func() {
			resp, err := http.Get(page.Address)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		}()
		return nil
	}}
}

func (w *world) config() *config.Server {
	return &config.Server{Config: upstream.Config{Name: "it", URL: w.mcp.URL + "/mcp"}}
}

// ask sends a request with the login, and returns the text of the answer.
func ask(l *login.Logins, cfg *config.Server) (string, error) {
	client := &http.Client{Transport: l.Wrap(cfg, "toolpost login it", nil)(&http.Transport{DisableKeepAlives: true})}
	resp, err := client.Post(cfg.URL, "application/json", strings.NewReader("{}"))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func mustAsk(t *testing.T, l *login.Logins, cfg *config.Server) {
	t.Helper()
	if got, err := ask(l, cfg); got != "welcome" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func loginError(err error) *upstream.LoginError {
	e, _ := errors.AsType[*upstream.LoginError](err)
	return e
}

func TestLogin(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	if _, err := ask(l, w.config()); loginError(err) == nil || !strings.Contains(err.Error(), "it needs a login; run: toolpost login it") {
		t.Fatalf("before the login: %v", err)
	}
	status, err := l.Login(t.Context(), w.config(), nil, browser(t))
	if err != nil {
		t.Fatal(err)
	}
	if status.State != login.LoggedIn || status.Account != "ada@example.org" || strings.Join(status.Scopes, " ") != "read" || !status.Renews {
		t.Errorf("got %+v", status)
	}
	mustAsk(t, l, w.config()) // the source of before reads the vault again
	mustAsk(t, login.New(v, nil), w.config())
	w.expire()
	mustAsk(t, l, w.config()) // one forced refresh
	if w.refreshes != 1 {
		t.Errorf("%d refreshes", w.refreshes)
	}
	if found, err := l.Logout(t.Context(), w.config()); !found || err != nil || len(w.revoked) != 2 {
		t.Errorf("logout: %v, %v, %q", found, err, w.revoked)
	}
	if _, err := ask(l, w.config()); loginError(err) == nil {
		t.Errorf("after the logout: %v", err)
	}
	if all, err := l.List(); len(all) != 0 || err != nil {
		t.Errorf("after the logout: %v, %v", all, err)
	}
}

type passer interface {
	Passes(ctx context.Context, req *http.Request) bool
}

// Without a login, requests may be sent without the layer; a login in use keeps it.
func TestPasses(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	layer := l.Wrap(w.config(), "toolpost login it", nil)(&http.Transport{DisableKeepAlives: true}).(passer)
	request, err := http.NewRequest(http.MethodPost, w.config().URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !layer.Passes(t.Context(), request) {
		t.Error("before the login, it does not pass")
	}
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, l, w.config())
	if layer.Passes(t.Context(), request) {
		t.Error("after the login, it passes")
	}
	other := l.Wrap(w.config(), "toolpost login it", func(base *http.Transport) http.RoundTripper {
		return http.NewFileTransport(http.Dir(t.TempDir()))
	})(nil).(passer)
	if _, err := l.Logout(t.Context(), w.config()); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(l, w.config()); loginError(err) == nil {
		t.Errorf("after the logout: %v", err)
	}
	if other.Passes(t.Context(), request) {
		t.Error("over another layer, it passes")
	}
}
