package login

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// Token types and grant types (RFC 8693, §2.1 and §3; RFC 7523, §2.1; identity
// assertions: draft-ietf-oauth-identity-assertion-authz-grant).
const (
	typeAccessToken    = "urn:ietf:params:oauth:token-type:access_token"
	typeIDToken        = "urn:ietf:params:oauth:token-type:id_token"
	typeJWT            = "urn:ietf:params:oauth:token-type:jwt"
	typeAssertion      = "urn:ietf:params:oauth:token-type:id-jag"
	grantJWTBearer     = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantTokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// locateExchange finds the authorization server of an MCP server. The configuration
// names it, and the MCP server has to name it too: otherwise it could have tokens issued
// for an authorization server of its choice.
func (s *source) locateExchange(ctx context.Context, cfg *config.Server) (*discovery, error) {
	d, issuer, _, err := s.locate(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d.meta, d.reach, err = s.network.tokenServer(ctx, issuer)
	return d, err
}

// tokenServer reads the metadata of an authorization server or identity provider that
// the configuration names. It may be in a private network.
func (n *network) tokenServer(ctx context.Context, issuer string) (*serverMetadata, reach, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, public, fmt.Errorf("the issuer %s is malformed", clipLine(issuer))
	}
	r := private
	if netaddr.IsLoopback(u.Hostname()) {
		r = loopback
	}
	m, err := readServerMetadata(ctx, n.client(r), issuer)
	switch {
	case err != nil:
		return nil, r, fmt.Errorf("read the metadata of %s: %w", clipLine(issuer), err)
	case m == nil:
		return nil, r, fmt.Errorf("%s has no metadata; correct the issuer", clipLine(issuer))
	}
	if endpoint, err := url.Parse(m.TokenEndpoint); err != nil || m.TokenEndpoint == "" || r.check(endpoint) != nil {
		return nil, r, fmt.Errorf("the metadata of %s names no token endpoint that may be used: %q", clipLine(issuer), clipLine(m.TokenEndpoint))
	}
	return m, r, nil
}

// exchange gets a token for the subject token: at once, if the identity provider is also
// the authorization server of the MCP server, or else with an identity assertion.
func (s *source) exchange(ctx context.Context, next *record, scopes []string) (*oauth2.Token, error) {
	x := &s.cfg().Auth.Exchange
	direct := sameIssuer(x.Issuer, next.Issuer)
	issued, err := s.exchangeSubject(ctx, next, scopes, direct)
	if err != nil {
		return nil, err
	}
	t := issued
	switch {
	case !direct:
		t, err = s.network.grant(ctx, next, url.Values{"grant_type": {grantJWTBearer}, "assertion": {issued.AccessToken}})
	case !strings.EqualFold(t.Type(), "Bearer"):
		return nil, fmt.Errorf("the identity provider %s issues tokens of the type %s, which Toolpost does not support", clipLine(x.Issuer), clipLine(t.Type()))
	}
	if err != nil {
		return nil, fmt.Errorf("the authorization server %s does not accept the identity assertion of %s: %w; it has to trust this identity provider, and the client %q",
			clipLine(next.Issuer), clipLine(x.Issuer), err, s.cfg().Auth.ClientID)
	}
	t.RefreshToken = "" // the identity provider decides each time
	return t, nil
}

// exchangeSubject exchanges the subject token at the identity provider.
func (s *source) exchangeSubject(ctx context.Context, next *record, scopes []string, direct bool) (*oauth2.Token, error) {
	x := &s.cfg().Auth.Exchange
	subject, err := subjectToken(ctx, x, s.now())
	if err != nil {
		return nil, err
	}
	meta, r, err := s.network.tokenServer(ctx, x.Issuer)
	if err != nil {
		return nil, fmt.Errorf("find the identity provider: %w", err)
	}
	at := &record{Token: meta.TokenEndpoint, Reach: r, target: next.target, Client: client{ID: x.ClientID, Secret: x.ClientSecret, Style: styleOf(meta.TokenEndpointAuthMethodsSupported, x.ClientSecret), From: fromConfiguration}}
	if x.Resource != "" {
		at.target = x.Resource
	}
	if direct && x.ClientID == "" {
		at.Client = next.Client
	}
	params := url.Values{
		"grant_type":    {grantTokenExchange},
		"subject_token": {subject}, "subject_token_type": {typeIDToken},
		"requested_token_type": {typeAssertion},
	}
	if x.SubjectType != "" {
		params.Set("subject_token_type", x.SubjectType)
	}
	audience := x.Audience
	if direct {
		params.Set("requested_token_type", typeAccessToken)
	} else if audience == "" {
		audience = next.Issuer
	}
	if audience != "" {
		params.Set("audience", audience)
	}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	t, err := s.network.requestToken(ctx, at, params)
	if err != nil {
		return nil, fmt.Errorf("the identity provider %s does not exchange the subject token: %w; get a new subject token, or have the client %q allowed to get tokens for %s",
			clipLine(x.Issuer), err, at.Client.ID, clipLine(at.target))
	}
	return t, checkIssued(t, x, next.Issuer, direct)
}

// subjectToken returns the token to exchange. One that has expired is not sent.
func subjectToken(ctx context.Context, x *config.Exchange, now time.Time) (string, error) {
	text := x.SubjectToken
	if x.Subject != nil {
		var err error
		if text, err = x.Subject(ctx); err != nil {
			return "", fmt.Errorf("read the subject token: %w", err)
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("the subject token is empty; let auth.exchange.subjectToken refer to one, such as ${cmd:…}")
	}
	if end, ends := claimsOf(text).end(); ends && !now.Before(end) {
		return "", fmt.Errorf("the subject token has expired at %s; get a new one from the identity provider %s", end.Format(time.DateTime), clipLine(x.Issuer))
	}
	return text, nil
}

// checkIssued checks that the identity provider issued what it was asked for. An
// assertion for another authorization server is not sent to this one.
func checkIssued(t *oauth2.Token, x *config.Exchange, issuer string, direct bool) error {
	kind, _ := t.Extra("issued_token_type").(string)
	wanted := []string{typeAssertion}
	if direct {
		wanted = []string{typeAccessToken, typeJWT}
	}
	if !slices.Contains(wanted, kind) {
		return fmt.Errorf("the identity provider %s issues a token of the type %q, not %q; it has to support this exchange", clipLine(x.Issuer), clipLine(kind), wanted[0])
	}
	if direct {
		return nil
	}
	c := claimsOf(t.AccessToken)
	if c == nil {
		return fmt.Errorf("the identity provider %s issues an identity assertion that is not a JWT", clipLine(x.Issuer))
	}
	isFor := func(a string) bool { return sameIssuer(a, issuer) || x.Audience != "" && a == x.Audience }
	if !slices.ContainsFunc(c.Audience, isFor) || len(c.Audience) != 1 {
		return fmt.Errorf("the identity provider %s issues an identity assertion for %s, not for %s alone, which is refused; correct auth.exchange.audience, or the identity provider", clipLine(x.Issuer), clipLine(strings.Join(c.Audience, ", ")), clipLine(issuer))
	}
	return nil
}

// claims are those of a JWT whose signature is not ours to check.
type claims struct {
	Audience audience `json:"aud"`
	Expires  *float64 `json:"exp"` // seconds of 1970, nil without it
}

// lastSecond is the end of the year 9999, after which nothing expires.
const lastSecond = 253402300799

// end returns when a token expires, if it does. A time before 1970 counts as 1970.
func (c *claims) end() (end time.Time, ends bool) {
	if c == nil || c.Expires == nil || !(*c.Expires <= lastSecond) { // not a number is never, too
		return time.Time{}, false
	}
	seconds, fraction := math.Modf(max(*c.Expires, 0))
	return time.Unix(int64(seconds), int64(fraction*float64(time.Second))), true
}

// An audience is one text or a list.
type audience []string

// UnmarshalJSON accepts both forms.
func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// claimsOf returns the claims of a JWT, nil if the token is not one.
func claimsOf(token string) *claims {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	c := &claims{}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, c) != nil {
		return nil
	}
	return c
}
