package gemini_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
)

const (
	refreshToken = "1//refresh-token-of-a-test"
	accessToken  = "ya29.access-token-of-a-test"
)

// A cloud is a fake of Google Cloud on loopback: it gives tokens, and has a model.
type cloud struct {
	*httptest.Server
	deny func(w http.ResponseWriter, form string) bool // answers a request for a token, if it is set and returns true

	mu       sync.Mutex
	grants   []string      // the forms of requests for tokens
	requests []http.Header // to the model
}

func newCloud(t *testing.T) *cloud {
	c := new(cloud)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.mu.Lock()
		isModel := strings.HasPrefix(r.URL.Path, "/v1beta1/projects/p/")
		if isModel {
			c.requests = append(c.requests, r.Header)
		} else {
			c.grants = append(c.grants, r.URL.Path+"?"+string(form))
		}
		c.mu.Unlock()
		w.Header().Set("Metadata-Flavor", "Google")
		switch {
		case isModel:
			io.WriteString(w, data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
		case c.deny != nil && c.deny(w, string(form)):
		case strings.HasSuffix(r.URL.Path, "token"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, accessToken)
		default:
			io.WriteString(w, "project-of-the-machine")
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// credentials writes a file with the members, and returns the model that uses it.
func (c *cloud) credentials(t *testing.T, members map[string]string) model.Model {
	t.Helper()
	quiet(t)
	path := filepath.Join(t.TempDir(), "credentials.json")
	members["token_uri"] = c.URL + "/token"
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	return c.open(t)
}

// open returns the model in the project p. A key of the environment is not for it.
func (c *cloud) open(t *testing.T) model.Model {
	t.Helper()
	t.Setenv("GEMINI_API_KEY", "another-key")
	m := gemini.New("gemini-3-pro-preview", &gemini.Options{Project: "p", BaseURL: c.URL})
	return m
}

// checkRequests sends two requests and checks that both have the one token.
func (c *cloud) checkRequests(t *testing.T, m model.Model, grant, quotaProject string) {
	t.Helper()
	for range 2 {
		if _, err := ask(t, m, hello()); err != nil {
			t.Fatal(err)
		}
	}
	tokens := 0
	for _, g := range c.grants {
		if strings.Contains(g, grant) {
			tokens++
		}
	}
	if tokens != 1 {
		t.Errorf("requests for tokens: %q", c.grants)
	}
	for _, h := range c.requests {
		if h.Get("Authorization") != "Bearer "+accessToken || h.Get("X-Goog-User-Project") != quotaProject || h.Get("X-Goog-Api-Key") != "" {
			t.Errorf("the header is %v", h)
		}
	}
	if len(c.requests) != 2 {
		t.Errorf("%d requests", len(c.requests))
	}
}

func user1() map[string]string {
	return map[string]string{"type": "authorized_user", "client_id": "client", "client_secret": "secret-of-a-test", "refresh_token": refreshToken}
}

// TestServiceAccount signs a request for a token with the key of a file.
func TestServiceAccount(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	c := newCloud(t)
	m := c.credentials(t, map[string]string{"type": "service_account", "client_email": "a@p.test", "private_key_id": "1", "private_key": string(text)})
	c.checkRequests(t, m, "jwt-bearer", "")
}

// TestAuthorizedUser uses the token of a login by gcloud, and its project for quotas.
func TestAuthorizedUser(t *testing.T) {
	file := user1()
	file["quota_project_id"] = "payer"
	c := newCloud(t)
	c.checkRequests(t, c.credentials(t, file), "refresh_token", "payer")

	c = newCloud(t)
	m := c.credentials(t, file)
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "other-payer")
	c.checkRequests(t, m, "refresh_token", "other-payer")
}

// TestMetadataServer uses the token of the machine.
func TestMetadataServer(t *testing.T) {
	quiet(t)
	c := newCloud(t)
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(c.URL, "http://"))
	for _, name := range []string{"HOME", "APPDATA"} { // without a file of gcloud
		t.Setenv(name, t.TempDir())
	}
	c.checkRequests(t, c.open(t), "service-accounts/default/token", "")
}

// TestCredentialsFile reports a wrong file before the first request, or by it.
func TestCredentialsFile(t *testing.T) {
	quiet(t)
	path := filepath.Join(t.TempDir(), "credentials.json")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	options := &gemini.Options{Project: "p"}
	if err := gemini.New("m", options).Check(hello()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("key: value"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := gemini.New("m", options).Check(hello()); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("not JSON: %v", err)
	}
	for _, o := range []*gemini.Options{{Project: "p", APIKey: "k"}, {Project: "p", HTTPClient: http.DefaultClient}} {
		if err := gemini.New("m", o).Check(hello()); err != nil {
			t.Errorf("credentials that are not used: %v", err)
		}
	}
	m := newCloud(t).credentials(t, map[string]string{"type": "unknown"})
	_, err := ask(t, m, hello())
	if failed, _ := errors.AsType[*model.Error](err); failed == nil || failed.Kind != model.KindAuth || !strings.Contains(failed.Text, "credentials of Google Cloud") {
		t.Errorf("an unknown type: %v", err)
	}
}

// TestTokenErrors has a server of tokens that refuses and that fails, and repeats secrets.
func TestTokenErrors(t *testing.T) {
	for status, kind := range map[int]model.ErrorKind{400: model.KindAuth, 401: model.KindAuth, 429: model.KindConnection, 503: model.KindConnection, 302: model.KindConnection} {
		c := newCloud(t)
		c.deny = func(w http.ResponseWriter, form string) bool {
			w.Header().Set("Location", c.URL+"/v1beta1/projects/p/")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":"invalid_grant","error_description":"%s secret-of-a-test %s"}`, refreshToken, form)
			return true
		}
		_, err := ask(t, c.credentials(t, user1()), hello())
		failed, _ := errors.AsType[*model.Error](err)
		if failed == nil || failed.Kind != kind || len(c.requests) > 0 {
			t.Errorf("%d: %v", status, err)
		}
		if text := fmt.Sprint(err); strings.Contains(text, "of-a-test") || !strings.Contains(text, "Google Cloud") {
			t.Errorf("%d: the text is %s", status, text)
		}
	}
}

// TestTokenCanceled does not wait for a server of tokens longer than its caller.
func TestTokenCanceled(t *testing.T) {
	c := newCloud(t)
	asked, end := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end) }) // before the server is closed
	c.deny = func(http.ResponseWriter, string) bool {
		close(asked)
		<-end
		return false
	}
	m := c.credentials(t, user1())
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the user pressed Escape")
	go func() {
		<-asked
		cancel(cause)
	}()
	for _, err := range m.Stream(ctx, hello()) {
		if !errors.Is(err, cause) {
			t.Errorf("the error is %v", err)
		}
	}
}
