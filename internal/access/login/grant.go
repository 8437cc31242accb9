package login

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/internal/wire"
)

// grant gets an access token from a token endpoint.
func (n *network) grant(ctx context.Context, r *record, params url.Values) (*oauth2.Token, error) {
	t, err := n.requestToken(ctx, r, params)
	if err == nil && !strings.EqualFold(t.Type(), "Bearer") {
		return nil, errors.New("the authorization server issues tokens of the type " + clipLine(t.Type()) + ", which Toolpost does not support")
	}
	return t, err
}

// requestToken asks a token endpoint. If it answers that it does not know the client, the
// client authenticates in its other ways; r keeps the one that was accepted.
func (n *network) requestToken(ctx context.Context, r *record, params url.Values) (*oauth2.Token, error) {
	form := maps.Clone(params)
	if r.target != "" {
		form.Set("resource", r.target)
	}
	var first error
	for _, c := range r.Client.ways() {
		t, err := n.tryToken(ctx, r, &c, form)
		if err == nil {
			r.Client = c
			return t, nil
		}
		if first == nil {
			first = err
		}
		if answer, ok := errors.AsType[*grantError](err); !ok || answer.code != "invalid_client" {
			break
		}
	}
	secrets := []string{r.Client.Secret, r.Access, r.Refresh}
	return nil, cleanError(first, r.Token, append(secrets, slices.Concat(slices.Collect(maps.Values(params))...)...)...)
}

// tryToken sends one request to a token endpoint.
func (n *network) tryToken(ctx context.Context, r *record, c *client, form url.Values) (*oauth2.Token, error) {
	resp, body, err := n.post(ctx, r.Reach, r.Token, c, form)
	if err != nil {
		return nil, err
	}
	d, err := readDocument(body)
	if kind := mediaType(resp.Header); err != nil && (kind == "application/x-www-form-urlencoded" || kind == "text/plain") {
		d = readForm(string(body)) // such as GitHub's
	}
	failed := resp.StatusCode < 200 || resp.StatusCode > 299
	switch code := d.text("error"); {
	case code != "" && (failed || d.text("access_token") == ""):
		return nil, &grantError{code, d.text("error_description")}
	case failed:
		return nil, &grantError{"with status " + resp.Status, ""}
	case d.text("access_token") == "":
		return nil, errors.New("it answers without an access token")
	}
	t := &oauth2.Token{AccessToken: d.text("access_token"), TokenType: d.text("token_type"), RefreshToken: d.text("refresh_token")}
	if s := d.seconds("expires_in"); s > 0 {
		t.Expiry = time.Now().Add(time.Duration(min(s, longestLife) * float64(time.Second)))
	}
	extra := map[string]any{"id_token": d.text("id_token"), "issued_token_type": d.text("issued_token_type")}
	if d["scope"] != nil {
		extra["scope"] = strings.Join(d.texts("scope"), " ")
	}
	return t.WithExtra(extra), nil
}

// longestLife bounds expires_in, in seconds: a duration has no more than 292 years.
const longestLife = 1 << 31

// readForm returns the parameters of an answer that is a form.
func readForm(text string) document {
	d := document{}
	values, _ := url.ParseQuery(text) // parameters that are malformed are missing
	for name := range values {
		d[name] = wire.Quote(values.Get(name))
	}
	return d
}

// post sends a form with the authentication of a client, and returns the answer with its
// body.
func (n *network) post(ctx context.Context, in reach, address string, c *client, form url.Values) (*http.Response, []byte, error) {
	form = maps.Clone(form)
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	c.authenticate(header, form)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, errors.New("its address for that is malformed")
	}
	req.Header = header
	resp, err := n.client(in).Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	return resp, body, err
}

func (n *network) refresh(ctx context.Context, r *record) (*oauth2.Token, error) {
	return n.grant(ctx, r, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}})
}

// revoke ends a token at the authorization server (RFC 7009).
func (n *network) revoke(ctx context.Context, r *record, token, kind string) error {
	resp, body, err := n.post(ctx, r.Reach, r.Revocation, &r.Client, url.Values{"token": {token}, "token_type_hint": {kind}})
	if err != nil {
		return cleanError(err, r.Revocation, token, r.Client.Secret)
	}
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	answer, _ := readDocument(body) // an answer that is not JSON has no error
	if kind == "access_token" && answer.text("error") == "unsupported_token_type" {
		return nil // it ends by itself, and is not renewed (RFC 7009, 2.2.1)
	}
	return errors.New("it answers " + resp.Status)
}
