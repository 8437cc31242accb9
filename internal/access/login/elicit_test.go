package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A client is one that shows login pages. It remembers what it was asked.
type client struct {
	open   func(page string) // what its user does with the page
	answer string            // "" for an error
	wait   bool              // answers only when the question is withdrawn

	mu       sync.Mutex
	pages    []string
	ids      []string // of the elicitations, and of the notifications that they are complete
	complete []string
}

func (c *client) Supports(capability string) bool { return capability == "elicitation.url" }

func (c *client) Notify(_ context.Context, method string, params json.RawMessage) error {
	var p struct{ ElicitationID string }
	c.mu.Lock()
	defer c.mu.Unlock()
	if method == "notifications/elicitation/complete" && json.Unmarshal(params, &p) == nil {
		c.complete = append(c.complete, p.ElicitationID)
	}
	return nil
}

func (c *client) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	var p struct{ Mode, Message, URL, ElicitationID string }
	if err := json.Unmarshal(params, &p); err != nil || method != "elicitation/create" || p.Mode != "url" {
		return nil, errors.New("not an elicitation with an address: " + string(params))
	}
	c.mu.Lock()
	c.pages, c.ids = append(c.pages, p.URL), append(c.ids, p.ElicitationID)
	c.mu.Unlock()
	if c.open != nil {
		c.open(p.URL)
	}
	if c.wait {
		<-ctx.Done()
	}
	if c.answer == "" {
		return nil, errors.New("the client has no browser")
	}
	return json.RawMessage(`{"action":"` + c.answer + `"}`), nil
}

func (c *client) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pages)
}

// visit opens a page and follows it to its end.
func visit(t *testing.T) func(string) {
	return func(page string) {
		resp, err := http.Get(page)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	}
}

func logInFor(l *login.Logins, w *world, ctx context.Context, c *client) error {
	return l.LogInFor(ctx, w.config(), &toolpost.Call{Name: "x", Caller: c}, time.Now())
}

