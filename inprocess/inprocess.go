// Package inprocess describes servers whose tools run in the program that serves them, and
// that speak another protocol than MCP. A program gives package gateway an [Opener] for each
// type that it has, such as Open of package redmine for "redmine", and links no other.
//
//	toolpost.json ── "type": "redmine" ──▶ Options ── Opener ──▶ Source ──▶ gateway
package inprocess

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// A Source has the tools of one server. All methods may be called concurrently.
type Source interface {
	toolpost.Toolset

	// Check returns why the server cannot be used, such as credentials that it refuses.
	// The tools are listed even then, and a call of one returns the reason.
	Check(ctx context.Context) error
}

// An Opener returns the tools of the server that options describe. It does not wait for the
// server.
type Opener func(*Options) (Source, error)

// Options are what an entry of a configuration says about a server: where it is, as whom it
// is used, and what may be done. URL is needed, and one kind of credentials or Anonymous.
type Options struct {
	URL      string // with the path, if the server is under one
	Key      string // API key
	User     string // login, with Password
	Password string
	Token    string // OAuth 2 access token
	As       string // login to act as; the credentials must be an administrator's

	// Credentials returns options whose Key, User, Password, Token and As are used in the
	// place of these. It is called for the first request, and after the server has refused
	// those of before. Nil uses these.
	Credentials func(context.Context) (*Options, error) `json:"-"`

	Anonymous bool // only what everybody may see is wanted, without credentials

	Groups   []string // of tools; all if empty
	ReadOnly bool     // only tools that change nothing

	Transport http.RoundTripper `json:"-"` // http.DefaultTransport if nil
	Timeout   time.Duration     // of one request; if 0, that of the type
}

// Trim returns the options without the spaces and line ends that come with what is copied
// or read from a file.
func (o *Options) Trim() *Options {
	t := *o
	for _, text := range []*string{&t.URL, &t.Key, &t.Token, &t.User, &t.As} {
		*text = strings.TrimSpace(*text)
	}
	t.Password = strings.TrimRight(t.Password, "\r\n")
	return &t
}

// ErrNoCredentials reports options without credentials that do not ask to be anonymous.
var ErrNoCredentials = errors.New("there are no credentials; give an API key, a login with its password, or a token")

// CheckCredentials returns why it is not clear which credentials count. Those of the URL
// count if there are no others. The options are those of [Options.Trim].
func (o *Options) CheckCredentials() error {
	u, err := url.Parse(o.URL)
	inURL := err == nil && u.User != nil
	kinds := 0
	for _, given := range []bool{o.Key != "", o.User != "", o.Token != "", o.Anonymous} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds > 1, o.Anonymous && inURL:
		return errors.New("several kinds of credentials are given; give only one of them: an API key, a login with its password, or a token")
	case (o.User == "") != (o.Password == ""):
		return errors.New("a login and its password belong together; give both, or an API key")
	case kinds == 0 && !inURL:
		return ErrNoCredentials
	case strings.ContainsFunc(o.Key+o.Token+o.As, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the API key, the token or the login to act as contains a space or another character that cannot be part of it; copy it again")
	}
	return nil
}
