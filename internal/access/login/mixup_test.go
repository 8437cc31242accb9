package login_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// An answer that another authorization server gave is refused before its code is sent
// anywhere, and so is one that does not name its server although it should.
func TestMixUp(t *testing.T) {
	for name, test := range map[string]struct {
		iss        string
		advertised bool
		refused    string
	}{
		"another server":                    {"https://evil.example", true, "the answer comes from"},
		"another server, not advertised":    {"https://evil.example", false, "the answer comes from"},
		"a server that begins alike":        {"AS.evil.example", true, "the answer comes from"},
		"no issuer although it is promised": {"", true, "does not say that it comes from"},
		"no issuer":                         {"", false, ""},
	} {
		w := newWorld(t)
		w.edit = func(meta map[string]any) { meta["authorization_response_iss_parameter_supported"] = test.advertised }
		w.answer = func(redirect url.Values) {
			redirect.Del("iss")
			if iss := strings.Replace(test.iss, "AS", w.as.URL, 1); iss != "" {
				redirect.Set("iss", iss)
			}
		}
		_, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), w.config(), nil, browser(t))
		if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)) {
			t.Errorf("%s: %v", name, err)
		}
		if refused := test.refused != ""; refused != (len(w.access) == 0) {
			t.Errorf("%s: %d tokens", name, len(w.access))
		}
	}
}

// The page names its host, and whether that is the authorization server's.
func TestPage(t *testing.T) {
	w := newWorld(t)
	show := func() (page login.Page) {
		p := browser(t)
		visit := p.Visit
		p.Visit = func(ctx context.Context, shown *login.Page) error {
			page = *shown
			return visit(ctx, shown)
		}
		if _, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), w.config(), nil, p); err != nil {
			t.Fatal(err)
		}
		return page
	}
	if page := show(); page.Foreign || page.Issuer != w.as.URL || "http://"+page.Host != w.as.URL {
		t.Errorf("got %+v", page)
	}
	other := httptest.NewServer(http.HandlerFunc(w.authorize))
	defer other.Close()
	elsewhere := other.URL
	w.edit = func(meta map[string]any) { meta["authorization_endpoint"] = elsewhere + "/authorize?a=\u202e" }
	if page := show(); !page.Foreign || "http://"+page.Host != elsewhere || strings.ContainsFunc(page.Address, func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("got %+v", page)
	}
}
