package login_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/hidden"
)

// An ID token is exchanged for an identity assertion, and that for an access token, which
// is kept and renewed by another exchange, with the ID token of then.
func TestExchange(t *testing.T) {
	for _, basic := range []bool{true, false} {
		w, v := newWorld(t), vault.Folder(t.TempDir())
		w.edit = func(meta map[string]any) { delete(meta, "code_challenge_methods_supported") } // it is not needed
		p := newIdentityProvider(t, w)
		p.basic = basic
		cfg := exchangeConfig(w, p)
		reads := 0
		cfg.Auth.Exchange.Subject = func(context.Context) (string, error) {
			reads++
			return p.subject + "\n", nil
		}
		l := login.New(v, nil)
		mustAsk(t, l, cfg)
		mustAsk(t, login.New(v, nil), cfg) // another process uses what is kept
		if len(p.exchanges) != 1 || reads != 1 {
			t.Errorf("%d exchanges, the subject token was read %d times", len(p.exchanges), reads)
		}
		status, err := l.Status(cfg)
		if err != nil || status == nil || status.State != login.LoggedIn || status.Renews || strings.Join(status.Scopes, " ") != "read" {
			t.Errorf("status %+v, %v", status, err)
		}
		p.subject = p.idToken(2 * time.Hour)
		w.expire()
		mustAsk(t, l, cfg)
		if len(p.exchanges) != 2 || reads != 2 {
			t.Errorf("after the token was refused: %d exchanges, the subject token was read %d times", len(p.exchanges), reads)
		}
		if w.refreshes != 0 {
			t.Errorf("%d refresh tokens were used", w.refreshes)
		}
		if found, err := l.Logout(t.Context(), cfg); !found || err != nil {
			t.Errorf("logout: %v, %v", found, err)
		}
	}
}

// An identity provider that is the authorization server issues the token at once.
func TestExchangeDirect(t *testing.T) {
	w := newWorld(t)
	p := newIdentityProvider(t, w)
	p.basic, p.direct = true, true
	cfg := exchangeConfig(w, p)
	cfg.Auth.Issuer = p.issuer()
	cfg.Auth.ClientID, cfg.Auth.ClientSecret = "toolpost-idp", "idp secret"
	cfg.Auth.Exchange.ClientID, cfg.Auth.Exchange.ClientSecret = "", ""
	w.named = p.issuer()
	mustAsk(t, login.New(vault.Folder(t.TempDir()), nil), cfg)
	if w.assertion.seen != 0 || len(p.exchanges) != 1 {
		t.Errorf("%d exchanges, %d assertions", len(p.exchanges), w.assertion.seen)
	}
}

