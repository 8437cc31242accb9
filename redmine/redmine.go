// Package redmine is a toolset over the REST API of Redmine, 5.0 to 7.0: one
// file per resource, each with its records and its tools.
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
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
)

// Options say which Redmine, as whom, and what may be done. URL is needed, and one
// kind of credentials or Anonymous.
type Options struct {
	URL      string // with the path, if Redmine is under one
	Key      string // API key
	User     string // login, with Password
	Password string
	Token    string // OAuth 2 access token, Redmine 6.1 or later
	As       string // login to act as; the key must be an administrator's

	Anonymous bool // only what everybody may see is wanted, without credentials

	Groups   []string // of tools, of those in [Groups]; all if empty
	ReadOnly bool     // only tools that change nothing

	Transport http.RoundTripper `json:"-"` // http.DefaultTransport if nil
	Timeout   time.Duration     // of one request; 30 s if 0
}

// A Toolset is one Redmine as a [toolpost.Toolset]. It is safe for concurrent use.
type Toolset struct {
	client   *client
	lists    lists
	tools    []*toolpost.Tool
	features *toolpost.Features

	editing locks // of descriptions and pages
	roles   memory[*role]
	formats memory[field]
	members memory[[]named] // of the own projects

	mu sync.Mutex
	me *account // as the last check found it
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
	s := &Toolset{client: c, lists: lists{known: map[string]*list{}}}
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

// An account is who the credentials belong to.
type account struct {
	ID        int    `json:"id"`
	Login     string `json:"login,omitempty" text:"login" set:"login"`
	FirstName string `json:"firstname,omitempty" set:"firstname"`
	LastName  string `json:"lastname,omitempty" set:"lastname"`
	Admin     bool   `json:"admin,omitempty" text:"administrator" set:"admin"`
}

func (a *account) name() string { return strings.TrimSpace(a.FirstName + " " + a.LastName) }

// is reports whether text means this account, in a call by it.
func (a *account) is(text string) bool {
	l := strings.ToLower(text)
	return l == "me" || l == "current" || l != "" && l == strings.ToLower(a.Login)
}

// Check finds out whether the credentials are good, and whose they are: a public
// Redmine answers as to nobody if they are not, or are no longer.
func (s *Toolset) Check(ctx context.Context) error {
	if s.client.anonymous {
		return nil
	}
	_, err := authenticate(ctx, s)
	return err
}

// account is whom Redmine answers.
func (s *Toolset) account(ctx context.Context) (*account, error) {
	if s.client.anonymous {
		return &account{}, nil
	}
	s.mu.Lock()
	me := s.me
	s.mu.Unlock()
	if me != nil {
		return me, nil
	}
	return authenticate(ctx, s)
}

// authenticate asks whom Redmine answers. If it is nobody, what nobody may see was perhaps
// kept too.
func authenticate(ctx context.Context, s *Toolset) (*account, error) {
	me, err := readAccount(ctx, s.client)
	s.mu.Lock()
	s.me = me
	s.mu.Unlock()
	if err != nil {
		s.forgetAll()
	}
	return me, err
}

func readAccount(ctx context.Context, c *client) (*account, error) {
	var answer struct {
		User account `json:"user"`
	}
	err := c.get(anew(ctx), "/users/current.json", nil, &answer)
	switch me := &answer.User; {
	case status(err) == http.StatusNotFound, err == nil && me.ID == 0:
		return nil, toolpost.Failed("There is no Redmine at %s, or its REST API cannot be reached there. Ask the user to correct the address: it is the address of Redmine's home page, including its path.", c.base)
	case status(err) == http.StatusUnauthorized && c.token:
		if ok, err := v61().at(ctx, c); err == nil && !ok {
			return nil, toolpost.Failed("A token needs Redmine 6.1 or later, and this Redmine is older. Ask the user to set an API key instead, for example REDMINE_API_KEY.")
		}
		return nil, explain(err, "your own account")
	case status(err) == http.StatusForbidden:
		return nil, toolpost.Failed("Redmine does not show the account of these credentials: its REST API is switched off, or the password has to be changed first. Ask the user; an administrator can switch on the API under Administration, Settings, API.")
	case err != nil:
		return nil, explain(err, "your own account")
	case c.as != "" && !strings.EqualFold(c.as, me.Login):
		return nil, toolpost.Failed("Redmine treats these calls as those of %s, not of %s: only the credentials of an administrator can act as another user. Ask the user to correct them.", me.Login, c.as)
	default:
		return me, nil
	}
}

// verified reads, and then makes sure that Redmine still takes the credentials: if
// it does not, it has answered as to nobody, and what was read may be a part only.
func verified[T any](ctx context.Context, s *Toolset, read func() (T, error)) (T, error) {
	out, err := read()
	if errors.As(err, new(*unreachableError)) {
		return out, err
	}
	if bad := s.Check(ctx); bad != nil {
		return *new(T), bad
	}
	return out, err
}
