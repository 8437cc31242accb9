package login_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// pageOf returns the parameters of the login page. The login does not go on.
func pageOf(t *testing.T, cfg *config.Server) url.Values {
	t.Helper()
	var page string
	_, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), cfg, nil, &login.Person{Visit: func(_ context.Context, p *login.Page) error {
		page = p.Address
		return context.Canceled
	}})
	u, parseErr := url.Parse(page)
	if page == "" || parseErr != nil {
		t.Fatalf("no page: %v", err)
	}
	if u.Fragment != "" {
		t.Errorf("the page has the fragment %q", u.Fragment)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		t.Errorf("the query %q: %v", u.RawQuery, err)
	}
	return q
}

// What the query of the login page says beside our parameters stays, and nothing of it
// takes the place of one of them.
func TestParametersOfTheLoginPage(t *testing.T) {
	w := newWorld(t)
	const evil = "client_id=evil&redirect_uri=https%3A%2F%2Fevil.example&state=fixed&code_challenge_method=plain&%63ode_challenge=x" +
		"&Client_ID=evil&+state=evil&response_mode=form_post&request_uri=https://evil.example&request=e30.e30.&scope=all&resource=x&response_type=token" +
		"&tenant=a%26b&p=1&p=2&x=1;client_id=evil&empty&%zz=1#code_challenge"
	w.edit = func(meta map[string]any) { meta["authorization_endpoint"] = w.as.URL + "/authorize?" + evil }
	q := pageOf(t, w.config())
	for name, values := range q {
		if strings.Contains(strings.Join(values, " "), "evil") && name != "x" || len(values) > 1 && name != "p" {
			t.Errorf("%s has the values %q", name, values)
		}
	}
	if q.Get("tenant") != "a&b" || len(q["p"]) != 2 || q.Get("x") != "1;client_id=evil" || !q.Has("empty") {
		t.Errorf("other parameters are lost: %v", q)
	}
	for name, want := range map[string]string{"code_challenge_method": "S256", "response_type": "code", "resource": w.mcp.URL + "/mcp", "scope": "read", "response_mode": "", "request": "", "request_uri": ""} {
		if q.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	for name := range q {
		if lower := strings.ToLower(strings.TrimSpace(name)); lower != name && oauth.IsReserved(lower) {
			t.Errorf("the page has the parameter %q", name)
		}
	}
}

// Parameters of the configuration are added, and take the place of those that the endpoint
// has, but never of ours.
func TestConfiguredParameters(t *testing.T) {
	w := newWorld(t)
	w.edit = func(meta map[string]any) {
		meta["authorization_endpoint"] = w.as.URL + "/authorize?audience=theirs&a=b"
	}
	cfg := w.config()
	cfg.Auth = &config.Auth{Parameters: map[string]string{"audience": "https://api.example.com/?x=1&y", "prompt": "select_account", "state": "fixed", "Redirect_URI": "https://evil.example", "request_uri": "urn:x"}}
	q := pageOf(t, cfg)
	if len(q["audience"]) != 1 || q.Get("audience") != "https://api.example.com/?x=1&y" || q.Get("prompt") != "select_account" || q.Get("a") != "b" {
		t.Errorf("got %v", q)
	}
	if q.Get("state") == "fixed" || q.Has("Redirect_URI") || q.Has("request_uri") {
		t.Errorf("a parameter of ours was replaced: %v", q)
	}

	cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.as.URL, Parameters: map[string]string{"audience": "api", "grant_type": "password"}}
	w.clients["me"] = url.Values{"secret": {"s"}}
	audience := ""
	rewrite(t, w.as, func(req *http.Request, _ *httptest.ResponseRecorder) {
		if req.URL.Path == "/token" {
			audience = req.PostForm.Get("audience")
		}
	})
	mustAsk(t, login.New(vault.Folder(t.TempDir()), nil), cfg)
	if audience != "api" {
		t.Errorf("the token is for %q", audience)
	}
}

// The configuration may leave the resource out, or name another one, in every request.
func TestConfiguredResource(t *testing.T) {
	for name, test := range map[string]struct {
		auth config.Auth
		want []string
	}{
		"omitted":            {config.Auth{OmitResource: true}, nil},
		"another":            {config.Auth{Resource: "api://one"}, []string{"api://one"}},
		"omitted, by itself": {config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", OmitResource: true}, nil},
		"another, by itself": {config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Resource: "api://one"}, []string{"api://one"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.clients["me"] = url.Values{"secret": {"s"}}
			requests := 0
			inner := w.as.Config.Handler
			w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				_ = req.ParseForm()
				if req.URL.Path == "/authorize" || req.URL.Path == "/token" {
					if requests++; strings.Join(req.Form["resource"], " ") != strings.Join(test.want, " ") {
						t.Errorf("%s has the resource %q, want %q", req.URL.Path, req.Form["resource"], test.want)
					}
					req.PostForm.Set("resource", w.mcp.URL+"/mcp") // what this server wants
					q := req.URL.Query()
					q.Set("resource", w.mcp.URL+"/mcp")
					req.URL.RawQuery = q.Encode()
				}
				inner.ServeHTTP(rw, req)
			})
			cfg := w.config()
			cfg.Auth = &test.auth
			cfg.Auth.Issuer = w.as.URL
			l := login.New(vault.Folder(t.TempDir()), nil)
			want := 2
			if cfg.Auth.Type == "" {
				want = 3
				if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err != nil {
					t.Fatal(err)
				}
			}
			mustAsk(t, l, cfg)
			w.expire()
			mustAsk(t, l, cfg)
			if requests != want {
				t.Errorf("%d requests, want %d", requests, want)
			}
		})
	}
}

// A resource that is taken out of the configuration, or changed there, is not asked for at
// the next renewal of a login.
func TestConfiguredResourceChanges(t *testing.T) {
	own := "" // what the server calls itself
	for name, test := range map[string]struct {
		before, now config.Auth
		want        func() string
	}{
		"removed":      {config.Auth{Resource: "api://one"}, config.Auth{}, func() string { return own }},
		"asked again":  {config.Auth{OmitResource: true}, config.Auth{}, func() string { return own }},
		"changed":      {config.Auth{Resource: "api://one"}, config.Auth{Resource: "api://two"}, func() string { return "api://two" }},
		"now left out": {config.Auth{}, config.Auth{OmitResource: true}, func() string { return "" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			own = w.mcp.URL + "/mcp"
			var asked []string
			inner := w.as.Config.Handler
			w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				_ = req.ParseForm()
				if req.URL.Path == "/token" {
					asked = append(asked, req.PostForm.Get("resource"))
				}
				req.PostForm.Set("resource", own) // what this server wants
				q := req.URL.Query()
				q.Set("resource", own)
				req.URL.RawQuery = q.Encode()
				inner.ServeHTTP(rw, req)
			})
			folder, cfg := t.TempDir(), w.config()
			cfg.Auth = &test.before
			cfg.Auth.Issuer = w.as.URL
			if _, err := login.New(vault.Folder(folder), nil).Login(t.Context(), cfg, nil, browser(t)); err != nil {
				t.Fatal(err)
			}
			cfg.Auth = &test.now
			cfg.Auth.Issuer = w.as.URL
			w.expire()
			mustAsk(t, login.New(vault.Folder(folder), nil), cfg)
			if len(asked) != 2 || asked[1] != test.want() {
				t.Errorf("asked for tokens for %q, want %q at last", asked, test.want())
			}
		})
	}
}