// Nothing is sent to whom it is not for, and errors say what to do, without secrets.
func TestExchangeRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change             func(w *world, p *identityProvider, cfg *config.Server)
		want               string
		exchanges, asserts int
	}{
		"an assertion for a foreign audience": {func(_ *world, p *identityProvider, _ *config.Server) {
			p.edit = func(claims, _ map[string]any) { claims["aud"] = "https://evil.example" }
		}, "issues an identity assertion for https://evil.example, not for", 1, 0},
		"an assertion for two audiences": {func(w *world, p *identityProvider, _ *config.Server) {
			p.edit = func(claims, _ map[string]any) { claims["aud"] = []string{w.as.URL, "https://evil.example"} }
		}, "which is refused; correct auth.exchange.audience", 1, 0},
		"an access token in the place of an assertion": {func(_ *world, p *identityProvider, _ *config.Server) {
			p.edit = func(_, answer map[string]any) { answer["issued_token_type"] = tokenTypes + "access_token" }
		}, "it has to support this exchange", 1, 0},
		"an assertion that is no JWT": {func(_ *world, p *identityProvider, _ *config.Server) {
			p.edit = func(_, answer map[string]any) { answer["access_token"] = "opaque" }
		}, "that is not a JWT", 1, 0},
		"a server that names another authorization server": {func(w *world, _ *identityProvider, _ *config.Server) {
			w.named = "https://evil.example"
		}, "its configuration allows only", 0, 0},
		"a subject token that has expired": {func(_ *world, p *identityProvider, cfg *config.Server) {
			cfg.Auth.Exchange.SubjectToken = p.idToken(-time.Minute)
		}, "the subject token has expired at", 0, 0},
		"no subject token": {func(_ *world, _ *identityProvider, cfg *config.Server) {
			cfg.Auth.Exchange.Subject = func(context.Context) (string, error) { return " \n", nil }
		}, "the subject token is empty; let auth.exchange.subjectToken refer to one", 0, 0},
		"a subject token that cannot be read": {func(_ *world, _ *identityProvider, cfg *config.Server) {
			cfg.Auth.Exchange.Subject = func(context.Context) (string, error) { return "", errors.New("exit status 1") }
		}, "read the subject token: exit status 1", 0, 0},
		"a subject token that is refused": {func(_ *world, p *identityProvider, _ *config.Server) {
			p.subject = p.idToken(3 * time.Hour)
		}, "get a new subject token, or have the client \"toolpost-idp\" allowed to get tokens for", 1, 0},
		"a wrong secret at the identity provider": {func(_ *world, _ *identityProvider, cfg *config.Server) {
			cfg.Auth.Exchange.ClientSecret = "wrong secret"
		}, "the authorization server answers invalid_client", 3, 0}, // in each way to authenticate
		"an authorization server without trust": {func(w *world, p *identityProvider, _ *config.Server) {
			w.assertion.issuer = "https://idp.example"
		}, "it has to trust this identity provider, and the client \"toolpost-as\"", 1, 1},
		"metadata of another identity provider": {func(_ *world, p *identityProvider, _ *config.Server) {
			p.meta = func(meta map[string]any) { meta["issuer"] = "https://evil.example" }
		}, "is about https://evil.example, which is another one", 0, 0},
		"a token endpoint that is not https": {func(_ *world, p *identityProvider, _ *config.Server) {
			p.meta = func(meta map[string]any) { meta["token_endpoint"] = "http://evil.example/token" }
		}, "names no token endpoint that may be used", 0, 0},
		"no identity provider": {func(_ *world, p *identityProvider, cfg *config.Server) {
			cfg.Auth.Exchange.Issuer = p.URL + "/elsewhere"
		}, "has no metadata; correct the issuer", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := newIdentityProvider(t, w)
			p.basic = true
			cfg := exchangeConfig(w, p)
			test.change(w, p, cfg)
			got, err := ask(login.New(vault.Folder(t.TempDir()), nil), cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %q, %v; want %q", got, err, test.want)
			}
			if _, ok := errors.AsType[*hidden.CredentialsError](err); !ok || loginError(err) != nil {
				t.Errorf("the error is %T, and wants a login", err)
			}
			if len(p.exchanges) != test.exchanges || w.assertion.seen != test.asserts || len(w.access) != 0 {
				t.Errorf("%d exchanges, %d assertions, %d tokens", len(p.exchanges), w.assertion.seen, len(w.access))
			}
			for _, hidden := range []string{"idp secret", "idp+secret", "as secret", "wrong", p.subject, cfg.Auth.Exchange.SubjectToken} {
				if hidden != "" && strings.Contains(err.Error(), hidden) {
					t.Errorf("the error shows a secret: %v", err)
				}
			}
		})
	}
}

// The caller's own token is not what is exchanged, or sent to the server.
func TestExchangeIgnoresCallers(t *testing.T) {
	w := newWorld(t)
	p := newIdentityProvider(t, w)
	p.basic = true
	cfg := exchangeConfig(w, p)
	l := login.New(vault.Folder(t.TempDir()), nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, cfg.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer of-the-caller")
	resp, err := l.Wrap(cfg, "x", nil)(&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if w.lastToken() == "" || w.lastToken() == "of-the-caller" {
		t.Errorf("the server got the token %q", w.lastToken())
	}
	for _, form := range p.exchanges {
		if strings.Contains(form.Encode(), "of-the-caller") {
			t.Errorf("the identity provider got %s", form.Encode())
		}
	}
}

// A login by exchange needs no person.
func TestExchangeNeedsNoLogin(t *testing.T) {
	w := newWorld(t)
	cfg := exchangeConfig(w, newIdentityProvider(t, w))
	if _, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), cfg, nil, browser(t)); err == nil || !strings.Contains(err.Error(), "token_exchange, which needs no login of a person") {
		t.Errorf("got %v", err)
	}
}
