package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// A Guard decides which parts of a changed configuration file may be used
// before a person has approved the change. Whoever can write the file, such as
// a model with a tool that writes files, must not be able to run a program
// through it or to send a secret somewhere.
//
// The definition of a server is its name, under which its tools are pinned, and
// what it runs, contacts and sends. A new or changed definition waits for
// approval. The server's settings, such as filters, prefixes, limits and
// timeouts, and the rest of the file apply immediately, and so does a removal.
type Guard struct {
	approved []Server // definitions that may run
}

// NewGuard returns a guard that allows the servers of cfg to run.
func NewGuard(cfg *Config) *Guard {
	g := &Guard{}
	g.Approve(cfg)
	return g
}

// Approve allows the servers of cfg to run, and no others from now on.
func (g *Guard) Approve(cfg *Config) {
	g.approved = nil
	for i := range cfg.Servers {
		if s := &cfg.Servers[i]; !s.Disabled {
			g.approved = append(g.approved, s.definition())
		}
	}
}

// Admit returns next without its definitions that are not approved. Such a
// server keeps its definition from running; if running does not have the
// server, it is listed as failed. Waiting contains the names of these servers.
// Remedy explains how to approve the file; it is appended to the messages about
// these servers.
func (g *Guard) Admit(running, next *Config, remedy string) (admitted *Config, waiting []string) {
	c := *next
	c.Servers, c.Findings = slices.Clone(next.Servers), slices.Clone(next.Findings)
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Disabled || s.Err != nil || g.allows(s) { // with an error, nothing is started
			continue
		}
		waiting = append(waiting, s.Name)
		if old := running.server(s.Name); old != nil && old.Err == nil {
			settings := *s
			*s = *old
			copySettings(s, &settings)
			message := fmt.Sprintf("server %q: the change to what it runs, contacts or sends takes effect once you approve it; %s", s.Name, remedy)
			c.Findings = append(c.Findings, toolpost.Finding{Message: message})
			continue
		}
		s.Err = fmt.Errorf("it is new and is not started until you approve it; %s", remedy)
	}
	return &c, waiting
}

func (g *Guard) allows(s *Server) bool {
	want := s.definition()
	return slices.ContainsFunc(g.approved, func(d Server) bool { return reflect.DeepEqual(d, want) })
}

// definition returns s without its settings and without fields that follow from
// the others. Two servers with equal definitions run, contact and send the
// same.
func (s *Server) definition() Server {
	d := *s
	copySettings(&d, &Server{})
	d.Err, d.environment = nil, nil // the variables of the environment file are in Env
	d.Wrap = nil                    // it does not come from the file
	if len(d.Args) == 0 {
		d.Args = nil
	}
	if len(d.Env) == 0 {
		d.Env = nil
	}
	if len(d.Headers) == 0 {
		d.Headers = nil
	}
	return d
}

// copySettings copies what may change without an approval. A field that is not
// listed here belongs to the definition.
func copySettings(to, from *Server) {
	to.Prefix, to.Filter, to.Outputs = from.Prefix, from.Filter, from.Outputs
	to.ProtocolVersion, to.MaxMessage = from.ProtocolVersion, from.MaxMessage
	to.CallTimeout, to.ConnectTimeout, to.ProbeTimeout = from.CallTimeout, from.ConnectTimeout, from.ProbeTimeout
	if to.Redmine == nil {
		return
	}
	settings := &redmine.Options{}
	if from.Redmine != nil {
		settings = from.Redmine
	}
	r := *to.Redmine
	r.Groups, r.ReadOnly, r.Timeout = settings.Groups, settings.ReadOnly, settings.Timeout
	to.Redmine = &r
}
