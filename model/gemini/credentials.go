package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

const (
	cloudScope   = "https://www.googleapis.com/auth/cloud-platform"
	fileVariable = "GOOGLE_APPLICATION_CREDENTIALS"

	// tokenTimeout limits a request for a token, which another request may wait for.
	tokenTimeout = 30 * time.Second
)

// credentials are the default ones of Google Cloud, which the first request looks for:
// in the file that GOOGLE_APPLICATION_CREDENTIALS names, in that of gcloud, or at the
// metadata server.
type credentials struct {
	learn func(secrets ...string) // hides them in errors

	mu           sync.Mutex
	found        *google.Credentials // nil until they are found
	quotaProject string              // who pays for requests, of the file
}

// checkCredentialsFile returns the error of the file that GOOGLE_APPLICATION_CREDENTIALS
// names, so that a wrong name is reported before the first request. A file that can be
// read only once, such as a pipe, is left to it.
func checkCredentialsFile() error {
	name := os.Getenv(fileVariable)
	if name == "" {
		return nil
	}
	info, err := os.Stat(name)
	if err == nil && info.Mode().IsRegular() {
		var data []byte
		if data, err = os.ReadFile(name); err == nil && !json.Valid(data) {
			err = errors.New("it is not JSON")
		}
	}
	if err != nil {
		return fmt.Errorf("read the file of %s: %w", fileVariable, err)
	}
	return nil
}

// header returns the header of a request. It waits for a token until ctx ends. The search
// and the request for a token go on then, because other requests may wait for them.
func (c *credentials) header(ctx context.Context) (http.Header, error) {
	type result struct {
		header http.Header
		err    error
	}
	done := make(chan result, 1)
	go func() {
		header, err := c.authorize()
		done <- result{header, err}
	}()
	select {
	case r := <-done:
		return r.header, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// authorize returns the header of a request with a token that is valid now.
func (c *credentials) authorize() (http.Header, error) {
	if err := c.find(); err != nil {
		return nil, &noCredentialsError{err}
	}
	token, err := c.found.TokenSource.Token()
	if err != nil {
		return nil, fmt.Errorf("get a token of Google Cloud: %w", err)
	}
	header := http.Header{"Authorization": {token.Type() + " " + token.AccessToken}}
	if project := cmp.Or(os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT"), c.quotaProject); project != "" {
		header.Set("X-Goog-User-Project", project)
	}
	return header, nil
}

// find finds the credentials. If there are none, the next call looks again.
func (c *credentials) find() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != nil {
		return nil
	}
	client := &http.Client{Timeout: tokenTimeout, CheckRedirect: provider.NoRedirects}
	found, err := google.FindDefaultCredentials(context.WithValue(context.Background(), oauth2.HTTPClient, client), cloudScope)
	if err != nil {
		return err
	}
	var file struct {
		QuotaProject string `json:"quota_project_id"`
		PrivateKey   string `json:"private_key"`
		ClientSecret string `json:"client_secret"`
		RefreshToken string `json:"refresh_token"`
	}
	_ = json.Unmarshal(found.JSON, &file) // the metadata server has no file
	c.learn(file.PrivateKey, file.ClientSecret, file.RefreshToken)
	c.found, c.quotaProject = found, file.QuotaProject
	return nil
}

// A noCredentialsError reports that there are no credentials, or that they cannot be read.
type noCredentialsError struct{ cause error }

func (e *noCredentialsError) Error() string {
	return fmt.Sprintf("find the credentials of Google Cloud: %v", e.cause)
}

func (e *noCredentialsError) Unwrap() error { return e.cause }

// kindOfCredentials returns the kind of an error of credentials. A server of tokens that
// refuses them will do so again; one that fails or is not reached may not.
func kindOfCredentials(err error) model.ErrorKind {
	if _, none := errors.AsType[*noCredentialsError](err); none {
		return model.KindAuth
	}
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if ok && refused.Response != nil && refused.Response.StatusCode/100 == 4 && refused.Response.StatusCode != http.StatusTooManyRequests {
		return model.KindAuth
	}
	return model.KindConnection
}
