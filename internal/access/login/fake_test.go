package login_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A world is an MCP server and its authorization server, on one origin each.
type world struct {
	mcp, as *httptest.Server

	mu        sync.Mutex
	codes     map[string]url.Values // the authorization request, by code
	access    map[string]string     // scopes, by token
	refresh   map[string]string     // the token family's scopes, by refresh token that is not used up
	used      map[string]bool       // refresh tokens that are used up
	clients   map[string]url.Values
	refreshes int
	revoked   []string
	last      string // the token of the last request that was served
	lifetime  int    // of access tokens, in seconds
	n         int

	edit    func(meta map[string]any)                // changes the metadata
	redeem  func(w http.ResponseWriter) bool         // answers a refresh in the place of the server
	answer  func(redirect url.Values)                // changes the answer in the browser
	lazy    string                                   // a scope; the MCP server initializes sessions without a token, and then wants this one
	needs   string                                   // a scope that the MCP server needs
	granted func(w http.ResponseWriter, body []byte) // sends the answer to a refresh
	inner   http.Handler                             // serves requests in the place of "welcome"
	public  func(body string) bool                   // which of them need no token; nil for none

	expires   int64            // of the secret of a client that registers; 0 for never
	redirect  string           // of the last authorization request
	named     string           // the authorization server in the metadata of the MCP server; the world's if empty
	assertion assertionChecker // of the identity provider that is trusted
}

