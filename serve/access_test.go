package serve

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/proof"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

const sampleToken = "sample-token-0123456789abcdef0123456789"

// guarded serves what echoes the request, behind the token.
func guarded(t *testing.T) *httptest.Server {
	a := &access{token: sampleToken}
	web := httptest.NewServer(a.requireToken(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "reached "+r.Header.Get("Authorization")+string(body))
	})))
	t.Cleanup(web.Close)
	return web
}

func TestGuardChecksToken(t *testing.T) {
	web := guarded(t)
	tests := []struct {
		name   string
		header []string
		status int
		asks   string
	}{
		{"none", nil, 401, `Bearer realm="toolpost"`},
		{"right", []string{"Bearer " + sampleToken}, 200, ""},
		{"another case", []string{"bearer " + sampleToken}, 200, ""},
		{"wrong", []string{"Bearer " + sampleToken[1:]}, 401, `Bearer realm="toolpost", error="invalid_token"`},
		{"longer", []string{"Bearer " + sampleToken + "x"}, 401, `Bearer realm="toolpost", error="invalid_token"`},
		{"empty", []string{"Bearer "}, 401, `Bearer realm="toolpost", error="invalid_token"`},
		{"no scheme", []string{sampleToken}, 401, `Bearer realm="toolpost", error="invalid_token"`},
		{"another scheme", []string{"Basic " + sampleToken}, 401, `Bearer realm="toolpost", error="invalid_token"`},
		{"two", []string{"Bearer " + sampleToken, "Bearer x"}, 401, `Bearer realm="toolpost", error="invalid_token"`},
	}
	for _, tt := range tests {
		for _, path := range []string{"/mcp", "/sse", "/mcp/gemini", "/", "/nothing"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+path, strings.NewReader("!"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header["Authorization"] = tt.header
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != tt.status || answer.Header.Get("WWW-Authenticate") != tt.asks {
				t.Errorf("%s, %s: %s, %q", tt.name, path, answer.Status, answer.Header.Get("WWW-Authenticate"))
			}
			if got := string(text); tt.status == 200 && got != "reached !" || strings.Contains(got, sampleToken) {
				t.Errorf("%s, %s: %q", tt.name, path, got)
			}
		}
	}
}

// TestGuardReadsNoBody refuses a request before its body has come.
func TestGuardReadsNoBody(t *testing.T) {
	conn, err := net.Dial("tcp", guarded(t).Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !answer.Close {
		t.Fatalf("%+v, %v", answer, err)
	}
}

// A foreign server asks for the token as serve does, and records what it gets.
type foreign struct {
	mu   sync.Mutex
	seen []string
	next http.Handler // answers healthPath
}

func (f *foreign) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r.Header.Get("Authorization"))
	f.mu.Unlock()
	if r.URL.Path == healthPath && f.next != nil {
		f.next.ServeHTTP(w, r)
		return
	}
	w.Header().Set("WWW-Authenticate", proof.Realm)
	w.WriteHeader(http.StatusUnauthorized)
}

func (f *foreign) check(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 {
		t.Error("it was not asked")
	}
	for _, header := range f.seen {
		if header != "" {
			t.Errorf("it was sent %q", header)
		}
	}
}

func post(t *testing.T, client *http.Client, address string) (int, string) {
	t.Helper()
	answer, err := client.Post(address+"/mcp", "application/json", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func tokenClient() *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Transport: proof.NewTransport(sampleToken, base)}
}

func TestTokenIsSentToOurServe(t *testing.T) {
	web, client := guarded(t), tokenClient()
	for range 3 {
		if status, text := post(t, client, web.URL); status != 200 || text != "reached hello" {
			t.Errorf("%d %q", status, text)
		}
	}
}

func TestTokenIsNotSentElsewhere(t *testing.T) {
	other := &access{token: sampleToken + "x"}
	ours := guarded(t)
	real, err := url.Parse(ours.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, answers := range map[string]http.Handler{
		"proves nothing":         nil,
		"knows another token":    other.requireToken(http.NotFoundHandler()),
		"passes on our proof":    httputil.NewSingleHostReverseProxy(real),
		"never ends its answer":  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "9") }),
		"sends the proof and on": http.HandlerFunc(proveAndClose),
	} {
		t.Run(name, func(t *testing.T) {
			f := &foreign{next: answers}
			web := httptest.NewServer(f)
			defer web.Close()
			if status, _ := post(t, tokenClient(), web.URL); status != http.StatusUnauthorized {
				t.Errorf("status %d", status)
			}
			f.check(t)
		})
	}
}

// proveAndClose has the right proof, but does not keep the connection that it
// holds for.
func proveAndClose(w http.ResponseWriter, r *http.Request) {
	local := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	w.Header().Set("Connection", "close")
	w.Header().Set(proof.Header, proof.Of(sampleToken, r.Header.Get(proof.ChallengeHeader), local.String()))
}

// TestTokenAfterServeHasGone has another program take the port of a serve that
// has had the token.
func TestTokenAfterServeHasGone(t *testing.T) {
	web, client := guarded(t), tokenClient()
	if status, _ := post(t, client, web.URL); status != 200 {
		t.Fatal(status)
	}
	address := web.Listener.Addr().String()
	web.Close()
	var l net.Listener
	for end := time.Now().Add(patience); l == nil; runtime.Gosched() {
		var err error
		if l, err = net.Listen("tcp", address); err != nil && time.Now().After(end) {
			t.Fatal(err)
		}
	}
	f := &foreign{}
	thief := &httptest.Server{Listener: l, Config: &http.Server{Handler: f}}
	thief.Start()
	defer thief.Close()
	client.CloseIdleConnections() // those that Close has ended
	if status, _ := post(t, client, web.URL); status != http.StatusUnauthorized {
		t.Errorf("status %d", status)
	}
	f.check(t)
}

// A refusal for now says when to try again, and does not make the client forget its
// token.
func TestRefusedForNow(t *testing.T) {
	w := httptest.NewRecorder()
	(&access{}).refuse(w, httptest.NewRequest(http.MethodPost, "/mcp", nil), &callers.Refusal{Status: http.StatusServiceUnavailable, Message: "later", RetryAfter: 5 * time.Second})
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "5" || w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

// A client secret that was rotated is used at once; other changes of who may log in
// need a restart.
func TestPermitRotatedSecret(t *testing.T) {
	options := func(change func(o *config.Access)) *config.Access {
		o := &config.Access{Issuer: "https://login.example.com", Resource: "https://tools.example.com/mcp",
			Introspection: &config.Introspection{ClientID: "toolpost", ClientSecret: "first"}}
		change(o)
		return o
	}
	same := func(*config.Access) {}
	a := &access{token: "x", options: options(same)}
	for name, change := range map[string]func(o *config.Access){
		"nothing":    same,
		"the secret": func(o *config.Access) { o.Introspection.ClientSecret = "second" },
		"issuer":     func(o *config.Access) { o.Issuer = "https://other.example.com" },
		"client":     func(o *config.Access) { o.Introspection.ClientID = "other" },
		"endpoint":   func(o *config.Access) { o.Introspection.Endpoint = "https://login.example.com/other" },
		"no more":    func(o *config.Access) { o.Introspection = nil },
	} {
		err := a.permit(&config.Config{Access: options(change)})
		if want := name == "nothing" || name == "the secret"; want != (err == nil) {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
	if a.options.Introspection.ClientSecret != "first" || a.permit(&config.Config{}) == nil {
		t.Error("the options have changed, or no longer count")
	}
}
