package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/upstream"
)

// maxLogins is how often the user logs in again in one scenario.
const maxLogins = 3

// A user logs in when the server wants that. The pages of the suite ask nothing.
type user struct {
	dir    string
	logins *login.Logins
	server *config.Server
	n      int // logins so far
}

// newUser sets up the logins of a server, with the client that the scenario has.
func newUser(ctx context.Context, cfg *upstream.Config) (*user, error) {
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Issuer string `json:"issuer"`

		IdP       string `json:"idp_issuer"`
		IdPClient string `json:"idp_client_id"`
		IDToken   string `json:"idp_id_token"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	auth := &config.Auth{ClientID: given.ID, ClientSecret: given.Secret, Issuer: given.Issuer, ClientMetadataURL: "https://conformance-test.local/client-metadata.json"}
	if given.Secret != "" && given.Issuer == "" { // a user knows where the client is registered
		auth.Issuer = named(ctx, cfg.URL)
	}
	switch os.Getenv("MCP_CONFORMANCE_SCENARIO") {
	case "auth/client-credentials-basic":
		auth.Type = oauth.ClientCredentials
	case "auth/enterprise-managed-authorization":
		auth.Type = oauth.TokenExchange
		auth.Exchange = config.Exchange{Issuer: given.IdP, ClientID: given.IdPClient, SubjectToken: given.IDToken}
	}
	dir, err := os.MkdirTemp("", "toolpost-conformance-")
	if err != nil {
		return nil, err
	}
	u := &user{dir: dir, logins: login.New(vault.Folder(dir), nil), server: &config.Server{Config: *cfg, Auth: auth}}
	cfg.Wrap = u.logins.Wrap(u.server, "toolpost login conformance", nil)
	return u, nil
}

func (u *user) forget() { _ = os.RemoveAll(u.dir) }

// named returns the authorization server that an MCP server names, "" if it names none.
func named(ctx context.Context, server string) string {
	var metadata struct {
		Servers []string `json:"authorization_servers"`
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, oauth.MetadataAddress(server, oauth.ProtectedResource), nil)
	if err != nil {
		return ""
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&metadata) != nil || len(metadata.Servers) == 0 {
		return ""
	}
	return metadata.Servers[0]
}

// connect connects to the server, after a login if it wants one. A nil user never logs in.
func (u *user) connect(ctx context.Context, cfg *upstream.Config) (*upstream.Upstream, error) {
	for {
		server, err := upstream.Start(cfg, nil)
		if err != nil {
			return nil, err
		}
		if err = server.Ready(ctx); err == nil {
			return server, nil
		}
		_ = server.Close() // the error that matters is the one before
		wants := (*upstream.LoginError)(nil)
		if u == nil || !errors.As(err, &wants) {
			return nil, err
		}
		if err := u.login(ctx); err != nil {
			return nil, err
		}
	}
}

// login agrees to everything.
func (u *user) login(ctx context.Context) error {
	if u.n++; u.n > maxLogins {
		return fmt.Errorf("the server wants another login after %d", maxLogins)
	}
	_, err := u.logins.Login(ctx, u.server, nil, &login.Person{Visit: func(ctx context.Context, page *login.Page) error {
		go visit(ctx, page.Address)
		return nil
	}})
	return err
}

func visit(ctx context.Context, address string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		log.Print(err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Print(err)
		return
	}
	resp.Body.Close()
}

// remainingWithLogin calls every tool, and again after each login that a call needs.
func remainingWithLogin(s *scene) error {
	tools, err := s.set.Tools(s.ctx)
	if err != nil {
		return err
	}
	for _, t := range tools {
		for {
			_, err := t.Handler(s.ctx, &toolpost.Call{Name: t.Name, Arguments: json.RawMessage(`{}`), Caller: person{}}) // a set would make a text of the error
			unavailable := (*toolpost.UnavailableError)(nil)
			if !errors.As(err, &unavailable) || !unavailable.Login {
				note(err)
				break
			}
			if err := s.user.login(s.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
