package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
)

// cookieLogin is the login of a web application: it knows some values of a cookie.
func cookieLogin(r *http.Request) (user, profile string, err error) {
	cookie, err := r.Cookie("session")
	if err != nil {
		return "", "", errors.New("there is no cookie")
	}
	switch cookie.Value {
	case "of-alice", "of-erin":
		return strings.TrimPrefix(cookie.Value, "of-"), "", nil
	case "of-bob":
		return "bob", "reader", nil
	case "of-carol":
		return "carol", "retired", nil
	case "of-nobody":
		return "", "", nil
	case "of-mallory":
		panic("no database")
	case "of-quote":
		return "quote", `a"b`, nil
	}
	return "", "", errors.New("the account of dave is locked")
}

// A cookieServer is an endpoint with that login, over HTTP.
type cookieServer struct {
	*Endpoint
	web   *httptest.Server // only its address
	audit string           // the folder
	log   *lockedBuffer
	stop  func() // of Serve
}

func serveCookies(t *testing.T) *cookieServer {
	t.Helper()
	cfg := load(t, `{"mcpServers": {}, "audit": true, "profiles": {"all": {}, "reader": {"include": ["*read*"]}}}`)
	s := &cookieServer{log: &lockedBuffer{}, audit: os.Getenv("XDG_STATE_HOME")}
	var err error
	if s.Endpoint, err = Open(t.Context(), cfg, &Options{Addr: "127.0.0.1:0", Logger: plainLogger(s.log), Authenticate: cookieLogin}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	long := func(context.Context, struct{}) (string, error) {
		return strings.Repeat("a line of text\n", 10_000), nil
	}
	tools := toolpost.Tools{toolpost.New("read", "Reads.", long, nil), toolpost.New("write", "Writes.", long, nil)}
	if err := s.Gateway().Add("notes", tools); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	s.web = &httptest.Server{URL: strings.TrimSuffix(s.Access().URL, "/mcp")}
	return s
}

// message returns a message of a user.
func (s *cookieServer) message(user, path, session, body string) wireMessage {
	return wireMessage{path: path, session: session, body: body, header: map[string]string{"Cookie": "session=of-" + user}}
}

func (s *cookieServer) open(t *testing.T, user, path string) (session string) {
	t.Helper()
	answer := s.message(user, path, "", initializeMessage).exchange(t, s.web)
	if session = answer.Header.Get("Mcp-Session-Id"); answer.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("%s at %s: %s", user, path, answer.Status)
	}
	return session
}

