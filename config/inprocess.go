package config

import (
	"context"
	"net/http"
	"time"

	"github.com/toolpost/toolpost/internal/secret"
)

// A Source is what an entry says about a server whose tools run in the program that serves:
// where it is, as whom it is used, and what may be done. It has the fields of Options of
// package redmine, so that it converts to these and this package links no Redmine.
type Source struct {
	URL      string // with the path, if the server is under one
	Key      string // API key
	User     string // login, with Password
	Password string
	Token    string // OAuth 2 access token
	As       string // login to act as; the credentials must be an administrator's

	// Resolve returns a value of Key, User, Password, Token or As with the secrets that it
	// refers to. [Server.Resolve] sets it.
	Resolve func(ctx context.Context, value string) (string, error) `json:"-"`

	Anonymous bool // only what everybody may see is wanted, without credentials

	Groups   []string // of tools; all if empty
	ReadOnly bool     // only tools that change nothing

	Transport http.RoundTripper `json:"-"` // http.DefaultTransport if nil
	Timeout   time.Duration     // of one request; if 0, that of the type
}

func (s *Source) credentials() secret.Credentials {
	return secret.Credentials{URL: s.URL, Key: s.Key, User: s.User, Password: s.Password, Token: s.Token, As: s.As, Anonymous: s.Anonymous}
}
