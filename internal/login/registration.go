package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/upstream"
)

// A registration is one of Toolpost at an authorization server, for one MCP server: a
// server that names the authorization server of another one gets a client of its own,
// for which the user has agreed to nothing yet. Later logins use it again while its
// address to return to is free.
type registration struct {
	Issuer   string    `json:"issuer"`
	Server   string    `json:"server"`
	Client   client    `json:"client"`
	Redirect string    `json:"redirect"`
	Expires  time.Time `json:"expires,omitzero"` // of the secret, if it has one that does
}

// registrationName returns the name of a registration in the vault.
func registrationName(issuer, server string) string {
	sum := sha256.Sum256([]byte(issuer + "\n" + server))
	return "registration-" + hex.EncodeToString(sum[:16])
}

// registration returns the one at an authorization server. It has no client if there is
// none that is valid.
func (l *Logins) registration(issuer, server string) *registration {
	data, err := l.vault.Get(registrationName(issuer, server))
	r := &registration{}
	if err != nil || json.Unmarshal(data, r) != nil || r.Issuer != issuer || r.Server != server || r.Client.ID == "" || !r.Expires.IsZero() && !l.now().Before(r.Expires.Add(-time.Hour)) {
		return &registration{Issuer: issuer, Server: server} // a broken one is replaced
	}
	return r
}

// keepRegistration keeps a registration for later logins. If it cannot be kept, they
// register again.
func (l *Logins) keepRegistration(ctx context.Context, r *registration) {
	data, err := json.Marshal(r)
	if err == nil {
		err = l.vault.Update(ctx, registrationName(r.Issuer, r.Server), func([]byte) ([]byte, error) { return data, nil })
	}
	if err != nil {
		l.log.Debug("cannot keep the registration", "issuer", r.Issuer, "err", err)
	}
}

// forget removes a registration that the authorization server may not know any more:
// the next login registers again. One that has another client by now stays.
func (l *Logins) forget(ctx context.Context, issuer, server, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRenewal)
	defer cancel()
	err := l.vault.Update(ctx, registrationName(issuer, server), func(data []byte) ([]byte, error) {
		if r := (&registration{}); json.Unmarshal(data, r) == nil && r.Client.ID != id {
			return data, nil
		}
		return nil, nil
	})
	if err != nil {
		l.log.Debug("cannot forget the registration", "issuer", issuer, "err", err)
	}
}

// Where a client comes from.
const (
	fromConfiguration = "configuration"
	fromDocument      = "document"
	fromRegistration  = "registration"
)

// register returns the client to log in as, in the order of the specification
// (MCP 2026-07-28, Client Registration Approaches).
func (l *Logins) register(ctx context.Context, d *discovery, a *upstream.Auth, redirect string, own *registration) (*client, error) {
	if a == nil {
		a = &upstream.Auth{}
	}
	switch m := d.meta; {
	case a.ClientID != "":
		return &client{ID: a.ClientID, Secret: a.ClientSecret, Style: styleOf(m.TokenEndpointAuthMethodsSupported, a.ClientSecret), From: fromConfiguration}, nil
	case a.ClientMetadataURL != "" && m.ClientIDMetadataDocumentSupported:
		return &client{ID: a.ClientMetadataURL, Style: oauth2.AuthStyleInParams, From: fromDocument}, nil
	case own.Redirect == redirect:
		return &own.Client, nil
	case m.RegistrationEndpoint == "":
		return nil, fmt.Errorf(`the authorization server %s registers no clients; register one there with the redirect address %s, and write its id as "auth": {"clientId": "…"} to the server's entry`, shown(m.Issuer), redirect)
	}
	answer, err := l.sendRegistration(ctx, d, redirect)
	if err != nil {
		return nil, fmt.Errorf("register at the authorization server %s: %w", shown(d.meta.Issuer), registrationError(err))
	}
	style := oauth2.AuthStyleInParams
	if answer.ClientSecret != "" && slices.Contains([]string{"", "client_secret_basic"}, answer.TokenEndpointAuthMethod) {
		style = oauth2.AuthStyleInHeader
	}
	c := client{ID: answer.ClientID, Secret: answer.ClientSecret, Style: style, From: fromRegistration}
	l.keepRegistration(ctx, &registration{own.Issuer, own.Server, c, redirect, expiryOf(answer)})
	return &c, nil
}

// expiryOf returns when the secret of a registration expires, zero if it does not.
func expiryOf(answer *oauthex.ClientRegistrationResponse) time.Time {
	if at := answer.ClientSecretExpiresAt; at.Year() <= 9999 { // later ones have no JSON
		return at
	}
	return time.Time{}
}

// sendRegistration sends a registration. The SDK panics at an answer that is null.
func (l *Logins) sendRegistration(ctx context.Context, d *discovery, redirect string) (answer *oauthex.ClientRegistrationResponse, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, errors.New("its answer is not a registration")
		}
	}()
	return oauthex.RegisterClient(ctx, d.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: methodOf(d.meta.TokenEndpointAuthMethodsSupported),
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		ClientName: "Toolpost", ClientURI: "https://github.com/toolpost/toolpost", ApplicationType: "native",
	}, l.network.client(d.reach))
}

// registrationError leaves out the body of the answer, which may have secrets.
func registrationError(err error) error {
	if answer, ok := errors.AsType[*oauthex.ClientRegistrationError](err); ok {
		return &grantError{shown(answer.ErrorCode), shown(answer.ErrorDescription)}
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	text, _, _ := strings.Cut(err.Error(), ":")
	return errors.New(shown(text))
}

// methodOf returns how a new client shall authenticate: without a secret, where
// that is supported.
func methodOf(supported []string) string {
	for _, m := range []string{"none", "client_secret_basic", "client_secret_post"} {
		if slices.Contains(supported, m) {
			return m
		}
	}
	return "none"
}

// styleOf returns how a known client authenticates. The default of servers that do
// not say is Basic (RFC 8414, §2).
func styleOf(supported []string, secret string) oauth2.AuthStyle {
	if secret == "" || len(supported) > 0 && !slices.Contains(supported, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}
