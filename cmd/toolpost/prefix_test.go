package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
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
