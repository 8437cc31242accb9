package callers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/internal/access/callers"
)

const resource = "https://tools.example.com/mcp"

func newResource(t *testing.T, o *callers.Options) *callers.Resource {
	t.Helper()
	if o.Resource == "" {
		o.Resource = resource
	}
	s, err := callers.NewResource(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// claimsOf are the claims of a good token, with others.
func claimsOf(a *authority, others map[string]any) map[string]any {
	c := map[string]any{"iss": a.URL, "sub": "alice", "aud": resource, "scope": "tools read", "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(c, others)
	for name, value := range c {
		if value == nil {
			delete(c, name)
		}
	}
	return c
}

func rs256(kid string) map[string]any {
	return map[string]any{"alg": "RS256", "kid": kid, "typ": "at+jwt"}
}

func TestJWT(t *testing.T) {
	a := newAuthority(t)
	s := newResource(t, &callers.Options{Issuer: a.URL, Scopes: []string{"tools"}})
	sign := func(others map[string]any) string { return signed(t, 0, rs256("first"), claimsOf(a, others)) }
	now := time.Now()
	tests := []struct {
		name, token, refused string // by its message; "" if it is good
	}{
		{"good", sign(nil), ""},
		{"several audiences", sign(map[string]any{"aud": []string{"x", resource + "/"}}), ""},
		{"scp", sign(map[string]any{"scope": nil, "scp": []string{"tools"}}), ""},
		{"just expired", sign(map[string]any{"exp": now.Add(-5 * time.Second).Unix()}), ""},
		{"no kid", signed(t, 0, map[string]any{"alg": "RS256"}, claimsOf(a, nil)), ""},
		{"wrong audience", sign(map[string]any{"aud": "https://other.example.com/mcp"}), "is for another server: ask " + a.URL + " for one with the resource " + resource},
		{"audience that begins alike", sign(map[string]any{"aud": resource + ".evil.example"}), "is for another server"},
		{"audience of the host", sign(map[string]any{"aud": "https://tools.example.com"}), "is for another server"},
		{"no audience", sign(map[string]any{"aud": nil}), "is for another server"},
		{"wrong issuer", sign(map[string]any{"iss": "https://evil.example"}), "is of another issuer: log in at " + a.URL},
		{"no issuer", sign(map[string]any{"iss": nil}), "is of another issuer"},
		{"expired", sign(map[string]any{"exp": now.Add(-time.Hour).Unix()}), "the token expired at "},
		{"never expires", sign(map[string]any{"exp": nil}), "does not say when it expires"},
		{"not yet valid", sign(map[string]any{"nbf": now.Add(time.Hour).Unix()}), "is not good before "},
		{"no subject", sign(map[string]any{"sub": nil}), "does not name its subject"},
		{"a subject with a line end", sign(map[string]any{"sub": "alice\nbob"}), "does not name its subject"},
		{"alg none", unsigned(t, map[string]any{"alg": "none"}, claimsOf(a, nil)) + ".", "is not one that " + a.URL + " has signed"},
		{"HS256 with the public key", withPublicKey(t, claimsOf(a, nil)), "is not one that"},
		{"another key of the same name", signed(t, 1, rs256("first"), claimsOf(a, nil)), "is not one that"},
		{"changed claims", strings.Replace(sign(nil), ".", ".A", 1), "is not one that"},
		{"a token of a logout", signed(t, 0, map[string]any{"alg": "RS256", "kid": "first", "typ": "logout+jwt"}, claimsOf(a, nil)), "is not an access token"},
		{"not a JWT", "opaque", "is not an access token"},
		{"too long", strings.Repeat("a", 1<<20), "too long"},
		{"an audience in another case", sign(map[string]any{"aud": "https://other.example.com/mcp", "AUD": resource}), "is for another server"},
		{"an expiry in another case", sign(map[string]any{"exp": now.Add(-time.Hour).Unix(), "Exp": now.Add(time.Hour).Unix()}), "the token expired at "},
		{"a subject in another case", sign(map[string]any{"sub": nil, "Sub": "alice"}), "does not name its subject"},
		{"claims of another form", sign(map[string]any{"scope": 7}), "claims of another form"},
	}
	for _, tt := range tests {
		caller, refusal := s.Check(t.Context(), tt.token, "/mcp")
		switch {
		case tt.refused == "" && refusal != nil:
			t.Errorf("%s: %v", tt.name, refusal)
		case tt.refused == "" && (caller.Identity != "alice@"+a.URL || caller.Profiles != nil):
			t.Errorf("%s: %+v", tt.name, caller)
		case tt.refused == "":
		case refusal == nil || refusal.Status != http.StatusUnauthorized || refusal.Code != "invalid_token" || !strings.Contains(refusal.Message, tt.refused):
			t.Errorf("%s: got %+v", tt.name, refusal)
		case strings.ContainsAny(refusal.Message, "\"\\\n") || strings.Contains(refusal.Message, "evil"):
			t.Errorf("%s: the message has foreign text: %q", tt.name, refusal.Message)
		}
	}
}

// A missing scope is asked for, and no more than is needed.
func TestScopes(t *testing.T) {
	a := newAuthority(t)
	s := newResource(t, &callers.Options{Issuer: a.URL, Scopes: []string{"tools"}, Profiles: []callers.ScopeProfile{{Scope: "write", Profile: "all"}, {Scope: "read", Profile: "reading"}}})
	for _, tt := range []struct{ scope, path, profiles, needs string }{
		{"tools read", "/mcp", "[reading]", ""},
		{"tools read write", "/mcp", "[all reading]", ""},
		{"tools read", "/mcp/reading", "[reading]", ""},
		{"tools read", "/mcp/all", "", "tools write"},
		{"tools read", "/mcp/all/cursor", "", "tools write"},
		{"tools", "/mcp", "", "tools write"},
		{"tools", "/mcp/reading", "", "tools read"},
		{"tools", "/sse/reading", "", "tools read"},
		{"read write", "/mcp/reading", "", "tools read"},
		{"", "/mcp", "", "tools write"},
		{"toolsread", "/mcp", "", "tools write"},
	} {
		caller, refusal := s.Check(t.Context(), signed(t, 0, rs256("first"), claimsOf(a, map[string]any{"scope": tt.scope})), tt.path)
		switch {
		case tt.needs == "" && (refusal != nil || fmt.Sprint(caller.Profiles) != tt.profiles):
			t.Errorf("%q at %s: %+v, %v", tt.scope, tt.path, caller, refusal)
		case tt.needs != "" && (refusal == nil || refusal.Status != http.StatusForbidden || refusal.Code != "insufficient_scope" || refusal.Scope != tt.needs):
			t.Errorf("%q at %s: %+v, %+v", tt.scope, tt.path, caller, refusal)
		}
	}
}

// The audience of one profile is not good for another one, nor for everything.
func TestAudienceOfAProfile(t *testing.T) {
	a := newAuthority(t)
	for _, tt := range []struct {
		audience, path string
		configured     []string
		good           bool
	}{
		{resource, "/mcp/reading", nil, true},
		{resource + "/reading", "/mcp/reading", nil, true},
		{resource + "/reading", "/mcp/reading/cursor", nil, true},
		{resource + "/reading", "/mcp", nil, false},
		{resource + "/reading", "/mcp/writing", nil, false},
		{resource + "/reading", "/mcp/readin", nil, false},
		{"https://tools.example.com/sse", "/sse", nil, true},
		{"https://tools.example.com/sse", "/mcp", nil, false},
		{resource, "/sse", nil, true},
		{"api://tools", "/mcp/reading", []string{"api://tools"}, true},
		{resource, "/mcp", []string{"api://tools"}, false},
	} {
		s := newResource(t, &callers.Options{Issuer: a.URL, Audience: tt.configured})
		_, refusal := s.Check(t.Context(), signed(t, 0, rs256("first"), claimsOf(a, map[string]any{"aud": tt.audience})), tt.path)
		if tt.good != (refusal == nil) {
			t.Errorf("%s at %s: %v", tt.audience, tt.path, refusal)
		}
	}
}

// New keys are noticed. Tokens with unknown keys cannot make us fetch them without end.
func TestKeysRotate(t *testing.T) {
	a := newAuthority(t)
	s := newResource(t, &callers.Options{Issuer: a.URL})
	check := func(key int64, kid string) *callers.Refusal {
		_, refusal := s.Check(t.Context(), signed(t, key, rs256(kid), claimsOf(a, nil)), "/mcp")
		return refusal
	}
	if refusal := check(0, "first"); refusal != nil {
		t.Fatal(refusal)
	}
	a.key.Store(1)
	// Package oidc answers before it has replaced the keys: for a moment, another
	// token is checked with those before.
	await(t, "a new key is good", func() bool { return check(1, "second") == nil })
	await(t, "a key that was withdrawn is refused", func() bool {
		refusal := check(0, "first")
		return refusal != nil && refusal.Status == http.StatusUnauthorized
	})
	before, later := time.Now(), 0
	for i := range 200 {
		refusal := check(0, fmt.Sprint("unknown", i))
		switch {
		case refusal != nil && refusal.Status == http.StatusServiceUnavailable && refusal.Code == "" && refusal.RetryAfter > 0:
			later++ // the key may be a new one
		case refusal == nil || refusal.Status != http.StatusUnauthorized:
			t.Fatalf("an unknown key: %+v", refusal)
		}
	}
	if refused := int64(200 - later); refused > a.fetches.Load() {
		t.Errorf("%d tokens were called invalid after %d fetches of the keys: a client with a new key would forget its token", refused, a.fetches.Load())
	}
	if most := 20 + int64(time.Since(before)/time.Second); a.fetches.Load() > most {
		t.Errorf("the keys were fetched %d times", a.fetches.Load())
	}
	if refusal := check(1, "second"); refusal != nil {
		t.Errorf("the known key: %v", refusal)
	}
}

// A client keeps its token while the authorization server cannot be reached.
func TestIssuerFails(t *testing.T) {
	for name, fail := range map[string]func(a *authority){
		"broken":             func(a *authority) { a.broken.Store(true) },
		"another issuer":     func(a *authority) { a.claimed = "https://evil.example" },
		"gone":               func(a *authority) { a.Close() },
		"keys are elsewhere": func(a *authority) { a.redirect = func(*http.Request) string { return a.URL + "/elsewhere" } },
	} {
		a := newAuthority(t)
		fail(a)
		s := newResource(t, &callers.Options{Issuer: a.URL})
		_, refusal := s.Check(t.Context(), signed(t, 0, rs256("first"), claimsOf(a, nil)), "/mcp")
		if refusal == nil || refusal.Status != http.StatusServiceUnavailable || refusal.Code != "" || !strings.Contains(refusal.Message, a.URL) {
			t.Errorf("%s: %+v", name, refusal)
		}
	}
}

func TestIntrospection(t *testing.T) {
	a := newAuthority(t)
	s := newResource(t, &callers.Options{Issuer: a.URL, Scopes: []string{"tools"}, Introspection: &callers.Introspection{ClientID: "gate/way", ClientSecret: "s:cret"}})
	n := 0
	check := func(others map[string]any) (*callers.Caller, *callers.Refusal) {
		n++
		a.introspec = claimsOf(a, others)
		return s.Check(t.Context(), fmt.Sprint("opaque", n), "/mcp")
	}
	caller, refusal := check(map[string]any{"active": true, "iss": nil, "exp": nil})
	if refusal != nil || caller.Identity != "alice@"+a.URL {
		t.Fatalf("got %+v, %v", caller, refusal)
	}
	if _, refusal := s.Check(t.Context(), "opaque1", "/mcp"); refusal != nil || a.asked.Load() != 1 {
		t.Errorf("the answer is not used again: %v, %d", refusal, a.asked.Load())
	}
	if caller, refusal := check(map[string]any{"active": true, "sub": nil, "client_id": "robot"}); refusal != nil || caller.Identity != "client robot@"+a.URL {
		t.Errorf("got %+v, %v", caller, refusal)
	}
	for name, others := range map[string]map[string]any{
		"not active":     {"active": false},
		"no answer":      {},
		"wrong audience": {"active": true, "aud": "https://other.example.com"},
		"no audience":    {"active": true, "aud": nil},
		"wrong issuer":   {"active": true, "iss": "https://evil.example"},
		"expired":        {"active": true, "exp": 1},
	} {
		if _, refusal := check(others); refusal == nil || refusal.Status != http.StatusUnauthorized {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	if _, refusal := check(map[string]any{"active": true, "scope": "other"}); refusal == nil || refusal.Code != "insufficient_scope" {
		t.Errorf("got %v", refusal)
	}
	s.UseSecret("rotated")
	if _, refusal := check(map[string]any{"active": true}); refusal == nil || refusal.Status != http.StatusServiceUnavailable {
		t.Errorf("with a secret that the server does not know: %v", refusal)
	}
	s.UseSecret("s:cret")
	if _, refusal := check(map[string]any{"active": true}); refusal != nil {
		t.Errorf("with the right secret again: %v", refusal)
	}
	a.broken.Store(true)
	if _, refusal := check(map[string]any{"active": true}); refusal == nil || refusal.Status != http.StatusServiceUnavailable {
		t.Errorf("got %v", refusal)
	}
}

// Tokens that strangers make up do not flood the authorization server, and good
// tokens stay good meanwhile.
func TestIntrospectionOfStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &askedServer{good: "good"}
		s := newResource(t, &callers.Options{Issuer: "https://login.example.com", Introspection: &callers.Introspection{ClientID: "x", Endpoint: "https://login.example.com/introspect"}})
		callers.SetTransport(s, a)
		check := func(token string) *callers.Refusal {
			_, refusal := s.Check(t.Context(), token, "/mcp")
			return refusal
		}
		if refusal := check("good"); refusal != nil {
			t.Fatal(refusal)
		}
		busy := 0
		for i := range 3000 {
			refusal := check(fmt.Sprint("made up", i))
			switch {
			case refusal == nil:
				t.Fatal("a token that was made up is good")
			case refusal.Status == http.StatusServiceUnavailable && refusal.Code == "" && refusal.RetryAfter > 0:
				busy++
			case refusal.Status != http.StatusUnauthorized:
				t.Fatalf("got %+v", refusal)
			}
		}
		if asked := a.asked["good"] + 3000 - busy; busy == 0 || a.total > 100 || a.total != asked {
			t.Errorf("the authorization server was asked %d times, %d tokens have to wait", a.total, busy)
		}
		if refusal := check("good"); refusal != nil || a.asked["good"] != 1 {
			t.Errorf("the good token was displaced: %v, asked %d times", refusal, a.asked["good"])
		}
		time.Sleep(31 * time.Second) // its answer has to be renewed, under the same flood
		for i := range 200 {
			_ = check(fmt.Sprint("made up later", i))
		}
		if refusal := check("good"); refusal != nil || a.asked["good"] != 2 {
			t.Errorf("the good token waits for strangers: %v, asked %d times", refusal, a.asked["good"])
		}
		for i := range 2000 { // slowly, so that each one is asked about
			time.Sleep(100 * time.Millisecond)
			_ = check(fmt.Sprint("made up slowly", i))
			_ = check("good")
		}
		if known, refused := callers.Kept(s); known != 1 || refused > 1000 {
			t.Errorf("%d good and %d other answers are kept", known, refused)
		}
	})
}

// An askedServer is an authorization server that knows one token.
type askedServer struct {
	good  string
	asked map[string]int
	total int
}

// RoundTrip answers an introspection.
func (a *askedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.asked == nil {
		a.asked = map[string]int{}
	}
	token := r.FormValue("token")
	a.asked[token]++
	a.total++
	w := httptest.NewRecorder()
	writeJSON(w, map[string]any{"active": token == a.good, "sub": "alice", "aud": resource, "exp": time.Now().Add(time.Hour).Unix()})
	return w.Result(), nil
}

// The addresses of the metadata come from the configuration, not from the request.
func TestMetadata(t *testing.T) {
	s := newResource(t, &callers.Options{Issuer: "https://login.example.com", Scopes: []string{"tools"}, Profiles: []callers.ScopeProfile{{Scope: "read", Profile: "reading"}}})
	get := func(path string) (int, map[string]any) {
		r := httptest.NewRequest(http.MethodGet, "http://evil.example"+path, nil)
		r.Header.Set("X-Forwarded-Host", "evil.example")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var metadata map[string]any
		if w.Code == http.StatusOK {
			if err := json.Unmarshal(w.Body.Bytes(), &metadata); err != nil || strings.Contains(w.Body.String(), "evil") {
				t.Errorf("%s: %v, %s", path, err, w.Body)
			}
		}
		return w.Code, metadata
	}
	const at = "/.well-known/oauth-protected-resource"
	for path, want := range map[string]string{at: resource, at + "/mcp": resource, at + "/mcp/reading": resource + "/reading", at + "/mcp/reading/cursor": resource + "/reading/cursor", at + "/sse": "https://tools.example.com/sse"} {
		status, metadata := get(path)
		if status != http.StatusOK || metadata["resource"] != want || fmt.Sprint(metadata["authorization_servers"]) != "[https://login.example.com]" || fmt.Sprint(metadata["scopes_supported"]) != "[read tools]" {
			t.Errorf("%s: %d %v", path, status, metadata)
		}
	}
	for _, path := range []string{at + "/other", at + "/mcpx", at + "/mcp/a/b/c", at + "/mcp/a%22b", at + "/mcp/@evil.example"} {
		if status, _ := get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
	refusal := &callers.Refusal{Status: http.StatusUnauthorized, Code: "invalid_token", Message: "why"}
	for path, want := range map[string]string{
		"/mcp":           `, resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp", scope="tools read", error_description="why"`,
		"/mcp/reading":   `, resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp/reading", scope="tools read", error_description="why"`,
		"/mcp/a\"b":      `, resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp", scope="tools read", error_description="why"`,
		"/sse":           `, resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/sse", scope="tools read", error_description="why"`,
		"/status/../mcp": `, resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp", scope="tools read", error_description="why"`,
	} {
		if got := s.Challenge(refusal, path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestOptions(t *testing.T) {
	good := callers.Options{Issuer: "http://127.0.0.1:1"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	bad := map[string]func(o *callers.Options){
		"http beyond this machine": func(o *callers.Options) { o.Issuer = "http://login.example.com" },
		"no issuer":                func(o *callers.Options) { o.Issuer = "" },
		"an issuer with a query":   func(o *callers.Options) { o.Issuer = "https://login.example.com?x" },
		"an issuer with a user":    func(o *callers.Options) { o.Issuer = "https://a@login.example.com" },
		"an issuer with a quote":   func(o *callers.Options) { o.Issuer = `https://login.example.com/"` },
		"a resource with a slash":  func(o *callers.Options) { o.Resource = resource + "/" },
		"a resource beyond https":  func(o *callers.Options) { o.Resource = "http://tools.example.com/mcp" },
		"offline_access":           func(o *callers.Options) { o.Scopes = []string{"offline_access"} },
		"a scope with a space":     func(o *callers.Options) { o.Scopes = []string{"a b"} },
		"a scope with a quote":     func(o *callers.Options) { o.Profiles = []callers.ScopeProfile{{Scope: `"`, Profile: "p"}} },
		"introspection without id": func(o *callers.Options) { o.Introspection = &callers.Introspection{} },
		"introspection beyond https": func(o *callers.Options) {
			o.Introspection = &callers.Introspection{ClientID: "x", Endpoint: "http://login.example.com"}
		},
	}
	for _, name := range slices.Sorted(maps.Keys(bad)) {
		o := good
		bad[name](&o)
		if o.Check() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// No subject has the name of a client, or of another subject.
func TestIdentitiesDiffer(t *testing.T) {
	a := newAuthority(t)
	s := newResource(t, &callers.Options{Issuer: a.URL})
	seen := map[string]int{}
	for i, who := range []map[string]any{
		{"sub": nil, "client_id": "ci"}, {"sub": nil, "client_id": "client ci"}, {"sub": "client ci"}, {"sub": "client client ci"},
		{"sub": "subject client ci"}, {"sub": "ci"}, {"sub": "subject ci"}, {"sub": nil, "client_id": "subject ci"},
	} {
		caller, refusal := s.Check(t.Context(), signed(t, 0, rs256("first"), claimsOf(a, who)), "/mcp")
		if refusal != nil {
			t.Fatal(refusal)
		}
		if other, known := seen[caller.Identity]; known {
			t.Errorf("numbers %d and %d are both %q", other, i, caller.Identity)
		}
		seen[caller.Identity] = i
	}
}
