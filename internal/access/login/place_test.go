package login_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// Metadata is asked for at the addresses of RFC 8414 and OpenID Connect, also if the issuer
// has a slash at its end. The issuer of answers is the one of the metadata.
func TestIssuerWithSlash(t *testing.T) {
	for _, test := range []struct {
		named, document, issuer string // the first and the last follow the origin
		ok                      bool
	}{
		{"/", "/.well-known/oauth-authorization-server", "/", true},
		{"/", "/.well-known/oauth-authorization-server", "", true},
		{"", "/.well-known/oauth-authorization-server", "/", true},
		{"/", "/.well-known/openid-configuration", "/", true},
		{"/tenant/", "/.well-known/oauth-authorization-server/tenant", "/tenant/", true},
		{"/tenant/", "/.well-known/openid-configuration/tenant", "/tenant/", true},
		{"/tenant/", "/tenant/.well-known/openid-configuration", "/tenant/", true},
		{"/tenant", "/tenant/.well-known/openid-configuration", "/tenant/", true},
		{"/a%2Fb/", "/.well-known/oauth-authorization-server/a%2Fb", "/a%2Fb/", true},
		{"/tenant/", "/.well-known/oauth-authorization-server/tenant", "/other/", false},
		{"/tenant/", "/.well-known/oauth-authorization-server/tenant", "", false},
	} {
		for _, automatic := range []bool{false, true} {
			w := newWorld(t)
			w.named = w.as.URL + test.named
			w.clients["me"] = map[string][]string{"secret": {"s"}}
			inner := w.as.Config.Handler
			w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				switch path := req.URL.EscapedPath(); {
				case path == test.document:
					w.metadata(rw, req)
				case strings.Contains(path, ".well-known"):
					http.NotFound(rw, req)
				default:
					inner.ServeHTTP(rw, req)
				}
			})
			w.edit = func(meta map[string]any) { meta["issuer"] = w.as.URL + test.issuer }
			w.answer = func(back url.Values) { back["iss"] = []string{w.as.URL + test.issuer} }
			cfg, l := w.config(), login.New(vault.Folder(t.TempDir()), nil)
			var err error
			if automatic {
				cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.named}
				_, err = ask(l, cfg)
			} else {
				_, err = l.Login(t.Context(), cfg, nil, browser(t))
			}
			if (err == nil) != test.ok {
				t.Errorf("%+v: %v", test, err)
			}
		}
	}
}

// A server that does not announce PKCE is refused with the key that accepts it. A login
// without a person needs no PKCE.
func TestServerThatDoesNotAnnouncePKCE(t *testing.T) {
	for _, methods := range []any{nil, []string{}, []string{"plain"}, "", 5} {
		w := newWorld(t)
		w.edit = func(meta map[string]any) {
			if meta["code_challenge_methods_supported"] = methods; methods == nil {
				delete(meta, "code_challenge_methods_supported")
			}
		}
		cfg, l := w.config(), login.New(vault.Folder(t.TempDir()), nil)
		if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err == nil || !strings.Contains(err.Error(), `"auth": {"pkce": "S256"}`) {
			t.Errorf("%v: %v", methods, err)
		}
		cfg.Auth = &config.Auth{PKCE: "S256"}
		if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err != nil {
			t.Errorf("%v: with the key: %v", methods, err)
		}
		w.clients["me"] = map[string][]string{"secret": {"s"}}
		cfg.Auth = &config.Auth{Type: "client_credentials", ClientID: "me", ClientSecret: "s", Issuer: w.as.URL}
		mustAsk(t, l, cfg)
	}
}

// An address of metadata that cannot be used does not hide the well-known one. A relative
// one is at the origin of the server.
func TestAddressOfMetadata(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	const wellKnown = "/.well-known/oauth-protected-resource/mcp"
	for header, want := range map[string]string{
		`Bearer resource_metadata="/elsewhere"`:                "/elsewhere",
		`Bearer resource_metadata="elsewhere"`:                 "/elsewhere",
		`Bearer resource_metadata="/missing"`:                  wellKnown,
		`Bearer resource_metadata='MCP/elsewhere'`:             "/elsewhere",
		`Bearer resource_metadata='/elsewhere'`:                "/elsewhere",
		`Bearer resource_metadata=MCP/elsewhere`:               "/elsewhere",
		`Bearer resource_metadata="<MCP/elsewhere>"`:           "/elsewhere",
		`Bearer resource_metadata="MCP/missing"`:               wellKnown,
		`Bearer resource_metadata="//OTHER/elsewhere"`:         wellKnown,
		`Bearer resource_metadata="javascript:x"`:              wellKnown,
		`Bearer resource_metadata="https://"`:                  wellKnown,
		`Bearer resource_metadata="http://[::"`:                wellKnown,
		`Bearer resource_metadata="http://evil.example/x"`:     wellKnown,
		`Bearer resource_metadata="https://169.254.169.254/x"`: wellKnown,
		`Bearer resource_metadata="OTHERURL/x"`:                wellKnown,
		`Bearer resource_metadata=""`:                          wellKnown,
	} {
		w := newWorld(t)
		w.public = nil
		rewrites := strings.NewReplacer("MCP", w.mcp.URL, "OTHERURL", other.URL, "OTHER", strings.TrimPrefix(other.URL, "http://"))
		inner := w.mcp.Config.Handler
		w.mcp.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			switch {
			case req.URL.Path == "/elsewhere" && want == "/elsewhere":
				req.URL.Path = wellKnown
				inner.ServeHTTP(rw, req)
			case req.URL.Path == wellKnown && want != wellKnown:
				http.NotFound(rw, req)
			default:
				inner.ServeHTTP(rw, req)
			}
		})
		asked := rewrite(t, w.mcp, func(_ *http.Request, rw *httptest.ResponseRecorder) {
			if rw.Code == http.StatusUnauthorized {
				rw.Header().Set("WWW-Authenticate", rewrites.Replace(header))
			}
		})
		if _, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), w.config(), nil, browser(t)); err != nil {
			t.Errorf("%s: %v", header, err)
		}
		if !slices.Contains(asked(), "GET "+want) {
			t.Errorf("%s: %q were asked for, not %s", header, asked(), want)
		}
	}
}
