package callers

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/time/rate"

	"github.com/toolpost/toolpost/internal/access/oauth"
)

const (
	fetchTime = 5 * time.Second
	maxBytes  = 1 << 20 // of one answer

	// keysTime is how long keys are used before they are fetched again, so that a key
	// that the authorization server withdraws is refused an hour later. While the
	// server cannot be reached, the keys are used for keysTimeOffline.
	keysTime, keysTimeOffline = time.Hour, 24 * time.Hour

	retryTime = 10 * time.Second // after the server could not be reached
)

// An issuer is an authorization server, as far as its metadata describes it.
type issuer struct {
	address string
	client  *http.Client
	fetcher *fetcher

	mu      sync.Mutex
	found   *metadata
	retry   time.Time // not before
	problem error     // why it was not found last
}

// metadata is what an authorization server says about itself (RFC 8414).
type metadata struct {
	Issuer        string `json:"issuer"`
	KeysURI       string `json:"jwks_uri"`
	Introspection string `json:"introspection_endpoint"`

	keys *oidc.RemoteKeySet
	at   time.Time
}

func newIssuer(address string) *issuer {
	base := http.DefaultTransport.(*http.Transport).Clone()
	f := &fetcher{base: base, limit: rate.NewLimiter(rate.Every(fetchTime), 8)}
	return &issuer{address: address, fetcher: f, client: newClient(f)}
}

// newClient returns a client that follows no redirects: they could lead anywhere.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, Timeout: fetchTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// metadata returns what the server says about itself, not older than keysTime.
func (i *issuer) metadata(ctx context.Context) (*metadata, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	known := i.found != nil && now.Sub(i.found.at) < keysTimeOffline
	switch {
	case known && now.Sub(i.found.at) < keysTime, known && now.Before(i.retry):
		return i.found, nil
	case now.Before(i.retry):
		return nil, i.problem
	}
	found, err := i.discover(context.WithoutCancel(ctx)) // others wait for it too
	if err != nil {
		i.retry, i.problem = now.Add(retryTime), err
		if known {
			return i.found, nil
		}
		return nil, err
	}
	i.found = found
	return found, nil
}

// discover fetches the metadata from the places where it may be, by the order that
// MCP prescribes.
func (i *issuer) discover(ctx context.Context) (*metadata, error) {
	places := []string{oauth.MetadataAddress(i.address, oauth.AuthorizationServer), oauth.MetadataAddress(i.address, oauth.OpenID)}
	if appended := strings.TrimSuffix(i.address, "/") + oauth.OpenID; appended != places[1] {
		places = append(places, appended)
	}
	var err error
	for _, place := range places {
		found := &metadata{at: time.Now()}
		if err = i.fetch(ctx, place, found); err != nil {
			continue
		}
		switch {
		case found.Issuer != i.address:
			return nil, fmt.Errorf("%s describes another issuer than %s; write the issuer exactly as it is there", place, i.address)
		case found.KeysURI != "" && !isAddress(found.KeysURI), found.Introspection != "" && !isAddress(found.Introspection):
			return nil, fmt.Errorf("%s names an address that is not https", place)
		}
		found.keys = oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), i.client), found.KeysURI)
		return found, nil
	}
	return nil, err
}

func (i *issuer) fetch(ctx context.Context, address string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	return answer(i.client, r, into)
}

// answer sends a request and decodes the JSON of the answer.
func answer(client *http.Client, r *http.Request, into any) error {
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered with status %d", r.URL, resp.StatusCode)
	}
	if err := json.UnmarshalRead(io.LimitReader(resp.Body, maxBytes), into); err != nil {
		return fmt.Errorf("%s did not answer with JSON: %w", r.URL, err)
	}
	return nil
}

// unavailable refuses a request that cannot be decided, without an error that makes
// the client forget its token.
func (i *issuer) unavailable() *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Message: "the token cannot be checked, because " + i.address + " cannot be reached or does not answer as it should: try again in a minute", RetryAfter: retryTime}
}

// busy refuses a request whose token would need one request too many at the server.
// The token may be good.
func (i *issuer) busy() *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Message: "the token cannot be checked now, because " + i.address + " was asked about too many unknown tokens: try again in a few seconds", RetryAfter: fetchTime}
}

// A fetcher limits how often and how much is fetched: each token with an unknown key
// makes package oidc fetch the keys.
type fetcher struct {
	base  http.RoundTripper
	limit *rate.Limiter

	mu   sync.Mutex
	last error // of the last answer
}

// throttledKeys are the keys of an issuer. They report whether a fetch was
// refused because it came too soon, which package oidc does not pass on.
type throttledKeys struct {
	oidc.KeySet
	tooOften bool
}

// VerifySignature implements [oidc.KeySet].
func (k *throttledKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	k.tooOften = errors.Is(err, errTooOften)
	return payload, err
}

var errTooOften = errors.New("the keys were fetched a moment ago")

// RoundTrip implements [http.RoundTripper].
func (f *fetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	if !f.limit.Allow() {
		if err := f.problem(); err != nil {
			return nil, err
		}
		return nil, errTooOften
	}
	resp, err := f.base.RoundTrip(r)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
		_ = resp.Body.Close()
		switch {
		case err != nil:
		case len(body) > maxBytes:
			err = fmt.Errorf("%s answered with more than %d bytes", r.URL, maxBytes)
		case resp.StatusCode != http.StatusOK:
			err = fmt.Errorf("%s answered with status %d", r.URL, resp.StatusCode)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = err
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// problem returns why the last answer was not usable, nil if it was.
func (f *fetcher) problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// A jwtReader verifies tokens by the keys of their issuer.
type jwtReader struct{ issuer *issuer }

// algorithms are those with a private key: a key that verifies cannot sign.
func algorithms() []string {
	return []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}
}

// read verifies the signature. [Resource] checks the claims.
func (j *jwtReader) read(ctx context.Context, token string) (*claims, *Refusal) {
	if !isAccessToken(token) {
		return nil, invalidToken("the token is not an access token of " + j.issuer.address + ": log in there")
	}
	m, err := j.issuer.metadata(ctx)
	if err != nil || m.KeysURI == "" {
		return nil, j.issuer.unavailable()
	}
	keys := &throttledKeys{KeySet: m.keys}
	verifier := oidc.NewVerifier(j.issuer.address, keys, &oidc.Config{
		SupportedSigningAlgs: algorithms(), SkipClientIDCheck: true, SkipExpiryCheck: true, SkipIssuerCheck: true,
	})
	verified, err := verifier.Verify(ctx, token)
	switch {
	case err != nil && j.issuer.fetcher.problem() != nil:
		return nil, j.issuer.unavailable()
	case keys.tooOften:
		return nil, j.issuer.busy()
	case err != nil:
		return nil, invalidToken("the token is not one that " + j.issuer.address + " has signed: log in there")
	}
	c, raw := &claims{}, jsontext.Value(nil) // package oidc would take names in any case
	if err := errors.Join(verified.Claims(&raw), json.Unmarshal(raw, c)); err != nil {
		return nil, invalidToken("the token has claims of another form than an access token")
	}
	return c, nil
}

// isAccessToken reports whether the header of a JWT allows that it is an access
// token. Tokens of other kinds, such as those for a logout, have a type of their own.
func isAccessToken(token string) bool {
	head, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		Type string `json:"typ"`
	}
	if err != nil || json.Unmarshal(raw, &header) != nil {
		return false
	}
	switch strings.TrimPrefix(strings.ToLower(header.Type), "application/") {
	case "", "jwt", "at+jwt":
		return true
	}
	return false
}
