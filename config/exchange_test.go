package config_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
)

const exchangeEntry = `{"mcpServers": {"s": {"url": "https://mcp.example.com/mcp", "auth": {
	"type": "token_exchange", "clientId": "me", "clientSecret": "${keyring:as}", "issuer": "https://as.example.com", "scopes": ["read"],
	"exchange": {"issuer": "https://idp.example.com", "clientId": "idp-me", "clientSecret": "${keyring:idp}",
		"subjectToken": "${cmd:idp id-token}", "subjectType": "access_token", "audience": "as", "resource": "https://mcp.example.com/"}}}}}`

func TestExchange(t *testing.T) {
	cfg := load(t, t.TempDir(), exchangeEntry)
	s := &cfg.Servers[0]
	if s.Err != nil {
		t.Fatal(s.Err)
	}
	reads := 0
	resolve := func(_ context.Context, r config.Reference) (string, error) {
		if r.Kind == "cmd" {
			reads++
		}
		return "secret of " + r.Of, nil
	}
	resolved, err := s.ResolveLogin(t.Context(), resolve)
	if err != nil {
		t.Fatal(err)
	}
	x := resolved.Auth.Exchange
	if reads != 0 {
		t.Error("the subject token was read before it is needed")
	}
	for range 2 {
		if subject, err := x.Subject(t.Context()); subject != "secret of idp id-token" || err != nil {
			t.Errorf("the subject token is %q, %v", subject, err)
		}
	}
	if reads != 2 {
		t.Errorf("the subject token was read %d times", reads)
	}
	token := x.SubjectToken
	got := fmt.Sprint(x.Issuer, " ", x.ClientID, " ", x.ClientSecret, " ", x.SubjectType, " ", x.Audience, " ", x.Resource)
	if want := "https://idp.example.com idp-me secret of idp urn:ietf:params:oauth:token-type:access_token as https://mcp.example.com/"; got != want {
		t.Errorf("got %s", got)
	}
	if strings.Contains(token, "secret of") || s.Auth.Exchange.Subject != nil || strings.Contains(s.Auth.Exchange.ClientSecret, "secret of") {
		t.Error("the configuration that was read has changed")
	}
	lines := strings.Join(cfg.Describe()[0].Lines, "\n")
	for _, part := range []string{"exchange.issuer=https://idp.example.com", "exchange.clientId=idp-me", `exchange.subjectToken="${cmd:idp id-token}"`, `runs       "idp id-token" for a secret`, "exchange.subjectType=urn:ietf", "exchange.audience=as"} {
		if !strings.Contains(lines, part) {
			t.Errorf("a person who approves is not shown %q:\n%s", part, lines)
		}
	}
}

func TestExchangeMistakes(t *testing.T) {
	for auth, want := range map[string]string{
		`{"type": "token_exchange"}`: `add issuer, clientId, exchange.issuer, exchange.subjectToken`,
		`{"type": "token_exchange", "clientId": "a", "issuer": "https://as.example", "exchange": {"issuer": "https://idp.example", "subjectToken": "x"}}`: `add exchange.clientId`,
		`{"type": "token_exchange", "clientId": "a", "issuer": "https://as.example/", "exchange": {"issuer": "https://as.example", "subjectToken": "x"}}`: "",
		`{"clientId": "a", "exchange": {"issuer": "https://idp.example", "subjectToken": "x"}}`:                                                           `has no effect without the type "token_exchange"`,
		`{"type": "token_exchange", "exchange": {"issuer": "nowhere"}}`:                                                                                   `auth.exchange.issuer is not an address`,
		`{"type": "token_exchange", "exchange": {"subject": "x"}}`:                                                                                        `unknown key "subject" in mcpServers.s.auth.exchange`,
		`{"type": "token_exchange", "exchange": {"subjectType": "saml"}}`:                                                                                 `want "id_token", "access_token", "jwt", "saml2" or a URN`,
		`{"type": "token_exchange", "exchange": {"audience": "${cmd:x}"}}`:                                                                                `auth.exchange.audience cannot refer to a secret`,
		`{"clientId": "a", "exchange": {"audience": "as"}}`:                                                                                               `has no effect without the type "token_exchange"`,
		`{"exchange": {"clientId": "a"}}`:                                                                                                                 `has no effect without the type "token_exchange"`,
		`{"exchange": {"clientSecret": "${keyring:a}"}}`:                                                                                                  `has no effect without the type "token_exchange"`,
		`{"type": "none", "exchange": {"subjectType": "jwt"}}`:                                                                                            `has no effect without the type "token_exchange"`,
		`{"exchange": {"resource": "https://a.example"}}`:                                                                                                 `has no effect without the type "token_exchange"`,
		`{"exchange": {"resource": null}}`:                                                                                                                "",
		`{"type": "token_exchange", "exchange": {"issuer": "http://idp.example"}}`:                                                                        `auth.exchange.issuer is not https`,
		`{"type": "token_exchange", "exchange": {"issuer": "HTTP://192.168.1.2:8080/x"}}`:                                                                 `auth.exchange.issuer is not https`,
		`{"type": "token_exchange", "clientId": "a", "issuer": "https://as.example", "exchange": {"issuer": "http://127.0.0.1:8080", "clientId": "b", "subjectToken": "x"}}`: "",
		`{"resource": false, "pkce": "S256", "parameters": {"audience": "a", "prompt": null}}`:                                                                               "",
		`{"resource": true}`:                           "",
		`{"resource": "api://00000000-0000"}`:          "",
		`{"resource": ""}`:                             "auth.resource is not a resource",
		`{"resource": "a b"}`:                          "auth.resource is not a resource",
		`{"resource": 5}`:                              "auth.resource is a number",
		`{"resource": "${keyring:a}"}`:                 "cannot refer to a secret",
		`{"pkce": "plain"}`:                            `auth.pkce is "plain"; want "S256"`,
		`{"parameters": {"state": "a"}}`:               "auth.parameters.state cannot be set",
		`{"parameters": {"Redirect_URI": "a"}}`:        "auth.parameters.Redirect_URI cannot be set",
		`{"parameters": {" code_challenge": "a"}}`:     "cannot be set",
		`{"parameters": {"request_uri": "a"}}`:         "cannot be set",
		`{"parameters": {"scope": "a"}}`:               "use auth.scopes",
		`{"parameters": {"": "a"}}`:                    "cannot be set",
		`{"parameters": {"audience": "${keyring:a}"}}`: "cannot refer to a secret",
		`{"parameters": []}`:                           "auth.parameters is an array",
		`{"type": "exchange"}`:                         `want "authorization_code", "client_credentials", "token_exchange" or "none"`,
	} {
		cfg := load(t, t.TempDir(), `{"mcpServers": {"s": {"url": "https://a.example", "auth": `+auth+`}}}`)
		switch err := cfg.Servers[0].Err; {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", auth, err, want)
		}
	}
}
