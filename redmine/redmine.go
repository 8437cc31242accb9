// Package redmine is a toolset over the REST API of Redmine, 5.0 to 7.0: one
// file per kind of record, each with its record and its tools.
//
//	tool ─ names to ids ─▶ client ─ HTTP ─▶ Redmine
//	  ▲ text and structured content    │
//	  └── read back and compared ◀─────┘
//
// Names are accepted wherever Redmine wants an id. What Redmine ignores in
// silence is reported: unknown filters before the request, and after each write
// the fields that are not as they were asked to be.
package redmine

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/keylock"
	"github.com/toolpost/toolpost/internal/secret"
)

// Options say which Redmine, as whom, and what may be done. URL is needed, and one kind of
// credentials or Anonymous. A Source of package config, which is what an entry of the
// configuration file says, converts to Options.
type Options struct {
	URL      string // with the path, if Redmine is under one
	Key      string // API key
	User     string // login, with Password
	Password string
	Token    string // OAuth 2 access token; Redmine 6.1 or later
	As       string // login to act as; the credentials must be an administrator's

	// Resolve is called with Key, User, Password, Token and As for the first request, and
	// after Redmine has refused what it returned before. It returns the value with what it
	// refers to, such as a password in a keyring. Nil takes the values as they are.
	Resolve func(ctx context.Context, value string) (string, error)

	Anonymous bool // only what everybody may see is wanted, without credentials

	Groups   []string // of tools, some of [Groups]; all if empty
	ReadOnly bool     // only tools that change nothing

	Transport http.RoundTripper // http.DefaultTransport if nil
	Timeout   time.Duration     // of one request; 30 s if 0
}

func (o *Options) credentials() secret.Credentials {
	return secret.Credentials{URL: o.URL, Key: o.Key, User: o.User, Password: o.Password, Token: o.Token, As: o.As, Anonymous: o.Anonymous}.Trim()
}

// A Toolset is one Redmine as a [toolpost.Toolset]. It is safe for concurrent use.
type Toolset struct {
	toolpost.Base
	client   *client
	tools    []*toolpost.Tool
	features *toolpost.Features

	editing keylock.Locks    // of descriptions and pages
	lists   memory[[]idName] // by their paths
	roles   memory[*role]
	formats memory[field]

	mu sync.Mutex
	me *user // as the last check found it
}

// groups are the tools by group, in the order in which they are listed.
var groups = []struct {
	name  string
	tools func(*Toolset) []entry
}{
	{"issues", issueTools},
	{"projects", projectTools},
	{"versions", versionTools},
	{"time", timeTools},
	{"users", userTools},
	{"wiki", wikiTools},
	{"news", newsTools},
	{"files", fileTools},
	{"search", searchTools},
	{"reference", referenceTools},
	{"repository", repositoryTools},
}

// Groups are the names of the groups of tools.
func Groups() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// New returns the tools for a Redmine. It does not connect: the first call does.
func New(o *Options) (*Toolset, error) {
	if o == nil {
		o = &Options{}
	}
	c, err := newClient(o)
	if err != nil {
		return nil, fmt.Errorf("open Redmine: %w", err)
	}
	for _, g := range o.Groups {
		if !slices.Contains(Groups(), g) {
			return nil, fmt.Errorf("open Redmine: there is no group of tools %q; choose from %s", g, strings.Join(Groups(), ", "))
		}
	}
	s := &Toolset{client: c}
	c.credentials.changed = s.forgetAccount
	for _, g := range groups {
		if len(o.Groups) > 0 && !slices.Contains(o.Groups, g.name) {
			continue
		}
		for _, e := range g.tools(s) {
			if !o.ReadOnly || e.effect == reads {
				s.tools = append(s.tools, e.Tool)
			}
		}
	}
	if s.features, err = newFeatures(s); err != nil {
		return nil, fmt.Errorf("open Redmine: %w", err)
	}
	return s, nil
}

// Tools lists the tools.
func (s *Toolset) Tools(context.Context) ([]*toolpost.Tool, error) { return s.tools, nil }
