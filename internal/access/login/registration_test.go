package login_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// Later logins use the registration of the first one, also of another process and after
// a logout, while it is valid.
func TestRegistrationIsReused(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	in := func(want int, what string) {
		t.Helper()
		status, err := login.New(v, nil).Login(t.Context(), w.config(), nil, browser(t))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(w.clients) != want || w.clients[status.Client] == nil {
			t.Errorf("%s: %d clients are registered, want %d", what, len(w.clients), want)
		}
	}
	in(1, "the first login")
	in(1, "the second login")
	if _, err := login.New(v, nil).Logout(t.Context(), w.config()); err != nil {
		t.Fatal(err)
	}
	in(1, "after a logout")

	w.expires = time.Now().Add(time.Minute).Unix() // of the secret of the next client
	redirect, err := url.Parse(w.lastRedirect())
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", redirect.Host)
	if err != nil {
		t.Fatal(err)
	}
	in(2, "with another program at the port")
	if taken.Close() != nil {
		t.Fatal("close")
	}
	w.expires = 0
	in(3, "after the secret has expired")
	in(3, "the last login")
}

// A registration that the authorization server no longer knows is not used for ever. A
// user who only declines keeps it.
func TestRegistrationIsLost(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	l := login.New(v, nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	if err := logInFor(l, w, t.Context(), &client{answer: "decline"}); err == nil {
		t.Error("a login that was declined")
	}
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil || len(w.clients) != 1 {
		t.Fatalf("%v, %d clients", err, len(w.clients))
	}
	clear(w.clients)
	gone := errors.New("the page said that it does not know the client")
	lost := &login.Person{Visit: func(_ context.Context, page *login.Page) error {
		resp, err := http.Get(page.Address)
		if err != nil {
			return err
		}
		if resp.Body.Close(); resp.StatusCode == http.StatusBadRequest {
			return gone
		}
		return nil
	}}
	if _, err := l.Login(t.Context(), w.config(), nil, lost); !errors.Is(err, gone) {
		t.Fatalf("got %v", err)
	}
	if _, err := l.Login(t.Context(), w.config(), nil, lost); err != nil || len(w.clients) != 1 {
		t.Errorf("the next login: %v, %d clients", err, len(w.clients))
	}

	w.expire()
	w.redeem = func(rw http.ResponseWriter) bool {
		sendJSON(rw, 401, map[string]any{"error": "invalid_client"})
		return true
	}
	if _, err := ask(l, w.config()); loginError(err) == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Fatalf("a renewal: %v", err)
	}
	if _, err := l.Login(t.Context(), w.config(), nil, lost); err != nil || len(w.clients) != 2 {
		t.Errorf("after the renewal was refused: %v, %d clients", err, len(w.clients))
	}
}
