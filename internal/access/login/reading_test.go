package login_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// rewrite changes the answers of a server. It returns the addresses that were asked.
func rewrite(t *testing.T, s *httptest.Server, change func(req *http.Request, rw *httptest.ResponseRecorder)) (asked func() []string) {
	var mu sync.Mutex
	var paths []string
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		mu.Lock()
		paths = append(paths, req.Method+" "+req.URL.Path)
		mu.Unlock()
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, req)
		change(req, answer)
		for name, values := range answer.Header() {
			rw.Header()[name] = values
		}
		if answer.Header().Get("Content-Type") == "" {
			rw.Header()["Content-Type"] = nil // net/http guesses one otherwise
		}
		rw.WriteHeader(answer.Code)
		_, _ = rw.Write(answer.Body.Bytes())
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(paths)
	}
}

// setMembers changes members of an answer.
func setMembers(rw *httptest.ResponseRecorder, members string) {
	var all, more map[string]json.RawMessage
	if json.Unmarshal(rw.Body.Bytes(), &all) != nil {
		return
	}
	if err := json.Unmarshal([]byte(members), &more); err != nil {
		panic(err)
	}
	for name, value := range more {
		all[name] = value
	}
	text, _ := json.Marshal(all)
	rw.Body.Reset()
	rw.Body.Write(text)
}

// Answers whose JSON is right are read whatever type of content they declare, and whatever
// the members are that a login does not need.
func TestLenientReading(t *testing.T) {
	isMeta := func(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/.well-known/oauth-auth") }
	isResource := func(req *http.Request) bool { return strings.HasPrefix(req.URL.Path, "/.well-known/oauth-prot") }
	at := func(path string) func(*http.Request) bool {
		return func(req *http.Request) bool { return req.URL.Path == path }
	}
	typed := func(kind string) func(*httptest.ResponseRecorder) {
		return func(rw *httptest.ResponseRecorder) {
			if rw.Header().Del("Content-Type"); kind != "" {
				rw.Header().Set("Content-Type", kind)
			}
		}
	}
	members := func(text string) func(*httptest.ResponseRecorder) {
		return func(rw *httptest.ResponseRecorder) { setMembers(rw, text) }
	}
	for name, test := range map[string]struct {
		of     func(*http.Request) bool
		change func(*httptest.ResponseRecorder)
	}{
		"resource as text":             {isResource, typed("text/plain")},
		"resource as bytes":            {isResource, typed("application/octet-stream")},
		"resource without a type":      {isResource, typed("")},
		"resource with two types":      {isResource, typed("application/json, application/json")},
		"odd members of the resource":  {isResource, members(`{"scopes_supported": "read", "resource_name": 5, "jwks_uri": [], "bearer_methods_supported": "header"}`)},
		"metadata as text":             {isMeta, typed("text/plain; charset=utf-8")},
		"metadata as bytes":            {isMeta, typed("application/octet-stream")},
		"metadata without a type":      {isMeta, typed("")},
		"metadata with two types":      {isMeta, typed("application/json, application/json")},
		"metadata with a mark":         {isMeta, func(rw *httptest.ResponseRecorder) { rw.Body = bytesOf("\xEF\xBB\xBF" + rw.Body.String()) }},
		"odd members of the metadata":  {isMeta, members(`{"scopes_supported": 5, "response_types_supported": "code", "jwks_uri": false, "service_documentation": "javascript:x", "ui_locales_supported": {}, "authorization_response_iss_parameter_supported": "true", "code_challenge_methods_supported": "plain S256"}`)},
		"a registration as text":       {at("/register"), typed("text/plain")},
		"a registration with 200":      {at("/register"), func(rw *httptest.ResponseRecorder) { rw.Code = 200 }},
		"odd times of a registration":  {at("/register"), members(`{"client_id_issued_at": "2026-01-01T00:00:00Z", "client_secret_expires_at": "0"}`)},
		"fractions in a registration":  {at("/register"), members(`{"client_id_issued_at": 1790000000.25, "client_secret_expires_at": 1e99}`)},
		"odd members of registrations": {at("/register"), members(`{"scope": ["read"], "contacts": "a@example.com", "redirect_uris": "x", "grant_types": 1, "jwks": [], "client_name": null}`)},
		"a token as text":              {at("/token"), typed("text/plain")},
		"a token without a type":       {at("/token"), typed("")},
		"a token with two types":       {at("/token"), typed("application/json, application/json")},
		"a fraction":                   {at("/token"), members(`{"expires_in": 3599.0}`)},
		"another fraction":             {at("/token"), members(`{"expires_in": 3599.7}`)},
		"a number as a text":           {at("/token"), members(`{"expires_in": "3600"}`)},
		"a fraction as a text":         {at("/token"), members(`{"expires_in": " 3600.5 "}`)},
		"a time that is none":          {at("/token"), members(`{"expires_in": "1h"}`)},
		"a time that is null":          {at("/token"), members(`{"expires_in": null}`)},
		"a time without an end":        {at("/token"), members(`{"expires_in": 1e300}`)},
		"scopes as a list":             {at("/token"), members(`{"scope": ["read"]}`)},
		"odd members of a token":       {at("/token"), members(`{"id_token": 5, "refresh_expires_in": "never", "issued_token_type": []}`)},
		"a form": {at("/token"), func(rw *httptest.ResponseRecorder) {
			var all map[string]any
			_ = json.Unmarshal(rw.Body.Bytes(), &all)
			rw.Header().Set("Content-Type", "application/x-www-form-urlencoded")
			rw.Body = bytesOf(fmt.Sprintf("access_token=%v&token_type=bearer&scope=read&refresh_token=%v", all["access_token"], all["refresh_token"]))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.edit = func(meta map[string]any) {
				meta["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
			}
			change := func(req *http.Request, rw *httptest.ResponseRecorder) {
				if test.of(req) {
					test.change(rw)
				}
			}
			rewrite(t, w.as, change)
			rewrite(t, w.mcp, change)
			l := login.New(vault.Folder(t.TempDir()), nil)
			status, err := l.Login(t.Context(), w.config(), nil, browser(t))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(status.Scopes, []string{"read"}) {
				t.Errorf("the login has %q", status.Scopes)
			}
			mustAsk(t, l, w.config())
			w.expire()
			mustAsk(t, l, w.config()) // with a renewed token
		})
	}
}

func bytesOf(text string) *bytes.Buffer { return bytes.NewBufferString(text) }
