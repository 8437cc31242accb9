package login_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A registration that is null fails the login, and the next call tries
// again.
func TestRegistrationThatIsNone(t *testing.T) {
	w := newWorld(t)
	registrations := 0
	odd := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		registrations++
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusCreated)
		_, _ = rw.Write([]byte("null"))
	}))
	defer odd.Close()
	w.edit = func(meta map[string]any) { meta["registration_endpoint"] = odd.URL }
	l := login.New(vault.Folder(t.TempDir()), nil)
	for range 2 {
		if err := logInFor(l, w, t.Context(), &client{answer: "accept"}); err == nil || !strings.Contains(err.Error(), "its answer is not a registration") {
			t.Errorf("got %v", err)
		}
	}
	if registrations != 2 {
		t.Errorf("%d registrations", registrations)
	}
}

// Calls whose pages are not shown register once at most, and not at all if the page is
// at another server.
func TestCallsRegisterOnce(t *testing.T) {
	w := newWorld(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(w.authorize))
	defer elsewhere.Close()
	w.edit = func(meta map[string]any) { meta["authorization_endpoint"] = elsewhere.URL + "/authorize" }
	l := login.New(vault.Folder(t.TempDir()), nil)
	for range 3 {
		_ = logInFor(l, w, t.Context(), &client{answer: "accept"})
	}
	if n := len(w.clients); n != 0 {
		t.Errorf("a page elsewhere: %d registrations", n)
	}
	for name, attempt := range map[string]func(*login.Logins, *world){
		"calls that end": func(l *login.Logins, w *world) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_ = logInFor(l, w, ctx, &client{answer: "accept", open: func(string) { cancel() }})
		},
		"clients without a browser": func(l *login.Logins, w *world) { _ = logInFor(l, w, t.Context(), &client{}) },
		"users who decline":         func(l *login.Logins, w *world) { _ = logInFor(l, w, t.Context(), &client{answer: "decline"}) },
	} {
		w, l := newWorld(t), login.New(vault.Folder(t.TempDir()), nil)
		for range 4 {
			attempt(l, w)
		}
		redirects := map[string]bool{} // another one if another program has taken the port
		for _, c := range w.clients {
			redirects[c.Get("redirect_uri")] = true
		}
		if n := len(w.clients); n == 0 || n != len(redirects) {
			t.Errorf("%s: %d registrations with the addresses %v", name, n, redirects)
		}
	}
}

// A server that names the authorization server of another one gets a client of its own,
// for which the user has agreed to nothing.
func TestClientOfOneServer(t *testing.T) {
	good, evil := newWorld(t), newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	c := &client{open: visit(t), answer: "accept"}
	if err := logInFor(l, good, t.Context(), c); err != nil {
		t.Fatal(err)
	}
	evil.named = good.as.URL
	e := &client{answer: "decline"}
	if err := logInFor(l, evil, t.Context(), e); err == nil || len(e.pages) != 1 {
		t.Fatalf("%v, %q", err, e.pages)
	}
	id := func(page string) string {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		return u.Query().Get("client_id")
	}
	if a, b := id(c.pages[0]), id(e.pages[0]); a == b || a == "" || b == "" {
		t.Errorf("the clients are %q and %q", a, b)
	}
}

// A call that waits for the login of a client that cannot show the page asks its own.
func TestWaitingCallAsksItself(t *testing.T) {
	w := newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	shown, release := make(chan bool), make(chan bool)
	broken := &client{open: func(string) { close(shown); <-release }}
	good := &client{open: visit(t), answer: "accept"}
	ends := make(chan error, 2)
	go func() { ends <- logInFor(l, w, t.Context(), broken) }()
	<-shown
	go func() {
		err := logInFor(l, w, t.Context(), good)
		if err != nil || good.asked() != 1 {
			t.Errorf("%v, asked %d times", err, good.asked())
		}
		ends <- nil
	}()
	close(release)
	<-ends
	<-ends
}

// A header that refers to a secret does not keep from logging in.
func TestLoginWithHeaderReference(t *testing.T) {
	w := newWorld(t)
	cfg := w.config()
	cfg.Headers = map[string]string{"X-Api-Key": "\x00keyring:x\x00"}
	l := login.New(vault.Folder(t.TempDir()), nil)
	c := &client{open: visit(t), answer: "accept"}
	if err := l.LogInFor(t.Context(), cfg, &toolpost.Call{Caller: c}, time.Now()); err != nil {
		t.Error(err)
	}
}

// An authorization server without a login page is an error that names what is missing.
func TestLoginWithoutPage(t *testing.T) {
	w := newWorld(t)
	w.edit = func(meta map[string]any) { delete(meta, "authorization_endpoint") }
	l := login.New(vault.Folder(t.TempDir()), nil)
	for name, err := range map[string]error{
		"for a call":  logInFor(l, w, t.Context(), &client{answer: "accept"}),
		"the command": func() error { _, err := l.Login(t.Context(), w.config(), nil, browser(t)); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "names no login page (authorization_endpoint)") || len(w.clients) != 0 {
			t.Errorf("%s: %v, %d registrations", name, err, len(w.clients))
		}
	}
}
