package login_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
)

const (
	tokenTypes     = "urn:ietf:params:oauth:token-type:"
	grantExchange  = "urn:ietf:params:oauth:grant-type:token-exchange"
	grantJWTBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
)

// An identityProvider exchanges ID tokens (RFC 8693). It refuses a request with any
// parameter that it does not expect.
type identityProvider struct {
	*httptest.Server
	world *world
	key   ed25519.PrivateKey

	mu        sync.Mutex
	exchanges []url.Values
	basic     bool                                // the client authenticates in the header
	direct    bool                                // it is the authorization server of the MCP server
	subject   string                              // the ID token that it accepts
	scope     string                              // that it grants
	edit      func(claims, answer map[string]any) // changes the answer
	meta      func(meta map[string]any)
}

func newIdentityProvider(t *testing.T, w *world) *identityProvider {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &identityProvider{world: w, key: private, scope: "read"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tenant/.well-known/openid-configuration", func(rw http.ResponseWriter, _ *http.Request) {
		meta := map[string]any{"issuer": p.issuer(), "token_endpoint": p.URL + "/token"} // without PKCE
		if !p.basic {
			meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		}
		if p.meta != nil {
			p.meta(meta)
		}
		sendJSON(rw, 200, meta)
	})
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	p.subject = p.idToken(time.Hour)
	w.clients["toolpost-as"] = url.Values{"secret": {"as+secret"}} // as it is encoded in the header
	w.assertion = assertionChecker{issuer: p.issuer(), key: public, used: map[string]bool{}}
	return p
}

func (p *identityProvider) issuer() string { return p.URL + "/tenant" }

// sign returns a JWT.
func (p *identityProvider) sign(kind string, claims map[string]any) string {
	part := func(v any) string {
		data, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(data)
	}
	text := part(map[string]any{"alg": "EdDSA", "typ": kind}) + "." + part(claims)
	return text + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(p.key, []byte(text)))
}

func (p *identityProvider) idToken(life time.Duration) string {
	return p.sign("JWT", map[string]any{"iss": p.issuer(), "sub": "ada", "aud": "toolpost-idp", "exp": time.Now().Add(life).Unix()})
}

func (p *identityProvider) token(rw http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm()
	p.mu.Lock()
	defer p.mu.Unlock()
	form := req.PostForm
	p.exchanges = append(p.exchanges, form)
	id, secret, basic := req.BasicAuth()
	if !basic {
		id, secret = form.Get("client_id"), form.Get("client_secret")
	}
	want := url.Values{
		"grant_type": {grantExchange}, "subject_token": {p.subject}, "subject_token_type": {tokenTypes + "id_token"},
		"requested_token_type": {tokenTypes + "id-jag"}, "audience": {p.world.as.URL}, "resource": {p.world.mcp.URL + "/mcp"}, "scope": {"read"},
	}
	if p.direct {
		want.Set("requested_token_type", tokenTypes+"access_token")
		want.Del("audience")
	}
	if !p.basic {
		want.Set("client_id", "toolpost-idp")
		want.Set("client_secret", "idp secret")
	}
	bad := func(code string) {
		sendJSON(rw, 400, map[string]any{"error": code, "error_description": "no: " + form.Encode()})
	}
	switch {
	case basic != p.basic || id != "toolpost-idp" || secret != "idp secret" && secret != "idp+secret":
		bad("invalid_client")
		return
	case form.Get("subject_token") != p.subject:
		bad("invalid_grant")
		return
	case form.Encode() != want.Encode():
		bad("invalid_request")
		return
	}
	claims := map[string]any{"iss": p.issuer(), "sub": "ada", "aud": p.world.as.URL, "client_id": "toolpost-as", "resource": p.world.mcp.URL + "/mcp",
		"scope": p.scope, "exp": time.Now().Add(5 * time.Minute).Unix(), "jti": len(p.exchanges)}
	answer := map[string]any{"issued_token_type": tokenTypes + "id-jag", "token_type": "N_A", "expires_in": 300}
	if p.direct {
		p.world.mu.Lock()
		access := p.world.next("access")
		p.world.access[access] = p.scope
		p.world.mu.Unlock()
		answer = map[string]any{"issued_token_type": tokenTypes + "access_token", "token_type": "Bearer", "expires_in": 300, "access_token": access}
	}
	if p.edit != nil {
		p.edit(claims, answer)
	}
	if answer["access_token"] == nil {
		answer["access_token"] = p.sign("oauth-id-jag+jwt", claims)
	}
	sendJSON(rw, 200, answer)
}

// An assertionChecker is how an authorization server checks identity assertions (RFC 7523).
type assertionChecker struct {
	issuer string
	key    ed25519.PublicKey
	used   map[string]bool
	scope  string // of the last one
	seen   int
}

// checkAssertion returns the code of the error of a request with an assertion, "" if it
// is good. The lock is held.
func (w *world) checkAssertion(req *http.Request) string {
	form := req.PostForm
	w.assertion.seen++
	id, secret, basic := req.BasicAuth()
	if !basic || id != "toolpost-as" || secret != "as+secret" {
		return "invalid_client"
	}
	want := url.Values{"grant_type": {grantJWTBearer}, "assertion": form["assertion"], "resource": {w.mcp.URL + "/mcp"}}
	if form.Encode() != want.Encode() {
		return "invalid_request"
	}
	parts := strings.Split(form.Get("assertion"), ".")
	if len(parts) != 3 {
		return "invalid_grant"
	}
	decode := func(part string) []byte {
		data, _ := base64.RawURLEncoding.DecodeString(part)
		return data
	}
	var claims struct {
		Iss, Aud, Resource, Scope string
		ClientID                  string `json:"client_id"`
		Exp                       int64
		Jti                       json.Number
	}
	if !ed25519.Verify(w.assertion.key, []byte(parts[0]+"."+parts[1]), decode(parts[2])) || !bytes.Contains(decode(parts[0]), []byte(`"oauth-id-jag+jwt"`)) || json.Unmarshal(decode(parts[1]), &claims) != nil {
		return "invalid_grant"
	}
	if claims.Iss != w.assertion.issuer || claims.Aud != w.as.URL || claims.ClientID != id || claims.Resource != w.mcp.URL+"/mcp" || claims.Exp < time.Now().Unix() || w.assertion.used[claims.Jti.String()] {
		return "invalid_grant"
	}
	w.assertion.used[claims.Jti.String()] = true
	w.assertion.scope = claims.Scope
	return ""
}

// exchangeConfig is the entry of the world's MCP server with a token exchange.
func exchangeConfig(w *world, p *identityProvider) *config.Server {
	cfg := w.config()
	cfg.Auth = &config.Auth{Type: "token_exchange", ClientID: "toolpost-as", ClientSecret: "as secret", Issuer: w.as.URL}
	x := &cfg.Auth.Exchange
	x.Issuer, x.ClientID, x.ClientSecret, x.SubjectToken = p.issuer(), "toolpost-idp", "idp secret", p.subject
	return cfg
}