// A client shows the login page, which has no secret, and learns that the login is
// complete. It may answer before or after that.
func TestLoginForCall(t *testing.T) {
	for name, c := range map[string]*client{
		"answers first": {open: func(page string) { go visit(t)(page) }, answer: "accept"},
		"answers later": {open: visit(t), answer: "accept", wait: true},
	} {
		w := newWorld(t)
		l := login.New(vault.Folder(t.TempDir()), nil)
		if err := logInFor(l, w, t.Context(), c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mustAsk(t, l, w.config())
		if len(c.pages) != 1 || len(c.complete) != 1 || c.complete[0] != c.ids[0] || c.ids[0] == "" {
			t.Fatalf("%s: pages %q, elicitations %q, complete %q", name, c.pages, c.ids, c.complete)
		}
		u, err := url.Parse(c.pages[0])
		if err != nil || !strings.HasPrefix(c.pages[0], w.as.URL+"/authorize?") || u.Query().Get("code_challenge_method") != "S256" || u.User != nil {
			t.Errorf("%s: the page is %s", name, c.pages[0])
		}
		for token := range w.access {
			if strings.Contains(c.pages[0], token) {
				t.Errorf("%s: the page has the token", name)
			}
		}
	}
}

// A login that the user refuses, or that the client cannot show, is none.
func TestLoginForCallRefused(t *testing.T) {
	w := newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	for _, answer := range []string{"decline", "cancel", "maybe", ""} {
		c := &client{answer: answer}
		if err := logInFor(l, w, t.Context(), c); err == nil || len(c.pages) != 1 || len(c.complete) != 0 {
			t.Errorf("%q: %v, asked %d times, complete %q", answer, err, len(c.pages), c.complete)
		}
	}
	if len(w.access) != 0 {
		t.Errorf("%d tokens", len(w.access))
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(w.authorize))
	defer elsewhere.Close()
	w.edit = func(meta map[string]any) { meta["authorization_endpoint"] = elsewhere.URL + "/authorize" }
	c := &client{answer: "accept", open: visit(t), wait: true}
	if err := logInFor(l, w, t.Context(), c); err == nil || len(c.pages) != 0 {
		t.Errorf("a page elsewhere: %v, asked %d times", err, len(c.pages))
	}
}

// Two callers need the same login: the page is given to one of them, both go on.
func TestLoginForTwoCalls(t *testing.T) {
	w := newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	shown, release := make(chan string), make(chan struct{})
	first := &client{answer: "accept", open: func(page string) {
		shown <- page
		<-release
		visit(t)(page)
	}}
	second := &client{answer: "accept", open: visit(t)}
	began := time.Now()
	results := make(chan error, 2)
	go func() { results <- logInFor(l, w, t.Context(), first) }()
	<-shown
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := logInFor(l, w, ctx, second); !errors.Is(err, context.Canceled) || second.asked() != 0 {
		t.Errorf("a call that ends while it waits: %v, asked %d times", err, second.asked())
	}
	go func() {
		results <- l.LogInFor(t.Context(), w.config(), &toolpost.Call{Caller: second}, began)
	}()
	close(release)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if err := l.LogInFor(t.Context(), w.config(), &toolpost.Call{Caller: second}, began); err != nil || second.asked() != 0 || first.asked() != 1 {
		t.Errorf("a call of before the login: %v; the clients were asked %d and %d times", err, first.asked(), second.asked())
	}
	if err := logInFor(l, w, t.Context(), second); err != nil || second.asked() != 1 {
		t.Errorf("a call of after the login: %v, asked %d times", err, second.asked())
	}
}

// A caller that leaves does not keep others from the login.
func TestLoginOfCallThatEnds(t *testing.T) {
	w := newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	ctx, leave := context.WithCancel(t.Context())
	shown := make(chan string, 1)
	first := &client{answer: "accept", open: func(page string) { shown <- page }}
	second := &client{answer: "accept", open: visit(t)}
	results := make(chan error, 2)
	go func() { results <- logInFor(l, w, ctx, first) }()
	stale := <-shown
	go func() { results <- logInFor(l, w, t.Context(), second) }()
	leave()
	if one, two := <-results, <-results; (one == nil) == (two == nil) {
		t.Errorf("got %v and %v", one, two)
	}
	if first.asked() != 1 || second.asked() != 1 {
		t.Fatalf("the clients were asked %d and %d times", first.asked(), second.asked())
	}
	second.mu.Lock()
	page := second.pages[0]
	second.mu.Unlock()
	if page == stale {
		t.Errorf("the second client was shown the page of the first: %s", page)
	}
	mustAsk(t, l, w.config())
}

// An answer that does not know the state of the login changes nothing, and neither does
// one for another login.
func TestLoginForCallForged(t *testing.T) {
	w := newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	forged := 0
	c := &client{answer: "accept", open: func(page string) {
		u, err := url.Parse(page)
		if err != nil {
			t.Error(err)
			return
		}
		for _, state := range []string{"", "guessed", strings.Repeat("A", 26)} {
			resp, err := http.Get(u.Query().Get("redirect_uri") + "?" + url.Values{"code": {"stolen"}, "state": {state}, "iss": {w.as.URL}}.Encode())
			if err != nil {
				t.Error(err)
				return
			}
			if resp.Body.Close(); resp.StatusCode == http.StatusBadRequest {
				forged++
			}
		}
		visit(t)(page)
		resp, err := http.Get(u.Query().Get("redirect_uri") + "?" + url.Values{"code": {"late"}, "state": {u.Query().Get("state")}, "iss": {w.as.URL}}.Encode())
		if err == nil { // the login may have ended
			if resp.Body.Close(); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("a second answer gets %s", resp.Status)
			}
		}
	}}
	if err := logInFor(l, w, t.Context(), c); err != nil || forged != 3 {
		t.Errorf("got %v, %d answers were refused", err, forged)
	}
	mustAsk(t, l, w.config())
}

// A call that needs more permissions asks for these too.
func TestLoginForMoreScopes(t *testing.T) {
	w := newWorld(t)
	l := login.New(vault.Folder(t.TempDir()), nil)
	c := &client{answer: "accept", open: visit(t)}
	if err := logInFor(l, w, t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.needs = "write"
	if _, err := ask(l, w.config()); loginError(err) == nil || !loginError(err).More {
		t.Fatalf("got %v", err)
	}
	if err := logInFor(l, w, t.Context(), c); err != nil || c.asked() != 2 || !strings.Contains(c.pages[1], "write") {
		t.Fatalf("%v, pages %q", err, c.pages)
	}
	mustAsk(t, l, w.config())
}
