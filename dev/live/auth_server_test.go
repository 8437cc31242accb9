//go:build unix

package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An authServer is an authorization server on loopback, in a process of its own.
type authServer struct {
	issuer string
	t      *testing.T
}

// authServers are two independent implementations: oidc-provider, a certified
// one, with registration, resource indicators, iss and rotation; and
// oauth2-mock-server, which accepts every client and answers what a test wants.
var authServers = map[string]struct{ pkg, script string }{
	"oidc-provider":      {"oidc-provider", "oidc.mjs"},
	"oauth2-mock-server": {"oauth2-mock-server", "mock.mjs"},
}

// newAuthServer starts one with options that its script describes.
func newAuthServer(t *testing.T, name string, options object) *authServer {
	t.Helper()
	s := authServers[name]
	script, err := filepath.Abs(filepath.Join("testdata", "auth", s.script))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, node(t), script, peer(t, s.pkg, "", "."), marshal(options))
	a := &authServer{t: t}
	until(t, name+" listens", func() error {
		select {
		case <-p.done:
			t.Fatalf("%s has ended:\n%s", name, p.output.tail(40))
		default:
		}
		for line := range strings.Lines(p.output.String()) {
			if strings.HasPrefix(line, "http://") && strings.HasSuffix(line, "\n") {
				a.issuer = strings.TrimSpace(line)
				return nil
			}
		}
		return errors.New("no issuer yet")
	})
	t.Cleanup(func() {
		if t.Failed() && p.Process.Signal(syscall.Signal(0)) == nil {
			for _, r := range a.log() {
				t.Logf("%s: %+v", name, r)
			}
		}
	})
	return a
}

// An authRequest is one that the server has answered. The parameters are those
// that the tests look at.
type authRequest struct {
	Method, Path     string
	Status           int
	Error            string
	ErrorDescription string `json:"error_description"`
	GrantType        string `json:"grant_type"`
	ClientID         string `json:"client_id"`
	Resource, Scope  string
}

// log returns the requests that the server has answered so far.
func (a *authServer) log() (all []authRequest) {
	a.t.Helper()
	resp, err := http.Get(a.issuer + "/control/log")
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		a.t.Fatal(err)
	}
	return all
}

// granted returns the token requests of one grant type that succeeded.
func (a *authServer) granted(grantType string) []authRequest {
	a.t.Helper()
	return slices.DeleteFunc(a.log(), func(r authRequest) bool {
		return r.GrantType != grantType || r.Status != http.StatusOK
	})
}

// requested returns the requests of a path.
func (a *authServer) requested(path string) []authRequest {
	a.t.Helper()
	return slices.DeleteFunc(a.log(), func(r authRequest) bool { return r.Path != path })
}

// revoke ends all logins and makes the tokens invalid, as an administrator may.
func (a *authServer) revoke() { a.control("revoke", object{}) }

func (a *authServer) control(what string, body object) {
	a.t.Helper()
	resp, err := http.Post(a.issuer+"/control/"+what, "application/json", bytes.NewReader([]byte(marshal(body))))
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		a.t.Fatalf("control %s: %s", what, resp.Status)
	}
}