func newWorld(t *testing.T) *world {
	w := &world{codes: map[string]url.Values{}, access: map[string]string{}, refresh: map[string]string{}, used: map[string]bool{}, clients: map[string]url.Values{}, lifetime: 3600}
	as := http.NewServeMux()
	as.HandleFunc("GET /.well-known/oauth-authorization-server", w.metadata)
	as.HandleFunc("POST /register", w.register)
	as.HandleFunc("GET /authorize", w.authorize)
	as.HandleFunc("POST /token", w.token)
	as.HandleFunc("POST /revoke", w.revoke)
	w.as = httptest.NewServer(as)
	t.Cleanup(w.as.Close)
	mcp := http.NewServeMux()
	mcp.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(rw http.ResponseWriter, _ *http.Request) {
		sendJSON(rw, 200, map[string]any{"resource": w.mcp.URL + "/mcp", "authorization_servers": []string{cmp.Or(w.named, w.as.URL)}, "scopes_supported": []string{"read"}})
	})
	mcp.HandleFunc("/mcp", w.serve)
	w.mcp = httptest.NewServer(mcp)
	t.Cleanup(w.mcp.Close)
	return w
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// serve answers requests with a token, and 401 to others.
func (w *world) serve(rw http.ResponseWriter, req *http.Request) {
	w.mu.Lock()
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	scopes, ok := w.access[token]
	if ok {
		w.last = token
	}
	needs, public := w.needs, w.public
	w.mu.Unlock()
	if public != nil {
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(strings.NewReader(string(body)))
		if ok = ok || public(string(body)); ok {
			needs = ""
		}
	}
	if w.lazy != "" && !ok {
		body, _ := io.ReadAll(req.Body)
		if strings.Contains(string(body), `"initialize"`) {
			rw.Header().Set("Mcp-Session-Id", "one")
			return
		}
		if req.Header.Get("Mcp-Session-Id") == "one" {
			rw.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer scope=%q`, w.lazy))
		}
		rw.WriteHeader(401)
		return
	}
	challenge := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, w.mcp.URL)
	switch {
	case !ok:
		rw.Header().Set("WWW-Authenticate", challenge)
		rw.WriteHeader(401)
	case needs != "" && !slices.Contains(strings.Fields(scopes), needs):
		rw.Header().Set("WWW-Authenticate", challenge+fmt.Sprintf(`, error="insufficient_scope", scope="%s"`, needs))
		rw.WriteHeader(403)
	case w.inner != nil:
		w.inner.ServeHTTP(rw, req)
	default:
		fmt.Fprint(rw, "welcome")
	}
}

func (w *world) metadata(rw http.ResponseWriter, _ *http.Request) {
	meta := map[string]any{
		"issuer": w.as.URL, "authorization_endpoint": w.as.URL + "/authorize", "token_endpoint": w.as.URL + "/token",
		"registration_endpoint": w.as.URL + "/register", "revocation_endpoint": w.as.URL + "/revoke",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"}, "authorization_response_iss_parameter_supported": true,
	}
	if w.edit != nil {
		w.edit(meta)
	}
	sendJSON(rw, 200, meta)
}

func (w *world) next(kind string) string {
	w.n++
	return fmt.Sprintf("%s-%d-%d", kind, w.n, time.Now().UnixNano())
}

func (w *world) register(rw http.ResponseWriter, req *http.Request) {
	var m map[string]any
	_ = json.NewDecoder(req.Body).Decode(&m)
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next("client")
	redirects, _ := m["redirect_uris"].([]any)
	w.clients[id] = url.Values{"redirect_uri": {fmt.Sprint(redirects[0])}}
	m["client_id"] = id
	if w.expires != 0 {
		m["client_secret_expires_at"] = w.expires
	}
	sendJSON(rw, 201, m)
}

// authorize agrees at once, like a user who has a session.
func (w *world) authorize(rw http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.clients[q.Get("client_id")]
	if c == nil || c.Get("redirect_uri") != q.Get("redirect_uri") && c.Get("redirect_uri") != "*" || q.Get("code_challenge_method") != "S256" || q.Get("resource") != w.mcp.URL+"/mcp" {
		http.Error(rw, "bad request", 400)
		return
	}
	w.redirect = q.Get("redirect_uri")
	code := w.next("code")
	w.codes[code] = q
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {w.as.URL}}
	if w.answer != nil {
		w.answer(back)
	}
	http.Redirect(rw, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (w *world) token(rw http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	bad := func(code string) {
		sendJSON(rw, 400, map[string]any{"error": code, "error_description": "no: " + req.PostForm.Encode()})
	}
	if req.PostForm.Get("resource") != w.mcp.URL+"/mcp" {
		bad("invalid_target")
		return
	}
	switch req.PostForm.Get("grant_type") {
	case "authorization_code":
		asked := w.codes[req.PostForm.Get("code")]
		delete(w.codes, req.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(req.PostForm.Get("code_verifier")))
		if asked == nil || asked.Get("redirect_uri") != req.PostForm.Get("redirect_uri") || asked.Get("client_id") != clientOf(req) || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			bad("invalid_grant")
			return
		}
		w.grant(rw, asked.Get("scope"), true)
	case "refresh_token":
		w.refreshes++
		token := req.PostForm.Get("refresh_token")
		scopes, ok := w.refresh[token]
		if w.used[token] { // theft: everything of the login ends
			clear(w.refresh)
			clear(w.access)
		}
		if !ok || w.used[token] {
			bad("invalid_grant")
			return
		}
		if w.redeem != nil && w.redeem(rw) {
			return
		}
		delete(w.refresh, token)
		w.used[token] = true
		w.grant(rw, scopes, true)
	case "client_credentials":
		id, secret, basic := req.BasicAuth()
		if !basic || w.clients[id].Get("secret") != secret || secret == "" {
			bad("invalid_client")
			return
		}
		w.grant(rw, req.PostForm.Get("scope"), false)
	case grantJWTBearer:
		if code := w.checkAssertion(req); code != "" {
			bad(code)
			return
		}
		w.grant(rw, w.assertion.scope, true)
	default:
		bad("unsupported_grant_type")
	}
}

// clientOf returns the id of the client of a request.
func clientOf(req *http.Request) string {
	if id, _, basic := req.BasicAuth(); basic {
		return id
	}
	return req.PostForm.Get("client_id")
}

func (w *world) grant(rw http.ResponseWriter, scopes string, refreshable bool) {
	access := w.next("access")
	w.access[access] = scopes
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"email":"ada@example.org"}`))
	answer := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": w.lifetime, "scope": scopes, "id_token": "e30." + claims + ".x"}
	if refreshable {
		token := w.next("refresh")
		w.refresh[token] = scopes
		answer["refresh_token"] = token
	}
	if w.granted != nil {
		body, _ := json.Marshal(answer)
		w.granted(rw, body)
		return
	}
	sendJSON(rw, 200, answer)
}

func (w *world) revoke(rw http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	token := req.PostForm.Get("token")
	id, secret, basic := req.BasicAuth()
	if want := w.clients[id].Get("secret"); basic && secret != want {
		sendJSON(rw, 401, map[string]any{"error": "invalid_client"})
		return
	}
	w.revoked = append(w.revoked, token)
	delete(w.access, token)
	delete(w.refresh, token)
	if req.PostForm.Get("token_type_hint") == "access_token" { // it is a JWT, as those of oidc-provider
		sendJSON(rw, 400, map[string]any{"error": "unsupported_token_type"})
		return
	}
	rw.WriteHeader(200)
}

// expire ends all access tokens, as the server sees it.
func (w *world) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.access)
}

func (w *world) lastRedirect() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.redirect
}

func (w *world) lastToken() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}
