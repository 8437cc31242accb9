package login

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/internal/access/oauth"
)

// ownToken gets a token without a person. The authorization server is asked for its
// endpoints each time: the secret goes to where they are now.
func (s *source) ownToken(ctx context.Context, r *record, more []string) (*record, error) {
	a := s.cfg().Auth
	get, locate := s.clientCredentials, s.discover
	if a.Type == oauth.TokenExchange {
		get, locate = s.exchange, s.locateExchange
	}
	d, err := locate(ctx, s.cfg())
	if err != nil {
		return nil, err
	}
	scopes := d.scopes
	if len(a.Scopes) > 0 {
		scopes = a.Scopes
	}
	if r != nil {
		scopes = slices.Concat(scopes, r.Scopes) // those that requests needed
	}
	scopes = cleanScopes(slices.Concat(scopes, more))
	c := client{ID: a.ClientID, Secret: a.ClientSecret, Style: styleOf(d.meta.TokenEndpointAuthMethodsSupported, a.ClientSecret), From: fromConfiguration}
	if r != nil && r.Client.ID == c.ID && r.Issuer == d.meta.Issuer && r.Client.Secret != "" {
		c.Style, c.InBody = r.Client.Style, r.Client.InBody // the way that was accepted
	}
	next := d.record(s.server, c)
	t, err := get(ctx, next, scopes)
	if err != nil {
		return nil, err
	}
	next.adopt(t, scopes)
	s.learn(next)
	return next, nil
}

func (s *source) clientCredentials(ctx context.Context, next *record, scopes []string) (*oauth2.Token, error) {
	params := url.Values{"grant_type": {"client_credentials"}}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	addParameters(params, s.cfg().Auth.Parameters)
	return s.network.grant(ctx, next, params)
}