func toolCall(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// records returns the lines of the audit log.
func (s *cookieServer) records(t *testing.T) (all []struct {
	Tool      string
	Principal struct{ User, Profile string }
}) {
	t.Helper()
	err := filepath.WalkDir(s.audit, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range bytes.Lines(text) {
			all = append(all, struct {
				Tool      string
				Principal struct{ User, Profile string }
			}{})
			err = errors.Join(err, json.Unmarshal(line, &all[len(all)-1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// lockedBuffer is a buffer that is written while it is read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestAuthenticateRefuses: who is not logged in reaches nothing, and reads nothing of the
// reason, which the log has.
func TestAuthenticateRefuses(t *testing.T) {
	s := serveCookies(t)
	for user, cause := range map[string]string{"dave": "the account of dave is locked", "mallory": "no database", "nobody": "neither a user nor an error", "": "the account of"} {
		for _, path := range []string{"/mcp", "/mcp/all", "/status", "/readyz/"} {
			status, text := s.message(user, path, "", initializeMessage).send(t, s.web)
			if status != http.StatusUnauthorized || !strings.Contains(text, "you are not logged in") || strings.Contains(text, "locked") {
				t.Errorf("%q at %s: %d %s", user, path, status, text)
			}
		}
		if !strings.Contains(s.log.String(), cause) {
			t.Errorf("the log does not have %q:\n%s", cause, s.log)
		}
	}
	token := wireMessage{path: "/mcp", token: sampleToken, body: initializeMessage} // of nobody here
	if status, text := token.send(t, s.web); status != http.StatusUnauthorized {
		t.Errorf("with a token: %d %s", status, text)
	}
	if status, text := (wireMessage{method: http.MethodGet, path: "/healthz"}).send(t, s.web); status != http.StatusOK || text != `{"status":"ok"}`+"\n" {
		t.Errorf("a probe: %d %s", status, text)
	}
	if log := s.log.String(); strings.Contains(log, "/healthz") {
		t.Errorf("a probe asks the login:\n%s", log)
	}
	_, text := s.message("quote", "/mcp", "", initializeMessage).send(t, s.web)
	if !json.Valid([]byte(text)) {
		t.Errorf("not JSON: %s", text)
	}
	foreign := s.message("alice", "/mcp", "", initializeMessage)
	foreign.header["Origin"] = "https://evil.example"
	if status, text := foreign.send(t, s.web); status != http.StatusForbidden {
		t.Errorf("a foreign page with the cookie of a user: %d %s", status, text)
	}
	for user, paths := range map[string][]string{"alice": {"/status"}, "bob": {"/mcp/all", "/status"}, "carol": {"/mcp", "/mcp/reader"}} {
		for _, path := range paths {
			status, text := s.message(user, path, "", initializeMessage).send(t, s.web)
			if status != http.StatusForbidden || !strings.Contains(text, "this login is for") {
				t.Errorf("%s at %s: %d %s", user, path, status, text)
			}
		}
	}
}

// TestAuthenticateUsers: users are served their profile, share no session and no stored
// output, and the audit log names them and the profile that they were served.
func TestAuthenticateUsers(t *testing.T) {
	s := serveCookies(t)
	alice, bob := s.open(t, "alice", "/mcp"), s.open(t, "bob", "/mcp")
	_, text := s.message("alice", "/mcp", alice, toolCall("notes__write", "{}")).send(t, s.web)
	ref := regexp.MustCompile(`ref_id\\*": *\\*"([^"\\]+)`).FindStringSubmatch(text)
	if ref == nil {
		t.Fatalf("the output was not stored: %.500s", text)
	}
	read := toolCall("tool_output_cache", `{"ref_id":"`+ref[1]+`"}`)
	for user, session := range map[string]string{"alice": alice, "erin": s.open(t, "erin", "/mcp")} {
		_, text := s.message(user, "/mcp", session, read).send(t, s.web)
		if reads := strings.Contains(text, "a line of text"); reads != (user == "alice") || !reads && !strings.Contains(text, ref[1]) {
			t.Errorf("%s reads the output of alice: %v, %.500s", user, reads, text)
		}
	}
	if again := s.open(t, "alice", "/mcp/all/cursor"); again != "" {
		_, text := s.message("alice", "/mcp/all/cursor", again, toolCall("notes__read", "{}")).send(t, s.web)
		if !strings.Contains(text, "a line of text") {
			t.Errorf("alice in another profile: %.500s", text)
		}
	}
	if status, text := s.message("bob", "/mcp", alice, listMessage).send(t, s.web); status != http.StatusForbidden {
		t.Errorf("bob uses the session of alice: %d %s", status, text)
	}
	if _, text := s.message("bob", "/mcp", bob, listMessage).send(t, s.web); strings.Contains(text, "notes__write") || !strings.Contains(text, "notes__read") {
		t.Errorf("bob is not served his profile: %.500s", text)
	}
	s.EndSessions("alice")
	if status, text := s.message("alice", "/mcp", alice, listMessage).send(t, s.web); status != http.StatusNotFound {
		t.Errorf("the session of alice goes on: %d %s", status, text)
	}
	if status, text := s.message("bob", "/mcp", bob, toolCall("notes__read", "{}")).send(t, s.web); status != http.StatusOK {
		t.Errorf("the session of bob has ended: %d %.500s", status, text)
	}
	s.stop()
	s.Close()
	var calls []string
	for _, r := range s.records(t) {
		if call := r.Tool + " by " + r.Principal.User + " in " + r.Principal.Profile; r.Tool != "" && !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
	}
	for _, want := range []string{"notes__write by user alice in ", "notes__read by user alice in all", "notes__read by user bob in reader"} {
		if !slices.Contains(calls, want) {
			t.Errorf("the audit log does not have %q: %q", want, calls)
		}
	}
}

// TestOwnLoginIsAlone: what else says who may call is refused, at the start and later.
func TestOwnLoginIsAlone(t *testing.T) {
	token := config.Profile{Name: "p", Token: readerToken}
	logins := &config.Access{Issuer: "https://issuer.example", Resource: "https://tools.example.com/mcp"}
	for name, tt := range map[string]struct {
		cfg      config.Config
		insecure bool
	}{
		"a token of a profile": {config.Config{Profiles: []config.Profile{token}}, false},
		"a login of callers":   {config.Config{Access: logins}, false},
		"everybody":            {config.Config{}, true},
	} {
		e, err := Open(t.Context(), &tt.cfg, &Options{Addr: "127.0.0.1:0", Logger: quiet(), Authenticate: cookieLogin, Insecure: tt.insecure})
		if err == nil || !strings.Contains(err.Error(), "leave") {
			t.Errorf("%s: %v", name, err)
		}
		if e != nil {
			e.Close()
		}
		if a := (&access{ask: (&Endpoint{}).ask}); !tt.insecure && a.permit(&tt.cfg) == nil {
			t.Errorf("%s is accepted later", name)
		}
	}
}

// TestAuthenticateEndsStreams: a user who has logged out does not go on listening without a
// session.
func TestAuthenticateEndsStreams(t *testing.T) {
	s := serveCookies(t)
	m := s.message("alice", "/mcp", "", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	m.header["Mcp-Method"], m.header["MCP-Protocol-Version"] = "subscriptions/listen", "2026-07-28"
	answer := m.exchange(t, s.web)
	stream := bufio.NewReader(answer.Body)
	if event, err := stream.ReadString('\n'); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", answer.Status, event, err)
	}
	s.EndSessions("alice")
	if rest, err := io.ReadAll(stream); err != nil || !strings.Contains(string(rest), `"resultType":"complete"`) {
		t.Errorf("%s, %v", rest, err)
	}
}
