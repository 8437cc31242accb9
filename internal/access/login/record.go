package login

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
)

// A record is one login as the vault keeps it: the client, the tokens, and the
// only places that they may be sent to.
type record struct {
	Server     string `json:"server"`   // the address of the MCP server
	Resource   string `json:"resource"` // as it calls itself
	Issuer     string `json:"issuer"`   // of the tokens
	Token      string `json:"token_endpoint"`
	Revocation string `json:"revocation_endpoint,omitempty"`
	Reach      reach  `json:"network,omitempty"`
	Client     client `json:"client"`
	grantedTokens

	Login   string    `json:"login,omitempty"`   // identifies it, through all renewals; empty without a person
	Account string    `json:"account,omitempty"` // who logged in, if the authorization server says so
	Wanted  []string  `json:"wanted,omitempty"`  // scopes that a request needed and the login does not have
	Lost    string    `json:"lost,omitempty"`    // why a login is needed again
	Forced  time.Time `json:"forced,omitzero"`   // when the server refused a token that had not expired

	target string // the resource to ask for, which the configuration decides each time; "" for none
}

// grantedTokens is what the authorization server granted last.
type grantedTokens struct {
	Access  string    `json:"access_token,omitempty"`
	Refresh string    `json:"refresh_token,omitempty"`
	Expiry  time.Time `json:"expiry,omitzero"`
	Scopes  []string  `json:"scopes,omitempty"`
}

// early is how long before its end a token is renewed.
const early = 10 * time.Second

// good reports whether the access token can be sent.
func (r *record) good(now time.Time) bool {
	return r.Access != "" && (r.Expiry.IsZero() || now.Before(r.Expiry.Add(-early)))
}

func (r *record) encode() []byte {
	data, _ := json.Marshal(r) // it has only strings, numbers and times
	return data
}

// decode returns the record for a server, nil if there is none.
func decode(data []byte, server string) (*record, error) {
	if data == nil {
		return nil, nil
	}
	r := &record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, errors.New("the stored login is malformed; log in again")
	}
	if server != "" && r.Server != server {
		return nil, nil
	}
	return r, nil
}

// adopt takes the tokens of a response. Members that the response leaves out stay.
func (r *record) adopt(t *oauth2.Token, requested []string) {
	if t.RefreshToken != "" {
		r.Refresh = t.RefreshToken
	}
	r.Access, r.Expiry, r.Lost, r.Forced = t.AccessToken, t.Expiry, "", time.Time{}
	if scope, ok := t.Extra("scope").(string); ok {
		r.Scopes = cleanScopes(strings.Fields(scope))
	} else if requested != nil {
		r.Scopes = requested
	}
	if account := accountOf(t); account != "" {
		r.Account = account
	}
}

// accountOf returns who logged in. The token came from the token endpoint itself,
// and the name is only shown, so that its signature does not matter.
func accountOf(t *oauth2.Token) string {
	id, _ := t.Extra("id_token").(string)
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return ""
	}
	var claims struct {
		Email    string `json:"email"`
		Username string `json:"preferred_username"`
		Name     string `json:"name"`
		Subject  string `json:"sub"`
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(data, &claims) != nil {
		return ""
	}
	for _, name := range []string{claims.Email, claims.Username, claims.Name, claims.Subject} {
		if name != "" {
			return clipLine(name)
		}
	}
	return ""
}

// Address returns the address by which a login names its server.
func Address(server string) string { return address(server) }

// address returns the URL of a server without what does not identify it.
func address(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.User, u.Fragment = nil, ""
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u.String()
}

const namePrefix = "login-"

// nameOf returns the name of the record in the vault. Another client is another
// login. A login without a person is another one for each authorization server, list of
// scopes and exchange too: a change of these needs no login of the user.
func nameOf(cfg *config.Server) string {
	id := address(cfg.URL) + "\n"
	if a := cfg.Auth; a != nil && (a.Type != "" || a.ClientID != "") {
		id += a.Type + "\n" + a.ClientID
		if a.Type == oauth.ClientCredentials || a.Type == oauth.TokenExchange {
			id += "\n" + a.Issuer + "\n" + strings.Join(a.Scopes, " ")
		}
		if x := &a.Exchange; a.Type == oauth.TokenExchange {
			id += "\n" + strings.Join([]string{x.Issuer, x.ClientID, x.SubjectToken, x.SubjectType, x.Audience, x.Resource}, "\n")
		}
	}
	sum := sha256.Sum256([]byte(id))
	return namePrefix + hex.EncodeToString(sum[:16])
}
