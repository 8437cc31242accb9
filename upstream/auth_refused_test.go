package upstream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/upstream"
)

// A server is not connected to without the login that its configuration describes.
func TestAuthThatNothingReads(t *testing.T) {
	wrap := func(base *http.Transport) http.RoundTripper { return base }
	for _, tt := range []struct {
		name    string
		auth    *upstream.Auth
		wrap    func(*http.Transport) http.RoundTripper
		opts    *upstream.Options
		refused bool
	}{
		{"no options", &upstream.Auth{}, nil, nil, true},
		{"no credentials", &upstream.Auth{Type: upstream.AuthClient, ClientID: "me", ClientSecret: "s"}, nil, &upstream.Options{}, true},
		{"never", &upstream.Auth{Type: upstream.AuthOff}, nil, nil, false},
		{"none", nil, nil, nil, false},
		{"wrap", &upstream.Auth{}, wrap, nil, false},
		{"credentials", &upstream.Auth{}, nil, &upstream.Options{Credentials: func(*upstream.Config) func(*http.Transport) http.RoundTripper { return wrap }}, false},
	} {
		u, err := upstream.Start(&upstream.Config{Name: "it", URL: "http://127.0.0.1:9/mcp", Auth: tt.auth, Wrap: tt.wrap}, tt.opts)
		if refused := err != nil; refused != tt.refused || refused && !strings.Contains(err.Error(), "Options.Credentials") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if u != nil {
			_ = u.Close()
		}
	}
}
