package login

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/httpconn"
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

// register returns the client to log in as, in the order of the specification
// (MCP 2026-07-28, Client Registration Approaches).
func (l *Logins) register(ctx context.Context, d *discovery, a *config.Auth, redirect string, own *registration) (*client, error) {
	if a == nil {
		a = &config.Auth{}
	}
	switch m := d.meta; {
	case a.ClientID != "":
		return &client{ID: a.ClientID, Secret: a.ClientSecret, Style: styleOf(m.TokenEndpointAuthMethodsSupported, a.ClientSecret), From: fromConfiguration}, nil
	case a.ClientMetadataURL != "" && m.ClientIDMetadataDocumentSupported:
		return &client{ID: a.ClientMetadataURL, Style: oauth2.AuthStyleInParams, From: fromDocument}, nil
	case own.Redirect == redirect:
		return &own.Client, nil
	case m.RegistrationEndpoint == "":
		return nil, fmt.Errorf(`the authorization server %s registers no clients; register one there with the redirect address %s, and write its id as "auth": {"clientId": "…"} to the server's entry`, clipLine(m.Issuer), redirect)
	}
	method := methodOf(d.meta.TokenEndpointAuthMethodsSupported)
	answer, err := l.sendRegistration(ctx, d, redirect, method)
	if err != nil && d.guessed {
		return nil, fmt.Errorf("the server offers no login that can be found: it names no authorization server, and itself registers no clients (%w); if it wants a key or token, write it to the headers of its entry", err)
	}
	if err != nil {
		return nil, fmt.Errorf("register at the authorization server %s: %w", clipLine(d.meta.Issuer), err)
	}
	c := client{ID: answer.text("client_id"), Secret: answer.text("client_secret"), From: fromRegistration}
	c.Style = styleOfAnswer(answer.text("token_endpoint_auth_method"), method, c.Secret)
	l.keepRegistration(ctx, &registration{own.Issuer, own.Server, c, redirect, answer.moment("client_secret_expires_at")})
	return &c, nil
}

// sendRegistration sends a registration (RFC 7591), and returns the answer, which has a
// client_id. Of the rest of the answer, only the secret, its end and the method matter. No
// error has the body of the answer, which may have secrets.
func (l *Logins) sendRegistration(ctx context.Context, d *discovery, redirect, method string) (document, error) {
	body, err := json.Marshal(&clientMetadata{
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: method,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		ClientName: "Toolpost", ClientURI: "https://github.com/toolpost/toolpost", ApplicationType: "native",
	})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.meta.RegistrationEndpoint, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its address for that is malformed")
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	resp, err := l.network.client(d.reach).Do(req)
	if err != nil {
		return nil, httpconn.WithoutURL(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(io.LimitReader(resp.Body, longestAnswer)); err != nil {
		return nil, err
	}
	answer, _ := readDocument(body)
	switch code := answer.text("error"); {
	case answer.text("client_id") != "" && resp.StatusCode >= 200 && resp.StatusCode <= 299:
		return answer, nil
	case code != "":
		return nil, &grantError{clipLine(code), clipLine(answer.text("error_description"))}
	case resp.StatusCode >= 300:
		return nil, errors.New("it answers " + clipLine(resp.Status))
	}
	return nil, errors.New("its answer is not a registration")
}
