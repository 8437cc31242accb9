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
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/inprocess"
	"github.com/toolpost/toolpost/internal/keylock"
)

// Options say which Redmine, as whom, and what may be done. Groups are some of [Groups], a
// Token needs Redmine 6.1 or later, and the default of Timeout is 30 s.
type Options = inprocess.Options

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

// Open is [New] as the option Sources of package gateway wants it, for servers of the type
// "redmine".
func Open(o *Options) (inprocess.Source, error) {
	s, err := New(o)
	if err != nil {
		return nil, err
	}
	return s, nil
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
