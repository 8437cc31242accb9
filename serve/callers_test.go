package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/mcpserver"
)

// authority is an authorization server that knows some opaque tokens.
func authority(t *testing.T, tokens map[string]map[string]any) string {
	var address string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any = map[string]any{"issuer": address, "introspection_endpoint": address + "/introspect"}
		if r.Method == http.MethodPost {
			claims := map[string]any{"active": false}
			if known := tokens[r.FormValue("token")]; known != nil {
				claims = map[string]any{"active": true, "aud": "https://tools.example.com/mcp", "exp": time.Now().Add(time.Hour).Unix()}
				maps.Copy(claims, known)
			}
			answer = claims
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(web.Close)
	address = web.URL
	return address
}

// A callerServer is what serve is for its callers: with named tokens, an
// authorization server and two profiles.
type callerServer struct {
	*httptest.Server
	issuer string
	named  *callers.Tokens
}

func serveCallers(t *testing.T, tokens map[string]map[string]any) *callerServer {
	t.Helper()
	return serveCallersAt(t, "https://tools.example.com/mcp", tokens)
}

// serveCallersAt is serveCallers with a public address.
func serveCallersAt(t *testing.T, resource string, tokens map[string]map[string]any) *callerServer {
	t.Helper()
	issuer := authority(t, tokens)
	cfg, err := config.Parse("toolpost.json", fmt.Appendf(nil, `{"mcpServers": {}, "profiles": {"all": {}, "reader": {"include": ["read_*"]}},
		"access": {"issuer": %q, "resource": %q, "scopes": ["tools"], "profiles": {"write": "all", "read": "reader"},
			"introspection": {"clientId": "toolpost", "clientSecret": "secret"}}}`, issuer, resource), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	tools := toolpost.Tools{whoTool("read_who"), whoTool("write_who")}
	live, err := toolpost.NewLive(t.Context(), tools)
	if err != nil {
		t.Fatal(err)
	}
	views, err := gateway.NewViews(live, cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &Endpoint{log: slog.New(slog.DiscardHandler), running: t.Context(), endWaiting: func() {}, live: live}
	err = s.start(live, &mcpserver.Options{Identity: identity, Hosts: []string{"tools.example.com"}, Views: views})
	if err != nil {
		t.Fatal(err)
	}
	login, err := callers.NewResource(loginOptions(cfg.Access))
	if err != nil {
		t.Fatal(err)
	}
	s.access = &access{token: sampleToken, login: login, options: cfg.Access}
	s.access.useProfiles(cfg)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	s.followTokens()
	mux := http.NewServeMux()
	mux.Handle("/", s.mcp)
	mux.HandleFunc("GET "+statusPath, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })
	web := httptest.NewServer(s.protect(mux))
	t.Cleanup(func() {
		_ = s.Close()
		web.Close()
		_ = views.Close()
		live.Close()
	})
	return &callerServer{web, issuer, s.access.named}
}

// whoTool answers with the owner of the call.
func whoTool(name string) *toolpost.Tool {
	t := toolpost.New(name, "Answers.", func(context.Context, struct{}) (string, error) { return "", nil }, nil)
	t.Handler = func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return toolpost.TextResult(fmt.Sprintf("party=%s holder=%s", hidden.OwnerOf(call).Party, call.Session)), nil
	}
	return t
}

func user(subject, scope string) map[string]any {
	return map[string]any{"sub": subject, "scope": scope}
}

const whoCall = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_who","arguments":{}}}`

// A session serves only the caller that opened it, with any token that allows as much.
func TestLoginSession(t *testing.T) {
	s := serveCallers(t, map[string]map[string]any{
		"alice-1": user("alice", "tools write read"), "alice-2": user("alice", "tools write"), "alice-less": user("alice", "tools read"),
		"bob": user("bob", "tools write"), "poor": user("alice", "write"),
	})
	id := openSession(t, s.Server, "/mcp", "alice-1")
	for name, tt := range map[string]struct {
		token  string
		status int
		text   string
	}{
		"the same":      {"alice-1", 200, "party=subject alice@" + s.issuer + " test"},
		"a renewed one": {"alice-2", 200, "party=subject alice@" + s.issuer + " test"},
		"another user":  {"bob", 403, "belongs to another user"},
		"less allowed":  {"alice-less", 403, "another address, or with a token that allows something else"},
		"a missing one": {"", 401, "log in at " + s.issuer},
		"a wrong one":   {"mallory", 401, "was revoked, has expired, or is not one of " + s.issuer},
		"the owner's":   {sampleToken, 403, "belongs to another user"},
		"without scope": {"poor", 403, "the token lacks the scope tools"},
	} {
		status, text := wireMessage{path: "/mcp", token: tt.token, session: id, body: whoCall}.send(t, s.Server)
		if status != tt.status || !strings.Contains(text, tt.text) {
			t.Errorf("%s: %d %s", name, status, text)
		}
		if tt.status != 200 {
			for _, method := range []string{http.MethodGet, http.MethodDelete} {
				if status, text := (wireMessage{method: method, path: "/mcp", token: tt.token, session: id}).send(t, s.Server); status != tt.status {
					t.Errorf("%s, %s: %d %s", name, method, status, text)
				}
			}
		}
	}
}

// What a client needs to log in is in the refusal. Nothing else is reached.
func TestLoginChallenge(t *testing.T) {
	s := serveCallers(t, map[string]map[string]any{"alice": user("alice", "tools read")})
	for name, tt := range map[string]struct {
		message wireMessage
		status  int
		header  string
	}{
		"no token":         {wireMessage{path: "/mcp"}, 401, proof.Realm + `, resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp", scope="tools write"`},
		"no token, reader": {wireMessage{path: "/mcp/reader"}, 401, `/oauth-protected-resource/mcp/reader", scope="tools read"`},
		"wrong":            {wireMessage{path: "/mcp", token: "x"}, 401, proof.Realm + `, error="invalid_token", resource_metadata="https://tools.example.com/`},
		"more is needed":   {wireMessage{path: "/mcp/all", token: "alice"}, 403, proof.Realm + `, error="insufficient_scope", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp/all", scope="tools write"`},
		"status":           {wireMessage{method: "GET", path: statusPath, token: "alice"}, 403, ""},
		"in the address":   {wireMessage{path: "/mcp?access_token=alice"}, 400, `error="invalid_request"`},
		"a dialect":        {wireMessage{path: "/mcp/all/cursor", token: "alice"}, 403, `scope="tools write"`},
	} {
		tt.message.body = initializeMessage
		answer := tt.message.exchange(t, s.Server)
		header := answer.Header.Get("WWW-Authenticate")
		if tt.message.token == "" && !strings.Contains(tt.message.path, "access_token") && strings.Contains(header, "error") {
			t.Errorf("%s: an error without a token: %s", name, header)
		}
		if answer.StatusCode != tt.status || !strings.Contains(header, tt.header) {
			t.Errorf("%s: %d %s", name, answer.StatusCode, header)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/.well-known/oauth-protected-resource/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{"": 200, "evil.example": 403} {
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want || want == 200 && !strings.Contains(string(text), `"resource":"https://tools.example.com/mcp"`) || want == 200 && strings.Contains(string(text), "evil") {
			t.Errorf("%q: %d %s", host, answer.StatusCode, text)
		}
	}
	two, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader(initializeMessage))
	if err != nil {
		t.Fatal(err)
	}
	two.Header["Authorization"] = []string{"Bearer alice", "Bearer " + sampleToken}
	answer, err := http.DefaultClient.Do(two)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("two headers: %s", answer.Status)
	}
}

// Two people with one client share nothing, with sessions and without.
func TestOwnersOfCallers(t *testing.T) {
	s := serveCallers(t, map[string]map[string]any{"alice": user("alice", "tools read"), "bob": user("bob", "tools read")})
	owner := func(token string) string {
		body := `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_who","arguments":{},"_meta":{
			"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call", "Mcp-Name": "read_who", "Authorization": "Bearer " + token} {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", answer.Status, text)
		}
		return string(text)
	}
	for _, name := range []string{"alice", "bob"} {
		if got, want := owner(name), "party=subject "+name+"@"+s.issuer+" test holder=subject "+name+"@"+s.issuer; !strings.Contains(got, want) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// The streams and sessions of a token end when it is revoked, and those of others go on.
func TestRevokedTokenEndsStreams(t *testing.T) {
	s := serveCallers(t, nil)
	secrets := map[string]string{}
	for _, name := range []string{"ci", "other"} {
		secret, err := s.named.Add(t.Context(), name, "reader", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = secret
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if caller, _ := s.named.Check(secret); caller != nil {
				break
			} else if time.Now().After(end) {
				t.Fatal("the token was not noticed")
			}
		}
	}
	id, other := openSession(t, s.Server, "/mcp", secrets["ci"]), openSession(t, s.Server, "/mcp", secrets["other"])
	stream := wireMessage{method: http.MethodGet, path: "/mcp", token: secrets["ci"], session: id}.exchange(t, s.Server)
	sse := wireMessage{method: http.MethodGet, path: "/sse", token: secrets["ci"]}.exchange(t, s.Server)
	if stream.StatusCode != http.StatusOK || sse.StatusCode != http.StatusOK {
		t.Fatalf("%s, %s", stream.Status, sse.Status)
	}
	if err := s.named.Revoke(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	for _, open := range []*http.Response{stream, sse} {
		if _, err := io.Copy(io.Discard, open.Body); err != nil { // the end of a stream that goes on is the client's timeout
			t.Errorf("the stream was not ended: %v", err)
		}
	}
	if status, text := (wireMessage{path: "/mcp", token: secrets["ci"], session: id, body: listMessage}).send(t, s.Server); status != 401 || !strings.Contains(text, "was revoked") {
		t.Errorf("%d %s", status, text)
	}
	if status, text := (wireMessage{path: "/mcp", token: secrets["other"], session: other, body: listMessage}).send(t, s.Server); status != 200 {
		t.Errorf("another caller: %d %s", status, text)
	}
	if status, text := (wireMessage{path: "/mcp", token: secrets["other"], session: id, body: listMessage}).send(t, s.Server); status != 404 {
		t.Errorf("the session of the revoked token: %d %s", status, text)
	}
}
