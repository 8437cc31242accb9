package serve

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/access/callers"
)

// Behind a proxy with a prefix, as docs/operations.md shows it, the address of /sse and the
// metadata of the login lead back through the proxy, also if it does not name its prefix.
func TestBehindPrefix(t *testing.T) {
	s := serveCallersAt(t, "https://tools.example.com/team/mcp", nil)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.StripPrefix("/team", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = "tools.example.com"
	}}))
	t.Cleanup(proxy.Close)
	do := func(server, method, path, token, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	const metadata = "/.well-known/oauth-protected-resource/team/mcp"
	if got := do(proxy.URL, "POST", "/team/mcp", "", "{}").Header.Get("WWW-Authenticate"); !strings.Contains(got, `resource_metadata="https://tools.example.com`+metadata+`"`) {
		t.Errorf("the challenge is %s", got)
	}
	resp := do(s.URL, "GET", metadata, "", "") // which the proxy passes on as it is
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"resource":"https://tools.example.com/team/mcp"`) {
		t.Errorf("the metadata is %d %s, %v", resp.StatusCode, text, err)
	}
	for _, tt := range []struct{ server, path, want string }{
		{proxy.URL, "/team/sse", "/team/sse?"},
		{proxy.URL, "/team/sse/reader", "/team/sse/reader?"},
		{s.URL, "/sse/reader", "/sse/reader?"}, // without the proxy
	} {
		lines := bufio.NewReader(do(tt.server, "GET", tt.path, sampleToken, "").Body)
		_, _ = lines.ReadString('\n')
		line, err := lines.ReadString('\n')
		address := strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		if !strings.HasPrefix(address, tt.want) || err != nil {
			t.Errorf("%s: messages go to %q, %v", tt.path, line, err)
			continue
		}
		if resp := do(tt.server, "POST", address, sampleToken, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); resp.StatusCode != http.StatusAccepted {
			t.Errorf("%s: a message is answered with %d", tt.path, resp.StatusCode)
		}
	}
}

// A request has the prefix of the public address only if it is for that host and port, and
// names no prefix itself.
func TestPublicPath(t *testing.T) {
	for _, tt := range []struct{ resource, host, own, want string }{
		{"https://tools.example.com/team/mcp", "tools.example.com", "", "/team"},
		{"https://tools.example.com/team/mcp", "Tools.Example.com:443", "", "/team"},
		{"https://tools.example.com:443/team/mcp", "tools.example.com", "", "/team"},
		{"https://tools.example.com/mcp", "tools.example.com", "", "/"},
		{"https://tools.example.com:8443/team/mcp", "tools.example.com:8443", "", "/team"},
		{"http://localhost:8080/team/mcp", "localhost:8080", "", "/team"},
		{"http://[::1]:8080/team/mcp", "[::1]:8080", "", "/team"},
		{"https://tools.example.com/team/mcp", "tools.example.com", "/other", "/other"},
		{"https://tools.example.com/team/mcp", "tools.example.com:3791", "", ""},
		{"http://localhost:8080/team/mcp", "localhost:3791", "", ""},
		{"http://localhost:8080/team/mcp", "localhost", "", ""},
		{"https://tools.example.com/team/mcp", "other.example.com", "", ""},
	} {
		login, err := callers.NewResource(&callers.Options{Issuer: "https://login.example.com", Resource: tt.resource})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/sse", nil)
		r.Host = tt.host
		if tt.own != "" {
			r.Header.Set("X-Forwarded-Prefix", tt.own)
		}
		(&access{login: login}).usePublicPath(r)
		if got := r.Header.Get("X-Forwarded-Prefix"); got != tt.want {
			t.Errorf("%s, host %s, prefix %q: %q, want %q", tt.resource, tt.host, tt.own, got, tt.want)
		}
	}
}
