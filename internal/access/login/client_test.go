package login_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// strictClients refuses requests for tokens that do not authenticate in one way, as some
// servers do: "post", "basic", or "basic with id", as the official Python SDK wants it.
func strictClients(t *testing.T, w *world, way string) (requests *int) {
	requests = new(int)
	inner := w.as.Config.Handler
	w.as.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/token" {
			*requests++
			_, _, basic := req.BasicAuth()
			_ = req.ParseForm()
			form := req.PostForm
			got := "post"
			if basic {
				got = "basic"
			}
			if basic && form.Get("client_id") != "" {
				got = "basic with id"
			}
			if got != way || !basic && form.Get("client_secret") == "" || basic && form.Get("client_secret") != "" {
				sendJSON(rw, 401, map[string]any{"error": "invalid_client", "error_description": "Missing client_id"})
				return
			}
		}
		inner.ServeHTTP(rw, req)
	})
	return requests
}

// A server that offers clients with a secret only gets client_secret_post: some list
// client_secret_basic and refuse it.
func TestRegisteredMethod(t *testing.T) {
	for listed, want := range map[string]string{
		`["client_secret_post","client_secret_basic"]`:        "client_secret_post",
		`["client_secret_basic","client_secret_post"]`:        "client_secret_post",
		`["client_secret_basic"]`:                             "client_secret_basic",
		`["client_secret_basic","client_secret_post","none"]`: "none",
		`["private_key_jwt"]`:                                 "none",
	} {
		w := newWorld(t)
		w.edit = func(meta map[string]any) { meta["token_endpoint_auth_methods_supported"] = json.RawMessage(listed) }
		got := ""
		rewrite(t, w.as, func(req *http.Request, rw *httptest.ResponseRecorder) {
			if req.URL.Path == "/register" {
				var m map[string]any
				_ = json.Unmarshal(rw.Body.Bytes(), &m)
				got = fmt.Sprint(m["token_endpoint_auth_method"])
			}
		})
		if _, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), w.config(), nil, browser(t)); err != nil || got != want {
			t.Errorf("%s: %s, %v", listed, got, err)
		}
	}
}

// A server that does not know a client in one way gets it in another one, which is kept
// for renewals.
func TestClientAuthenticatesInAnotherWay(t *testing.T) {
	for name, test := range map[string]struct {
		way, listed, registered string // the last is "" for a client of the configuration
		first                   int    // requests of the login
	}{
		"configured, in the body":       {"post", `["client_secret_post","client_secret_basic"]`, "", 3},
		"configured, with id":           {"basic with id", `["client_secret_basic"]`, "", 2},
		"configured, nothing is listed": {"post", `null`, "", 3},
		"configured, as listed":         {"post", `["client_secret_post"]`, "", 1},
		"configured, basic":             {"basic", `["client_secret_basic"]`, "", 1},
		"registered for basic":          {"basic with id", `["client_secret_basic"]`, `"client_secret_basic"`, 2},
		"registered, not said how":      {"post", `["client_secret_post"]`, `null`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.edit = func(meta map[string]any) {
				meta["token_endpoint_auth_methods_supported"] = json.RawMessage(test.listed)
			}
			cfg := w.config()
			if test.registered == "" {
				w.clients["me"] = map[string][]string{"redirect_uri": {"*"}}
				cfg.Auth = &config.Auth{ClientID: "me", ClientSecret: "s", Issuer: w.as.URL}
			}
			requests := strictClients(t, w, test.way)
			rewrite(t, w.as, func(req *http.Request, rw *httptest.ResponseRecorder) {
				if req.URL.Path == "/register" {
					setMembers(rw, `{"client_secret": "s", "token_endpoint_auth_method": `+test.registered+`}`)
				}
			})
			l := login.New(vault.Folder(t.TempDir()), nil)
			if _, err := l.Login(t.Context(), cfg, nil, browser(t)); err != nil {
				t.Fatal(err)
			}
			if *requests != test.first {
				t.Errorf("%d requests, want %d", *requests, test.first)
			}
			before := *requests
			w.expire()
			mustAsk(t, l, cfg)
			if *requests != before+1 {
				t.Errorf("%d requests of the renewal", *requests-before)
			}
		})
	}
}

// Nothing but invalid_client makes a client authenticate in another way.
func TestOtherErrorsAreNotTriedAgain(t *testing.T) {
	w := newWorld(t)
	w.clients["me"] = map[string][]string{"redirect_uri": {"*"}}
	w.edit = func(meta map[string]any) {
		meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
	}
	cfg := w.config()
	cfg.Auth = &config.Auth{ClientID: "me", ClientSecret: "s", Issuer: w.as.URL}
	for _, answer := range []struct {
		status int
		text   string
	}{{400, `{"error":"invalid_grant"}`}, {401, `{"error":"Invalid_Client"}`}, {401, `no`}, {500, `{}`}, {200, `{"error":"invalid_client2"}`}} {
		asked := rewrite(t, w.as, func(req *http.Request, rw *httptest.ResponseRecorder) {
			if req.URL.Path == "/token" {
				rw.Code, rw.Body = answer.status, bytesOf(answer.text)
			}
		})
		_, err := login.New(vault.Folder(t.TempDir()), nil).Login(t.Context(), cfg, nil, browser(t))
		n := len(slices.DeleteFunc(asked(), func(path string) bool { return !strings.HasSuffix(path, "/token") }))
		if err == nil || n != 1 {
			t.Errorf("%s: %d requests, %v", answer.text, n, err)
		}
	}
}
