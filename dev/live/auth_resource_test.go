//go:build unix

package live

import (
	"bytes"
	"context"
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

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// A protectedServer is an MCP server that wants a token of an authorization
// server, as RFC 9728 and the MCP specification describe it: its tool "read"
// needs the scope mcp:read, "write" needs mcp:write in addition.
type protectedServer struct {
	*httptest.Server
	auth   *authServer
	opaque bool // tokens are introspected
	mcp    http.Handler

	mu      sync.Mutex
	refused map[string]bool // tokens that are valid, but not for this server
	seen    []string        // tokens that were accepted, in order, without repetition
	refuses bool            // the next token is refused
}

func newProtectedServer(t *testing.T, auth *authServer, opaque bool) *protectedServer {
	t.Helper()
	p := &protectedServer{auth: auth, opaque: opaque, refused: map[string]bool{}}
	type none struct{}
	says := func(text string) func(context.Context, none) (string, error) {
		return func(context.Context, none) (string, error) { return text, nil }
	}
	server, err := mcpserver.New(t.Context(), toolpost.Tools{
		toolpost.New("read", "Reads something", says("read something"), nil),
		toolpost.New("write", "Writes something", says("wrote something"), nil),
	}, &mcpserver.Options{Name: "protected", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	p.mcp = server
	p.Server = listen(t, http.HandlerFunc(p.serve))
	t.Cleanup(func() { server.Close() }) //nolint:errcheck // the test ends
	return p
}

// resource is the address of the server, which is the audience of its tokens.
func (p *protectedServer) resource() string { return p.URL + "/mcp" }

// refuseToken makes the server refuse the token of the next request from then
// on, as if it was revoked.
func (p *protectedServer) refuseToken() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = true
}

// tokens returns how many different tokens the server has accepted.
func (p *protectedServer) tokens() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen)
}

func (p *protectedServer) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		reply(w, object{"resource": p.resource(), "authorization_servers": []string{p.auth.issuer}, "scopes_supported": []string{"mcp:read"}})
		return
	case "/mcp":
	default:
		http.NotFound(w, r)
		return
	}
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		p.challenge(w, http.StatusUnauthorized, "", "mcp:read")
		return
	}
	scopes, err := p.verify(r.Context(), token)
	if err != nil {
		p.challenge(w, http.StatusUnauthorized, "invalid_token", "mcp:read")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var call struct {
		Method string
		Params struct{ Name string }
	}
	if json.Unmarshal(body, &call) == nil && call.Method == "tools/call" && call.Params.Name == "write" && !slices.Contains(scopes, "mcp:write") {
		p.challenge(w, http.StatusForbidden, "insufficient_scope", "mcp:write")
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.mcp.ServeHTTP(w, r)
}

func (p *protectedServer) challenge(w http.ResponseWriter, status int, code, scope string) {
	header := fmt.Sprintf("Bearer resource_metadata=%q, scope=%q", p.URL+"/.well-known/oauth-protected-resource/mcp", scope)
	if code != "" {
		header += fmt.Sprintf(", error=%q", code)
	}
	w.Header().Set("WWW-Authenticate", header)
	w.WriteHeader(status)
}

// verify returns the scopes of a valid token for this server.
func (p *protectedServer) verify(ctx context.Context, token string) ([]string, error) {
	claims, err := p.claims(ctx, token)
	if err != nil {
		return nil, err
	}
	if !claims.Audience.contains(p.resource()) {
		return nil, fmt.Errorf("the token is for %q", claims.Audience)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses {
		p.refuses, p.refused[token] = false, true
	}
	if p.refused[token] {
		return nil, fmt.Errorf("the token is refused")
	}
	if !slices.Contains(p.seen, token) {
		p.seen = append(p.seen, token)
	}
	return strings.Fields(claims.Scope), nil
}

type tokenClaims struct {
	Active   bool
	Scope    string
	Audience audience `json:"aud"`
}

// An audience is one address, or a list.
type audience []string

func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

func (a audience) contains(s string) bool { return slices.Contains(a, s) }

func (p *protectedServer) claims(ctx context.Context, token string) (c tokenClaims, err error) {
	if p.opaque {
		return p.introspect(ctx, token)
	}
	provider, err := oidc.NewProvider(ctx, p.auth.issuer)
	if err != nil {
		return c, err
	}
	verified, err := provider.Verifier(&oidc.Config{SkipClientIDCheck: true}).Verify(ctx, token)
	if err != nil {
		return c, err
	}
	return c, verified.Claims(&c)
}

// introspect asks oidc-provider for a token, as RFC 7662 describes.
func (p *protectedServer) introspect(ctx context.Context, token string) (c tokenClaims, err error) {
	body := strings.NewReader(url.Values{"token": {token}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.auth.issuer+"/token/introspection", body)
	if err != nil {
		return c, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("resource-server", "introspects")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&c); err != nil || !c.Active {
		return c, fmt.Errorf("the token is not active (%v)", err)
	}
	return c, nil
}
