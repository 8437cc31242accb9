package serve

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/mcpserver"
)

// protected serves the tool who as serve does, also in the profiles p and q, and reports "reached" at /status.
func protected(t *testing.T, a *access, o *mcpserver.Options) (*Endpoint, *httptest.Server) {
	t.Helper()
	live, err := toolpost.NewLive(t.Context(), toolpost.Tools{whoTool("who")})
	if err != nil {
		t.Fatal(err)
	}
	views, err := gateway.NewViews(live, &config.Config{Profiles: []config.Profile{{Name: "p"}, {Name: "q"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Endpoint{log: slog.New(slog.DiscardHandler), running: t.Context(), endWaiting: func() {}, live: live, access: a}
	o.Identity, o.Views = identity, views
	if err := s.start(live, o); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", s.mcp)
	for _, path := range []string{"GET " + statusPath, "GET " + healthPath, "GET " + readyPath} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })
	}
	web := httptest.NewServer(s.protect(mux))
	t.Cleanup(func() {
		_ = s.Close()
		web.Close()
		live.Close()
	})
	return s, web
}

// A page that has another name resolved to this machine gets no answer, with a token
// and without.
func TestProbesOfOtherHosts(t *testing.T) {
	for _, a := range []*access{{token: sampleToken, ready: func() bool { return true }}, {}} {
		_, web := protected(t, a, &mcpserver.Options{})
		for _, path := range []string{healthPath, readyPath, statusPath, "/mcp"} {
			for name, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if r.Header.Set(name, value); name == "Host" {
					r.Host = value
				}
				r.Header.Set(proof.ChallengeHeader, "x")
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				if answer.StatusCode != http.StatusForbidden || answer.Header.Get(proof.Header) != "" {
					t.Errorf("%s, %s: %s", path, name, answer.Status)
				}
			}
		}
	}
}

// Where no token is needed, a credential still says whose an output is. It reaches
// nothing behind.
func TestCredentialsWithoutToken(t *testing.T) {
	_, web := protected(t, &access{}, &mcpserver.Options{})
	owner := func(token string) string {
		m := wireMessage{path: "/mcp", token: token, body: modern("tools/call", `"name":"who","arguments":{}`)}
		m.header = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "who"}
		status, text := m.send(t, web)
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		return text
	}
	one, two, none := owner("one"), owner("two"), owner("")
	if one == two || one == none || one != owner("one") {
		t.Errorf("the calls are of\n%s\n%s\n%s", one, two, none)
	}
	var a access
	var got string
	a.requireToken(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") })).ServeHTTP(
		httptest.NewRecorder(), (wireMessage{}).request("Bearer secret-credential"))
	if got == "" || strings.Contains(got, "secret") {
		t.Errorf("behind the access is %q", got)
	}
}

// request returns a request with a credential.
func (m wireMessage) request(credential string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(m.body))
	r.Header.Set("Authorization", credential)
	return r
}

// The streams that a token of a profile opened end when the profile has another
// token, in both eras; those of others go on.
func TestStreamsOfOldProfileToken(t *testing.T) {
	profiles := func(p, q string) *config.Config {
		return &config.Config{Profiles: []config.Profile{{Name: "p", Token: p}, {Name: "q", Token: q}}}
	}
	a := &access{token: sampleToken}
	a.useProfiles(profiles(readerToken, writerToken))
	s, web := protected(t, a, &mcpserver.Options{})
	streams := func(token string) (all []*http.Response) {
		listening := wireMessage{path: "/mcp", token: token, body: modern("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)}
		listening.header = map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
		for _, m := range []wireMessage{
			{method: http.MethodGet, path: "/mcp", token: token, session: openSession(t, web, "/mcp", token)},
			{method: http.MethodGet, path: "/sse", token: token}, listening,
		} {
			answer := m.exchange(t, web)
			if answer.StatusCode != http.StatusOK {
				t.Fatal(answer.Status)
			}
			all = append(all, answer)
		}
		return all
	}
	old, others := streams(readerToken), streams(writerToken)
	r := &reloader{Endpoint: s}
	r.endSessions(a.useProfiles(profiles(sampleToken+"x", writerToken)))
	for i, open := range old {
		if _, err := io.Copy(io.Discard, open.Body); err != nil { // the end of a stream that goes on is the client's timeout
			t.Errorf("stream %d was not ended: %v", i, err)
		}
	}
	for i, open := range others {
		if _, err := open.Body.Read(make([]byte, 1)); err != nil {
			t.Errorf("stream %d of another profile has ended: %v", i, err)
		}
	}
}
