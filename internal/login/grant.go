package login

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// grant gets an access token from a token endpoint.
func (n *network) grant(ctx context.Context, r *record, params url.Values) (*oauth2.Token, error) {
	t, err := n.requestToken(ctx, r, params)
	if err == nil && !strings.EqualFold(t.Type(), "Bearer") {
		return nil, errors.New("the authorization server issues tokens of the type " + shown(t.Type()) + ", which Toolpost does not support")
	}
	return t, err
}

// requestToken sends one request to a token endpoint. Package clientcredentials sends
// every grant that has no parameters of its own to add.
func (n *network) requestToken(ctx context.Context, r *record, params url.Values) (*oauth2.Token, error) {
	request := clientcredentials.Config{
		ClientID: r.Client.ID, ClientSecret: r.Client.Secret, AuthStyle: r.Client.Style,
		TokenURL: r.Token, EndpointParams: maps.Clone(params),
	}
	if r.Resource != "" {
		request.EndpointParams.Set("resource", r.Resource)
	}
	t, err := request.Token(context.WithValue(ctx, oauth2.HTTPClient, n.client(r.Reach)))
	if err != nil {
		secrets := []string{r.Client.Secret, r.Access, r.Refresh}
		return nil, cleanError(err, r.Token, append(secrets, slices.Concat(slices.Collect(maps.Values(params))...)...)...)
	}
	return t, nil
}

func (n *network) refresh(ctx context.Context, r *record) (*oauth2.Token, error) {
	return n.grant(ctx, r, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}})
}

func (n *network) clientCredentials(ctx context.Context, r *record, scopes []string) (*oauth2.Token, error) {
	params := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	return n.grant(ctx, r, params)
}

// revoke ends a token at the authorization server (RFC 7009).
func (n *network) revoke(ctx context.Context, r *record, token, kind string) error {
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	if r.Client.Style != oauth2.AuthStyleInHeader {
		form.Set("client_id", r.Client.ID)
		if r.Client.Secret != "" {
			form.Set("client_secret", r.Client.Secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("its address for that is malformed")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if r.Client.Style == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(r.Client.ID), url.QueryEscape(r.Client.Secret))
	}
	resp, err := n.client(r.Reach).Do(req)
	if err != nil {
		return cleanError(err, r.Revocation, token, r.Client.Secret)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	var answer struct{ Error string }
	_ = json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&answer) // an answer that is not JSON has no error
	if kind == "access_token" && answer.Error == "unsupported_token_type" {
		return nil // it ends by itself, and is not renewed (RFC 7009, 2.2.1)
	}
	return errors.New("it answers " + resp.Status)
}
